/* In: a message and a place in a source text. Out: `file:line:col: error: message`, the source line and a caret. Everything printed here
 * may come from a hostile file, so it passes put_harmless(); lines break where libyaml breaks them (LF, CR, CR LF, NEL, LS, PS), and
 * columns count characters, as libyaml's marks do. */
#define _GNU_SOURCE
#include "ir/base/diagnostic.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    window = 100 /* columns of a source line that are shown */,
    lead = 60 /* columns shown before the caret when the line is cut */
};

static void put(diagnostic_buffer *b, const char *s, size_t n)
{
    if (b->size + n + 1 > b->capacity) {
        size_t capacity = 2 * (b->size + n + 1);
        char *data = realloc(b->data, capacity);
        if (!data) return;
        b->data = data;
        b->capacity = capacity;
    }
    memcpy(b->data + b->size, s, n);
    b->size += n;
    b->data[b->size] = 0;
}

static void put_spaces(diagnostic_buffer *b, int n)
{
    while (n-- > 0) put(b, " ", 1);
}

int utf8_decode(const char *s, size_t n, long *point)
{
    const unsigned char *u = (const unsigned char *)s;
    int length = u[0] < 0x80 ? 1 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    static const long least[] = {0, 0, 0x80, 0x800, 0x10000};
    *point = -1;
    if (u[0] >= 0x80 && (u[0] < 0xc2 || u[0] > 0xf4)) return 1;
    if ((size_t)length > n) return 1;
    long value = u[0] & mask[length];
    for (int i = 1; i < length; i++) {
        if ((u[i] & 0xc0) != 0x80) return 1;
        value = value << 6 | (u[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 1;
    *point = value;
    return length;
}

typedef struct range {
    long low, high;
} range;

static bool in_ranges(long point, const range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (point >= r[i].low && point <= r[i].high) return true;
    return false;
}

int utf8_width(long point)
{
    static const range banned[] = {/* controls, zero-width and direction marks, tags, private use */
                                   {-1, 0x1f},       {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                                   {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xe000, 0xf8ff},
                                   {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff0, 0xffff}, {0xe0000, 0x10ffff}};
    static const range none[] = {{0x300, 0x36f}, {0x483, 0x489},   {0x591, 0x5bd},
                                 {0x64b, 0x65f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}};
    static const range wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                 {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                 {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (in_ranges(point, banned, sizeof banned / sizeof *banned)) return -1;
    if (in_ranges(point, none, sizeof none / sizeof *none)) return 0;
    return in_ranges(point, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

/* Prints one character, a tab as a space and what must not reach a terminal as '?'. Returns the columns it takes. */
static int put_harmless(diagnostic_buffer *b, const char *s, int length, long point)
{
    int width = utf8_width(point);
    if (point == '\t')
        put(b, " ", 1);
    else if (width < 0)
        put(b, "?", 1);
    else
        put(b, s, (size_t)length);
    return width < 0 ? 1 : width;
}

static void put_text(diagnostic_buffer *b, const char *s)
{
    long point;
    for (size_t n = strlen(s); n > 0;) {
        int length = utf8_decode(s, n, &point);
        put_harmless(b, s, length, point);
        s += length;
        n -= (size_t)length;
    }
}

/* Bytes of the line break at s, 0 when there is none. */
static size_t line_break(const char *s, size_t n)
{
    if (s[0] == '\r') return n > 1 && s[1] == '\n' ? 2 : 1;
    if (s[0] == '\n') return 1;
    if (n >= 2 && memcmp(s, "\xc2\x85", 2) == 0) return 2;
    return n >= 3 && (memcmp(s, "\xe2\x80\xa8", 3) == 0 || memcmp(s, "\xe2\x80\xa9", 3) == 0) ? 3 : 0;
}

static const char *find_line(const diagnostic_source *source, int line, size_t *size)
{
    const char *s = source->text, *end = s + source->size, *start = s;
    for (int at = 1; s < end;) {
        size_t skip = line_break(s, (size_t)(end - s));
        if (skip && at == line) break;
        s += skip ? skip : 1;
        if (skip) start = s, at++;
        if (s == end && at < line) return NULL;
    }
    *size = (size_t)(s - start);
    return start;
}

/* Prints the line, cut to `window` characters around the caret, and returns the caret's column on the terminal. */
static int put_line(diagnostic_buffer *b, const char *s, size_t n, int column)
{
    int caret = -1, place = 0, first = column > window - 10 ? column - lead : 1;
    if (first > 1) place = 3, put(b, "...", 3);
    for (int c = 1; n > 0; c++) {
        long point;
        int length = utf8_decode(s, n, &point);
        if (c == column) caret = place;
        if (c >= first + window) {
            put(b, "...", 3);
            break;
        }
        if (c >= first) place += put_harmless(b, s, length, point);
        s += length;
        n -= (size_t)length;
    }
    return caret < 0 ? place : caret;
}

/* The first word of the line that ends in !line:column (perhaps followed by an origin, " #7"); no place if there is none. */
static position marked_place(const diagnostic_source *source, position at)
{
    char mark[32];
    const size_t n = (size_t)snprintf(mark, sizeof mark, " !%d:%d", at.line, at.column);
    const char *text = source->text, *end = text + source->size, *p = text;
    for (; at.line > 0 && (p = memmem(p, (size_t)(end - p), mark, n)); p += n)
        if (p + n == end || (p[n] != '"' && strchr(" \r\n", p[n]))) {
            const char *start = memrchr(text, '\n', (size_t)(p - text));
            position found = {1, 1};
            start = start ? start + 1 : text;
            for (const char *s = text; s < start; s++) found.line += *s == '\n';
            for (; *start == ' '; start++) found.column++;
            return found;
        }
    return (position){0, 0};
}

position diagnostic_place(const diagnostic_source *source, position at) { return source->marked ? marked_place(source, at) : at; }

void diagnostic_render(diagnostic_buffer *b, const diagnostic_source *source, position at, const char *kind, const char *message)
{
    char number[48];
    at = diagnostic_place(source, at);
    if (source->name && source->name[0]) {
        put_text(b, source->name);
        int n = at.line ? snprintf(number, sizeof number, ":%d:%d: ", at.line, at.column)
                        : snprintf(number, sizeof number, ": ");
        put(b, number, (size_t)n);
    }
    put_text(b, kind);
    put(b, ": ", 2);
    put_text(b, message);
    put(b, "\n", 1);
    size_t size;
    const char *line = source->text && at.line > 0 ? find_line(source, at.line, &size) : NULL;
    if (!line || size == 0) return;
    int n = snprintf(number, sizeof number, "%5d | ", at.line);
    put(b, number, (size_t)n);
    int caret = put_line(b, line, size, at.column);
    put(b, "\n", 1);
    put_spaces(b, n - 2);
    put(b, "| ", 2);
    put_spaces(b, caret);
    put(b, "^\n", 2);
}

void diagnostic_log(diagnostic_buffer *b, const char *log)
{
    for (size_t n; *log; log += n + (log[n] == '\n')) {
        n = strcspn(log, "\n");
        for (size_t i = 0; i < n;) {
            long point;
            int length = utf8_decode(log + i, n - i, &point);
            put_harmless(b, log + i, length, point);
            i += (size_t)length;
        }
        put(b, "\n", 1);
    }
}
