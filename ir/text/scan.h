/* In: IR text. Out: its words, numbers and strings in order; each scan skips leading spaces. Refuses: unexpected text, with
 * file:line:col. Private to ir/text. */
#ifndef TFGEN_SCAN_H
#define TFGEN_SCAN_H
#include "ir/graph/former.h"

enum { max_word = 200 };

typedef struct scanner {
    arena *a;
    const char *s, *end, *line_start;
    int line;
} scanner;

position scan_here(const scanner *in);
_Noreturn void scan_expected(scanner *in, const char *what);
void scan_spaces(scanner *in);
bool scan_at_line_end(scanner *in);
void scan_end_line(scanner *in);
bool scan_accept(scanner *in, const char *mark); /* consumes the mark if it is next */
void scan_expect(scanner *in, const char *mark);
const char *scan_word(scanner *in, const char *what); /* letters, digits, _ . - */
const char *scan_name(scanner *in, const char *what); /* letters, digits, _ . and no digit first */
const char *scan_string(scanner *in);                 /* "..." with \\ \" \x41 */
const char *scan_word_or_string(scanner *in, const char *what);
const char *scan_rest(scanner *in); /* the rest of the line, which it consumes */
long long scan_integer(scanner *in, long long low, long long high, const char *what);
double scan_double(scanner *in);
int scan_choice(scanner *in, const char *const *names, size_t count, const char *what); /* index of the word in names */
void scan_warn(const scanner *in, position at, const char *given, const char *today);   /* the text uses a former name */
/* scan_choice() that also accepts former names, with a warning. */
int scan_renamed(scanner *in, const char *const *names, size_t count, const former_name *former, const char *what);
const char *scan_ahead(scanner *in); /* the next word, not consumed */
#endif
