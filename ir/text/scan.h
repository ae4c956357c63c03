/* In: IR text. Out: its words, numbers and texts, one after the other; each skips the spaces before it. Refuses: what should not stand
 * there, with file:line:col. Private to ir/text. */
#ifndef TFGEN_SCAN_H
#define TFGEN_SCAN_H
#include "ir/program/former.h"

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
bool scan_accept(scanner *in, const char *mark); /* steps behind the mark if it stands right here */
void scan_expect(scanner *in, const char *mark);
const char *scan_word(scanner *in, const char *what); /* letters, digits, _ . - */
const char *scan_name(scanner *in, const char *what); /* letters, digits, _ . and no digit first */
const char *scan_string(scanner *in);                 /* "..." with \\ \" \x41 */
const char *scan_word_or_string(scanner *in, const char *what);
const char *scan_rest(scanner *in); /* a sentence: to the end of the line, which it takes */
long long scan_integer(scanner *in, long long low, long long high, const char *what);
double scan_double(scanner *in);
int scan_choice(scanner *in, const char *const *names, size_t count, const char *what); /* index of the word in names */
void scan_warn(const scanner *in, position at, const char *given, const char *today);   /* where a former name was given */
/* The same where names were changed: of a former one it warns. */
int scan_renamed(scanner *in, const char *const *names, size_t count, const former_name *former, const char *what);
const char *scan_ahead(scanner *in); /* the word that comes, which it leaves there */
#endif
