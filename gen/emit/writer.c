/* In: lines with places. Out: source text, lines without a place broken where they are wide. Refuses: nothing. #line is written ahead of
 * each line with a place, since compilers count on from it, and once behind a run of them. */
#include "gen/emit/writer.h"
#include <stdio.h>
#include <string.h>

static void push(writer *w, written_line line)
{
    if (w->count == w->capacity) {
        const int capacity = w->capacity ? 2 * w->capacity : 64;
        written_line *lines = arena_alloc(w->a, (size_t)capacity * sizeof *lines);
        if (w->count) memcpy(lines, w->lines, (size_t)w->count * sizeof *lines);
        w->lines = lines;
        w->capacity = capacity;
    }
    w->lines[w->count++] = line;
}

static void append(writer *w, position at, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *code = arena_alloc(w->a, (size_t)size + 1);
    vsnprintf(code, (size_t)size + 1, format, arguments);
    if (code[0] == '}') w->indent--;
    if (strcmp(code, "}") == 0 && w->count > 1 && strcmp(w->lines[w->count - 1].code, "{") == 0) {
        written_line *head = &w->lines[--w->count - 1];
        head->code = arena_printf(w->a, "%s {}", head->code);
        return;
    }
    push(w, (written_line){w->indent, at.line, at.column, code});
    if (size > 0 && code[size - 1] == '{') w->indent++;
}

void write_line(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(w, (position){0}, format, arguments);
    va_end(arguments);
}

void write_spec_line(writer *w, position at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(w, at, format, arguments);
    va_end(arguments);
}

void writer_splice(writer *to, const writer *from)
{
    for (int i = 0; i < from->count; i++) {
        written_line line = from->lines[i];
        line.indent += to->indent;
        push(to, line);
    }
}

enum { most_columns = 140 };

/* Where to break code of which `room` columns fit: behind the last comma that stands in no list of template arguments; 0: nowhere. */
static int break_of(const char *code, int room)
{
    int depth = 0, at = 0;
    for (int i = 0; code[i] && i < room; i++) {
        depth += (code[i] == '<') - (code[i] == '>');
        if (code[i] == ',' && code[i + 1] == ' ' && depth == 0) at = i + 1;
    }
    return at;
}

/* Returns how many lines it became. A line with a place stays whole: behind a break it would be of the spec's next line. */
static int append_line(text *out, const written_line *l)
{
    const char *code = l->code;
    int lines = 1, indent = code[0] ? l->indent * 4 : 0;
    for (int at; !l->spec_line && indent + (int)strlen(code) > most_columns && (at = break_of(code, most_columns - indent)); lines++) {
        text_printf(out, "%*s%.*s\n", indent, "", at, code);
        code += at + 1;
        indent = (l->indent + 2) * 4;
    }
    text_printf(out, "%*s%s", indent, "", code);
    if (l->spec_line) text_printf(out, " // !%d:%d", l->spec_line, l->spec_column);
    text_append(out, "\n", 1);
    return lines;
}

void writer_plain(text *out, const writer *w)
{
    for (int i = 0; i < w->count; i++) (void)append_line(out, &w->lines[i]);
}

int count_lines(const char *text)
{
    int lines = 0;
    for (; text && (text = strchr(text, '\n')); text++) lines++;
    return lines;
}

void resume_lines(text *out, int before, const char *file)
{
    text_printf(out, "#line %d \"%s\"\n", before + count_lines(out->data) + 2, file);
}

void writer_with_lines(text *out, const writer *w, int before, const char *spec, const char *file)
{
    int lines = before + count_lines(out->data), place = 0; /* place: the spec line that the compiler believes to be at; 0: this file */
    for (int i = 0; i < w->count; i++) {
        const written_line *l = &w->lines[i];
        if (l->spec_line) {
            text_printf(out, "#line %d \"%s\"\n", l->spec_line, spec);
            lines++;
        } else if (place) {
            text_printf(out, "#line %d \"%s\"\n", lines + 2, file);
            lines++;
        }
        place = l->spec_line;
        lines += append_line(out, l);
    }
    if (place) text_printf(out, "#line %d \"%s\"\n", lines + 2, file);
}

const char *quoted_name(arena *a, const char *name)
{
    text t = {.a = a};
    for (const char *s = name; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_printf(&t, "\\%c", c);
        else if (c < ' ' || c == 127)
            text_append(&t, "?", 1);
        else
            text_append(&t, s, 1);
    }
    return t.data ? t.data : "";
}
