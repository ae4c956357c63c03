/* In: lines of generated C++, each with the place in the spec that it comes from, or none. Out: them as text, the place as a comment. */
#ifndef TFGEN_GEN_WRITER_H
#define TFGEN_GEN_WRITER_H
#include "ir/ir.h"

typedef struct written_line {
    int indent;
    int spec_line, spec_column; /* 0: no place */
    const char *code;
    bool opens_body; /* is the brace that write_body() writes */
} written_line;

typedef struct writer {
    arena *a;
    written_line *lines;
    int count, capacity, indent;
} writer;

/* A line without a place; where it is wide it is broken when it is rendered. */
void write_line(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void write_spec_line(writer *w, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The braces of a function, whose head is the line ahead. With nothing between them, or one line that has room, they stand behind it. */
void write_body(writer *w);
void end_body(writer *w);
/* What has its brace in its own line: a struct, a table, a test; and its end: "}" or "};". */
void write_head(writer *w, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void end_head(writer *w, const char *end);
/* Lines of a text, broken between words where they are wide. */
void write_comment(writer *w, const char *lines);
/* Appends all lines of `from`, indented as `to` is now. */
void writer_splice(writer *to, const writer *from);

/* A line that has a place ends in it: ` // !26:5`. runtime/compile/page_places.c takes it from there for what compilers say of the line. */
void writer_append(text *out, const writer *w);
int count_lines(const char *text);
/* A file's name as a part of a comment. */
const char *harmless_name(arena *a, const char *name);
#endif
