/* Contract: runtime/system/printed.h. */
#define _GNU_SOURCE
#include "runtime/system/printed.h"
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *printed(const char *format, ...)
{
    char *s;
    va_list list;
    va_start(list, format);
    const int n = vasprintf(&s, format, list);
    va_end(list);
    return n < 0 ? NULL : s;
}

const char *error_in_english(int number)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const char *text = c ? strerror_l(number, c) : "input/output error";
    if (c) freelocale(c);
    return text;
}
