/* In: names and reasons, of anybody. Out: text in which they are nothing but text: of pages and pictures, and of CSV (RFC 4180). Refuses
 * nothing. */
#ifndef TFGEN_CLI_MARKUP_H
#define TFGEN_CLI_MARKUP_H
#include "ir/base/arena.h"

void markup_put(text *t, const char *s);
void csv_put(text *t, const char *s);
#endif
