/* Contract: page_places.h. Forms of places: NAME:LINE[:COLUMN] of clang, HIPRTC, gcc and symbolisers; NVRTC's NAME(LINE), "at line LINE of
 * NAME", and "at line LINE", which refers to the file at the message's start. */
#define _GNU_SOURCE
#include "runtime/compile/page_places.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct marked_line {
    unsigned long line;
    unsigned spec_line, spec_column;
} marked_line;

struct page_places {
    char *name, *spec;
    marked_line *lines;
    size_t count, room;
    page_places *more; /* those of further sources (page_places_join) */
};

/* ---- reading a page */
/* "// Written by tfgen: llama_qkv of specs/llama-block.yaml for cdna, wave 64. ..." */
static char *spec_of(const char *page, size_t size)
{
    static const char head[] = "// Written by tfgen: ";
    const char *end = memchr(page, '\n', size), *from, *to = NULL;
    if (!end) end = page + size;
    if ((size_t)(end - page) < sizeof head || memcmp(page, head, sizeof head - 1) != 0) return NULL;
    from = memmem(page, (size_t)(end - page), " of ", 4);
    for (const char *at = from; at && (at = memmem(at + 1, (size_t)(end - at - 1), " for ", 5));) to = at;
    return to ? strndup(from + 4, (size_t)(to - from - 4)) : NULL;
}

/* Reads `#line 12 "llama_qkv.hip"`: *number is the next line's; *own: whether the name is `name`. False: not such a line. */
static bool read_directive(const char *line, size_t size, const char *name, unsigned long *number, bool *own)
{
    char text[512], *end;
    if (size < 7 || size >= sizeof text || memcmp(line, "#line ", 6) != 0) return false;
    memcpy(text, line, size);
    text[size] = 0;
    *number = strtoul(text + 6, &end, 10);
    const size_t length = strlen(name);
    if (*end == ' ') *own = end[1] == '"' && strncmp(end + 2, name, length) == 0 && end[2 + length] == '"';
    return true;
}

/* Reads the spec position of a line that ends in "// !26:5". */
static bool read_mark(const char *line, size_t size, marked_line *found)
{
    char text[40];
    int end = 0;
    while (size && strchr(" \t\r", line[size - 1])) size--; /* blanks that editors add */
    const size_t tail = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, line + size - tail, tail);
    text[tail] = 0;
    const char *mark = strstr(text, "// !");
    return mark && sscanf(mark, "// !%u:%u%n", &found->spec_line, &found->spec_column, &end) == 2 && !mark[end];
}

static bool add_line(page_places *p, marked_line line)
{
    if (p->count == p->room) {
        const size_t room = 2 * p->room + 64;
        marked_line *lines = realloc(p->lines, room * sizeof *lines);
        if (!lines) return false;
        p->lines = lines, p->room = room;
    }
    p->lines[p->count++] = line;
    return true;
}

static bool read_lines(page_places *p, const char *page, size_t size)
{
    unsigned long number = 1;
    bool own = true, good = true;
    for (const char *line = page, *end = page + size; good && line < end; number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const size_t length = (size_t)((stop ? stop : end) - line);
        marked_line found = {.line = number};
        if (*line == '#' && read_directive(line, length, p->name, &number, &own)) number--;
        else if (own && read_mark(line, length, &found)) good = add_line(p, found);
        line += length + 1;
    }
    return good;
}

page_places *page_places_read(const char *page, size_t size, const char *name)
{
    page_places *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->name = strdup(name);
    p->spec = spec_of(page, size);
    if (p->name && (!p->spec || read_lines(p, page, size))) return p;
    page_places_free(p);
    return NULL;
}

void page_places_free(page_places *p)
{
    for (page_places *more; p; p = more) {
        more = p->more;
        free(p->name);
        free(p->spec);
        free(p->lines);
        free(p);
    }
}

page_places *page_places_join(page_places *p, page_places *more)
{
    if (!p) return more;
    page_places *last = p;
    while (last->more) last = last->more;
    last->more = more;
    return p;
}

/* ---- places in a page */
static const marked_line *line_at(const page_places *p, unsigned long line)
{
    for (size_t i = 0; p && i < p->count; i++)
        if (p->lines[i].line == line) return &p->lines[i];
    return NULL;
}

