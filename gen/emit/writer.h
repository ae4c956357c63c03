/* In: lines of generated C++, each with or without a position in the spec. Out: their text, with the position as a trailing comment. */
#ifndef TFGEN_GEN_WRITER_H
#define TFGEN_GEN_WRITER_H
#include "ir/ir.h"

typedef struct written_line {
    int indent;
    int spec_line, spec_column; /* 0: no position */
    const char *code;
    bool opens_body; /* the brace that write_body() writes */
} written_line;

typedef struct writer {
    arena *a;
    written_line *lines;
    int count, capacity, indent;
} writer;

/* A line without a position. Wide lines are broken by writer_append(). */
void write_line(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void write_spec_line(writer *w, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The braces of a function, after the line with its head. An empty body, or one line that fits, goes on the head's line. */
void write_body(writer *w);
void end_body(writer *w);
/* A head with its brace in the same line (struct, table, if), and its end: "}" or "};". */
void write_head(writer *w, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void end_head(writer *w, const char *end);
/* Writes lines of text as comments, wide ones broken between words. */
void write_comment(writer *w, const char *lines);
/* Appends all lines of `from`, indented as `to` is now. */
void writer_splice(writer *to, const writer *from);

/* Renders the lines. One with a position ends in it, ` // !26:5`, where runtime/compile/page_places.c reads it to place compilers'
 * errors. */
void writer_append(text *out, const writer *w);
int count_lines(const char *text);
/* A file's name, with '?' for control characters, so that it can be part of a comment. */
const char *harmless_name(arena *a, const char *name);
#endif
