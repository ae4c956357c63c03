/* In: requests for memory and error reports of one compile. Out: zeroed memory that lives as long as the arena, a list of
 * diagnostics, and the one way out (bail). Refuses: more than arena_limit bytes, which a hostile spec may ask for. */
#ifndef TFGEN_ARENA_H
#define TFGEN_ARENA_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A place in the spec (or in IR text); line and column count from 1, line 0 is "no place". */
typedef struct position {
    int line, column;
} position;

/* The exit codes of the command are these numbers. */
typedef enum tfgen_code {
#define CODE(name, number, brief, text) code_##name = number,
#include "ir/base/code.def"
} tfgen_code;

typedef struct arena arena;

enum { arena_limit = 512 << 20, max_diagnostics = 100 };

arena *arena_new(void);    /* NULL when the system has no memory */
void arena_free(arena *a); /* runs the deferred calls, newest first, then frees everything */
void *arena_alloc(arena *a, size_t bytes); /* zeroed, 16-byte aligned; bails with code_bad_input above arena_limit */
char *arena_strdup(arena *a, const char *s);
char *arena_strndup(arena *a, const char *s, size_t n);
char *arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(arena *a, const char *format, va_list list) __attribute__((format(printf, 2, 0)));
size_t arena_used(const arena *a); /* bytes requested so far */
/* Grows an arena list of `count` items of `size` bytes, capacity *room, by at least one if full. Returns the list or a larger copy. */
void *arena_more(arena *a, void *list, int count, int *room, size_t size);
void arena_defer(arena *a, void (*call)(void *), void *argument);

/* Sets the text that positions of later errors refer to; it is borrowed and must outlive them. NULL: errors show no source line and caret.
 * */
void arena_source(arena *a, const char *name, const char *text, size_t size);
/* For IR text, whose ops carry positions in a spec that is not at hand: an error at 13:5 shows the line of the text that ends in !13:5. */
void arena_source_marked(arena *a, const char *name, const char *text, size_t size);
/* From here on, positions are those in the IR text itself. */
void arena_source_unmarked(arena *a);
const char *arena_source_name(const arena *a);

/* Runs body(argument) under the arena's single setjmp. Returns code_ok, or the code of the bail(), or, when body returned but complaints
 * are pending, code_bad_input (code_usage if all of them came from complain_usage()). May not be nested on one arena. */
tfgen_code arena_run(arena *a, void (*body)(void *), void *argument);

/* complain() records `file:line:col: error: ...` with the source line and a caret, and returns. bail() records and unwinds to
 * arena_run(). bail_if_complained() is how a pass that complained ends. */
void complain(arena *a, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `file:line:col: warning: ...`, once per message: accepted input that is probably not what its author meant. Does not fail the pass. */
void warn(arena *a, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* complain() about an option rather than the text: an unknown preset, dim or dtype. */
void complain_usage(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void bail(arena *a, tfgen_code code, position at, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* bail(), followed by the lines of another program's log. */
_Noreturn void bail_with_log(arena *a, tfgen_code code, position at, const char *log, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void bail_if_complained(arena *a);
int arena_complaints(const arena *a);
/* The i-th complaint or warning in structured form; NULL past the last. */
typedef struct complaint {
    char *file; /* NULL: not about a text */
    position at; /* line 0: no place */
    char *message;
    bool warning;
} complaint;
const complaint *arena_complaint(const arena *a, int i);
const char *arena_warnings(const arena *a);    /* all warnings, in the form of arena_diagnostics() */
const char *arena_diagnostics(const arena *a); /* all errors, rendered, each ends in a newline; "" if there are none */
const char *arena_first_error(arena *a, const arena *of); /* the first error of arena `of`, without file and position, copied to `a` */

/* The candidate nearest to `word`, or NULL. Its edit distance from the word is at most a third of the word's letters (or 1; a swap of two
 * neighbours counts as one edit), or it is the word without some of the parts that _ separates: heads for num_heads. */
const char *nearest_name(const char *word, const char *const *candidates, size_t n);
const char *nearest_hint(arena *a, const char *near); /* "; did you mean 'near'?"; "" if near is NULL */

/* A string that grows in an arena. Always NUL-terminated. Zero-initialise with {.a = a}. */
typedef struct text {
    arena *a;
    char *data;
    size_t size, capacity;
} text;

void text_printf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_append(text *t, const char *s, size_t n);
/* A copy with '?' for invalid UTF-8 and characters unsafe on a terminal: for file names in JSON and comments. */
const char *text_harmless(arena *a, const char *s);
/* "1 launch", "2 launches": a count and its noun, given in the singular. Nouns that end in ch take -es, all others -s. */
const char *text_counted(arena *a, long long count, const char *noun);
void text_f32(text *t, double value);  /* shortest decimal that reads back as the same float, C++ literal with suffix: 1e-05f */
void text_rounded(text *t, double value, int digits); /* fixed number of digits, locale-free */
void text_number(text *t, double value); /* shortest decimal that reads back as the same double, locale-free */
#endif
