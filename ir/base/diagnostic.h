/* In: a message and a place in a source text. Out: `file:line:col: error: message`, the source line and a caret,
 * appended to a buffer. Control characters, bad UTF-8, direction overrides and long lines come out
 * harmless. */
#ifndef TFGEN_DIAGNOSTIC_H
#define TFGEN_DIAGNOSTIC_H
#include "ir/base/arena.h"

typedef struct diagnostic_source {
    const char *name, *text;
    size_t size;
    bool marked; /* IR text: a position means the line that ends in it, as in !13:5 */
} diagnostic_source;

/* Owns malloc()ed data, NUL-terminated; text for which there is no memory is dropped. */
typedef struct diagnostic_buffer {
    char *data;
    size_t size, capacity;
} diagnostic_buffer;

/* Position in the text itself: `at`, or for a marked source the start of the line that ends in it; line 0 if no line does. */
position diagnostic_place(const diagnostic_source *source, position at);
void diagnostic_render(diagnostic_buffer *b, const diagnostic_source *source, position at, const char *kind, const char *message);
/* Output of another program (a compiler, an engine): line breaks are kept, other unsafe characters are replaced. */
void diagnostic_log(diagnostic_buffer *b, const char *log);

/* One character of UTF-8 at s (n >= 1 bytes left): its length, its code point (-1 when malformed, length 1). */
int utf8_decode(const char *s, size_t n, long *point);
/* Terminal columns: 0, 1 or 2; -1: unsafe on a terminal. */
int utf8_width(long point);
#endif
