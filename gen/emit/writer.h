/* In: lines of generated C++, each with the place in the spec that it comes from, or none. Out: two renderings of them:
 * plain, with the place as a comment (KERNEL.spec.h), and with #line directives, so that compilers point at the spec
 * (KERNEL.hip). */
#ifndef TFGEN_GEN_WRITER_H
#define TFGEN_GEN_WRITER_H
#include "ir/ir.h"

typedef struct written_line {
    int indent;
    int spec_line, spec_column; /* 0: no place */
    const char *code;
} written_line;

typedef struct writer {
    arena *a;
    written_line *lines;
    int count, capacity, indent;
} writer;

/* A line without a place; where it is wide it is broken when it is rendered. A line that ends in '{' indents what follows, one that starts
 * with '}' ends that. Braces with nothing between them stand behind the line ahead of them. */
void write_line(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void write_spec_line(writer *w, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Appends all lines of `from`, indented as `to` is now. */
void writer_splice(writer *to, const writer *from);

void writer_plain(text *out, const writer *w);
int count_lines(const char *text);
/* `spec` is the name of the spec's file, `file` that of the output, which has `before` lines ahead of `out`; line numbers continue behind
 * what `out` already holds. */
void writer_with_lines(text *out, const writer *w, int before, const char *spec, const char *file);
/* #line for the line that follows in `out`. */
void resume_lines(text *out, int before, const char *file);
/* A file's name as the inside of a C string literal. */
const char *quoted_name(arena *a, const char *name);
#endif
