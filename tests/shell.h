/* In: a command line, as printf() has it. Out: its exit code, and in `output` what it printed. Where no shell starts the
 * test fails. Defined in tests/support.c. */
#ifndef TFGEN_TESTS_SHELL_H
#define TFGEN_TESTS_SHELL_H
#include <jansson.h>
extern char output[8 << 20];
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Of $TFGEN, else ./tfgen, with stderr in the output. */
int tfgen(const char *format, ...) __attribute__((format(printf, 1, 2)));
void says(const char *part); /* output has it */
/* output as JSON, for the caller to release; what a key of an object is. What is not there, or is something else, fails the test. */
json_t *parsed(void);
double number(const json_t *o, const char *key);
long long integer(const json_t *o, const char *key);
const char *string(const json_t *o, const char *key);
char *whole_file(const char *path); /* for the caller to free */
/* A file of that name in the folder, new or over an old one. */
void write_file(const char *folder, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Fails where a text is no SVG that needs no other file: elements end in the order in which they began, nothing is asked for from
 * elsewhere, and it is light or dark as its reader is. */
void is_picture(const char *svg);
#endif
