/* Contract: runtime/system/printed.h. */
#define _GNU_SOURCE
#include "runtime/system/printed.h"
#include <stdarg.h>
#include <stdio.h>

char *printed(const char *format, ...)
{
    char *s;
    va_list list;
    va_start(list, format);
    const int n = vasprintf(&s, format, list);
    va_end(list);
    return n < 0 ? NULL : s;
}
