/* Collects lines of generated C++, some of which have a position in the spec, and prints them. A position becomes a comment at the line's
 * end. */
#ifndef TFGEN_GEN_WRITER_H
#define TFGEN_GEN_WRITER_H
#include "ir/ir.h"

typedef struct written_line {
    int indent;
    int spec_line, spec_column; /* 0: no position */
    const char *code;
    bool opens_body; /* the line is the brace that write_body() writes */
} written_line;

typedef struct writer {
    arena *a;
    written_line *lines;
    int count, capacity, indent;
} writer;

/* A line without a position. Wide lines are broken by writer_append(). */
void write_line(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void write_spec_line(writer *w, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Begin and end the body of a function whose head is the line before. If the body is empty or one line that fits, end_body() puts it on the
 * head's line. */
void write_body(writer *w);
void end_body(writer *w);
/* Begin and end a struct, table or if, whose brace is on its head's line. end: "}" or "};". */
void write_head(writer *w, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void end_head(writer *w, const char *end);
/* Writes each line of a text as a comment. Wide ones are broken between words. */
void write_comment(writer *w, const char *lines);
/* Appends all lines of `from`, indented as `to` is now. */
void writer_splice(writer *to, const writer *from);

/* Prints the lines. One with a position ends in ` // !26:5`, from which runtime/compile/page_places.c finds the place in the spec of a
 * compiler's error. */
void writer_append(text *out, const writer *w);
int count_lines(const char *text);
/* A file's name, with '?' for control characters, so that it can be part of a comment. */
const char *harmless_name(arena *a, const char *name);
#endif