char *page_places_of(const page_places *p, const char *place)
{
    char *out = NULL;
    size_t length = 0;
    if (strncmp(place, "./", 2) == 0) place += 2;
    for (; p; p = p->more)
        if (strncmp(place, p->name, length = strlen(p->name)) == 0 && place[length] == ':') break;
    if (!p) return NULL;
    const marked_line *found = line_at(p, strtoul(place + length + 1, NULL, 10));
    if (!found || asprintf(&out, "%s:%u:%u", p->spec, found->spec_line, found->spec_column) < 0) return NULL;
    return out;
}

/* ---- places in messages */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *past_number(const char *s, unsigned long *number)
{
    char *end;
    *number = strtoul(s, &end, 10);
    return end;
}

/* The end of a place at `s`, which begins with the source's name; NULL: a name without a line. */
static const char *past_place(const page_places *p, const char *s, unsigned long *line)
{
    unsigned long column;
    s += strlen(p->name);
    if ((*s != ':' && *s != '(') || !is_digit(s[1])) return NULL;
    const bool bracket = *s == '(';
    s = past_number(s + 1, line);
    if (bracket) return *s == ')' ? s + 1 : NULL;
    return *s == ':' && is_digit(s[1]) ? past_number(s + 1, &column) : s;
}

/* The end of "at line 12 of llama_qkv.hip" at `s`, or of "at line 12" in a message about this source; NULL: it is about another file. */
static const char *past_words(const page_places *p, const char *s, bool of_page, unsigned long *line)
{
    static const char words[] = "at line ";
    const size_t length = strlen(p->name);
    if (strncmp(s, words, sizeof words - 1) != 0 || !is_digit(s[sizeof words - 1])) return NULL;
    s = past_number(s + sizeof words - 1, line);
    if (strncmp(s, " of ", 4) != 0) return of_page ? s : NULL;
    s += 4 + (s[4] == '"');
    return strncmp(s, p->name, length) == 0 ? s + length + (s[length] == '"') : NULL;
}

static bool goes_on(char before) { return before && (isalnum((unsigned char)before) || strchr("_-.", before)); }

/* Writes a line of a message with spec positions added. *of_page: the current message is about this source. */
static void place_line(const page_places *p, FILE *to, const char *line, size_t size, bool *of_page)
{
    const char *end = line + size, *from = line, *behind;
    const size_t length = strlen(p->name);
    unsigned long number;
    if (size && *line != ' ') *of_page = strncmp(line, p->name, length) == 0;
    for (const char *at = line; at < end; at++) {
        const bool named = *at == *p->name && (at == line || !goes_on(at[-1])) && strncmp(at, p->name, length) == 0;
        behind = named ? past_place(p, at, &number) : *at == 'a' ? past_words(p, at, *of_page, &number) : NULL;
        const marked_line *found = behind ? line_at(p, number) : NULL;
        if (!found) continue;
        if (at == line) {
            fprintf(to, "%s:%u:%u: ", p->spec, found->spec_line, found->spec_column);
        } else {
            fwrite(from, 1, (size_t)(behind - from), to);
            fprintf(to, " [%s:%u:%u]", p->spec, found->spec_line, found->spec_column);
            from = behind;
        }
        at = behind - 1;
    }
    fwrite(from, 1, (size_t)(end - from), to);
}

static char *place_log(const page_places *p, const char *log)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    bool of_page = false;
    if (!to) return NULL;
    for (const char *line = log; *line;) {
        const size_t length = strcspn(line, "\n");
        place_line(p, to, line, length, &of_page);
        if (line[length]) fputc('\n', to);
        line += length + (line[length] != 0);
    }
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

char *page_places_log(const page_places *p, const char *log)
{
    char *placed = strdup(log);
    for (; p && placed; p = p->more) {
        char *next = p->count ? place_log(p, placed) : NULL;
        if (p->count) free(placed), placed = next;
    }
    return placed;
}

void page_log_place(const char *page, size_t size, const char *name, char **log)
{
    if (!*log || !**log) return;
    page_places *p = page_places_read(page, size, name);
    char *placed = page_places_log(p, *log);
    page_places_free(p);
    if (!placed) return;
    free(*log);
    *log = placed;
}
