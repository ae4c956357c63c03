/* In: a printf format and its arguments. Out: what vsnprintf writes and returns, sooner where they are strings and whole numbers. Refuses:
 * nothing. Private to ir/base: others have text_printf() and arena_printf(). */
#ifndef TFGEN_FORMAT_H
#define TFGEN_FORMAT_H
#include <stdarg.h>
#include <stddef.h>

int format_bounded(char *out, size_t room, const char *format, va_list list);
#endif
