/* Collects lines of generated C++ and prints them as source text (gen/emit/writer.h). */
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

enum { most_columns = 140 };

static void push_line(writer *w, position at, const char *code) { push(w, (written_line){w->indent, at.line, at.column, code, false}); }

static void append(writer *w, position at, const char *format, va_list arguments)
{
    push_line(w, at, arena_vprintf(w->a, format, arguments));
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

void write_head(writer *w, position at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    push_line(w, at, arena_printf(w->a, "%s {", arena_vprintf(w->a, format, arguments)));
    va_end(arguments);
    w->indent++;
}

void end_head(writer *w, const char *end)
{
    w->indent--;
    push_line(w, (position){0}, end);
}

void write_body(writer *w)
{
    push_line(w, (position){0}, "{");
    w->lines[w->count - 1].opens_body = true;
    w->indent++;
}

/* If the body is empty or one line that fits, joins it with its head and returns true. */
static bool end_short_body(writer *w)
{
    enum { place_columns = 14, struct_columns = 4 };
    const written_line *last = &w->lines[w->count - 1];
    const bool is_empty = last->opens_body;
    if (!is_empty && !last[-1].opens_body) return false;
    written_line *head = &w->lines[w->count - (is_empty ? 2 : 3)];
    const char *whole = arena_printf(w->a, is_empty ? "%s {}" : "%s { %s }", head->code, last->code);
    if (!is_empty && struct_columns + 4 * head->indent + (int)strlen(whole) + place_columns > most_columns) return false;
    head->code = whole;
    if (!is_empty) head->spec_line = last->spec_line, head->spec_column = last->spec_column;
    w->count -= is_empty ? 1 : 2;
    return true;
}

void end_body(writer *w)
{
    w->indent--;
    if (!end_short_body(w)) push_line(w, (position){0}, "}");
}

void writer_splice(writer *to, const writer *from)
{
    for (int i = 0; i < from->count; i++) {
        written_line line = from->lines[i];
        line.indent += to->indent;
        push(to, line);
    }
}

void write_comment(writer *w, const char *lines)
{
    for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        text out = {.a = w->a};
        const char *end = line + strcspn(line, "\n"), *word = line;
        for (; word < end; word += strcspn(word, " \n")) {
            const char *blanks = word;
            word += strspn(word, " ");
            const size_t size = (size_t)(word - blanks) + strcspn(word, " \n");
            if (out.size + size + 3 > most_columns) {
                write_line(w, "// %s", out.data);
                out = (text){.a = w->a};
                text_append(&out, "    ", 4);
            }
            text_append(&out, blanks, size);
        }
        write_line(w, "//%s%s", out.size ? " " : "", out.size ? out.data : "");
    }
}

/* How many characters of code to put on a line with `room` columns: up to the last comma outside template arguments; 0: there is none. */
static int break_of(const char *code, int room)
{
    int depth = 0, at = 0;
    for (int i = 0; code[i] && i < room; i++) {
        depth += (code[i] == '<') - (code[i] == '>');
        if (code[i] == ',' && code[i + 1] == ' ' && depth == 0) at = i + 1;
    }
    return at;
}

static void append_blanks(text *out, int count)
{
    for (int i = 0; i < count; i += 4) text_append(out, "    ", count - i < 4 ? (size_t)(count - i) : 4);
}

/* Prints a line. A wide one is broken, and each part ends in the position. */
static void append_line(text *out, const written_line *l)
{
    const char *code = l->code;
    char place[32] = "";
    if (l->spec_line) snprintf(place, sizeof place, " // !%d:%d", l->spec_line, l->spec_column);
    const int columns = most_columns - (int)strlen(place), behind = (l->indent + 2) * 4;
    int indent = code[0] ? l->indent * 4 : 0;
    for (int at; indent + (int)strlen(code) > columns && (at = break_of(code, columns - indent));) {
        append_blanks(out, indent);
        text_printf(out, "%.*s%s\n", at, code, place);
        code += at + 1;
        indent = behind;
    }
    append_blanks(out, indent);
    text_printf(out, "%s%s\n", code, place);
}

void writer_append(text *out, const writer *w)
{
    for (int i = 0; i < w->count; i++) append_line(out, &w->lines[i]);
}

int count_lines(const char *text)
{
    int lines = 0;
    for (; text && (text = strchr(text, '\n')); text++) lines++;
    return lines;
}

const char *harmless_name(arena *a, const char *name)
{
    char *out = arena_strndup(a, name, strlen(name));
    for (char *s = out; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 127) *s = '?';
    return out;
}
