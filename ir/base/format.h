/* vsnprintf() with a fast path for strings and integers. Private to ir/base: others use text_printf() and arena_printf(). */
#ifndef TFGEN_FORMAT_H
#define TFGEN_FORMAT_H
#include <stdarg.h>
#include <stddef.h>

int format_bounded(char *out, size_t room, const char *format, va_list list);
#endif
