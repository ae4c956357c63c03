/* In: a command line, formatted as by printf(). Out: its exit code; `output` holds what it printed. The test fails if no shell starts.
 * Defined in tests/support.c. */
#ifndef TFGEN_TESTS_SHELL_H
#define TFGEN_TESTS_SHELL_H
#include <jansson.h>
extern char output[8 << 20];
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Runs $TFGEN, else ./tfgen, with these arguments; `output` includes stderr. */
int tfgen(const char *format, ...) __attribute__((format(printf, 1, 2)));
void says(const char *part); /* fails unless `output` contains it */
/* parsed() reads `output` as JSON; the caller releases it. The others read an object's key. Missing keys and wrong types fail the test. */
json_t *parsed(void);
double number(const json_t *o, const char *key);
long long integer(const json_t *o, const char *key);
const char *string(const json_t *o, const char *key);
char *whole_file(const char *path); /* the caller frees it */
/* Writes folder/name, replacing an existing file. */
void write_file(const char *folder, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Fails unless the text is a self-contained SVG: elements nest correctly, nothing is loaded from elsewhere, and colours follow the reader's
 * light or dark scheme. */
void is_picture(const char *svg);
#endif
