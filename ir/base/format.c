/* See format.h. A spec of 4,000 ops formats a million short texts, so the usual directives (strings, integers) are formatted here, faster
 * than by vsnprintf(), which formats the others. */
#define _GNU_SOURCE
#include "ir/base/format.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct output {
    char *at;
    size_t room;
    size_t size; /* of the whole text, including what did not fit */
} output;

static void put(output *o, const char *s, size_t n)
{
    if (o->size < o->room) memcpy(o->at + o->size, s, n < o->room - o->size ? n : o->room - o->size);
    o->size += n;
}

static void put_number(output *o, long long n)
{
    char digits[24], *first = digits + sizeof digits;
    unsigned long long left = n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n;
    do *--first = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0) *--first = '-';
    put(o, first, (size_t)(digits + sizeof digits - first));
}

static void put_text(output *o, const char *s, size_t most)
{
    if (!s) s = most < strlen("(null)") ? "" : "(null)"; /* as glibc does */
    put(o, s, strnlen(s, most));
}

static bool begins(const char *at, const char *with) { return strncmp(at, with, strlen(with)) == 0; }

/* Formats one directive; `at` points behind its %. Returns the text after the directive; NULL: unsupported. */
static const char *put_argument(output *o, const char *at, va_list *list)
{
    if (*at == 's') {
        put_text(o, va_arg(*list, const char *), SIZE_MAX);
    } else if (*at == 'd') {
        put_number(o, va_arg(*list, int));
    } else if (*at == 'c') {
        put(o, (const char[]){(char)va_arg(*list, int)}, 1);
    } else if (*at == '%') {
        put(o, "%", 1);
    } else if (begins(at, "lld")) {
        put_number(o, va_arg(*list, long long));
        return at + strlen("lld");
    } else if (begins(at, ".*s")) {
        const int most = va_arg(*list, int);
        put_text(o, va_arg(*list, const char *), most < 0 ? SIZE_MAX : (size_t)most);
        return at + strlen(".*s");
    } else {
        return NULL;
    }
    return at + 1;
}

int format_bounded(char *out, size_t room, const char *format, va_list list)
{
    output o = {out, room, 0};
    va_list own;
    va_copy(own, list);
    for (const char *at = format; at;) {
        const char *stop = strchrnul(at, '%');
        put(&o, at, (size_t)(stop - at));
        at = *stop ? put_argument(&o, stop + 1, &own) : NULL;
        if (*stop && !at) { /* vsnprintf formats this directive and the rest */
            const int n = o.size < room ? vsnprintf(out + o.size, room - o.size, stop, own) : vsnprintf(NULL, 0, stop, own);
            o.size = n < 0 ? (size_t)INT_MAX + 1 : o.size + (size_t)n;
        }
    }
    va_end(own);
    if (room) out[o.size < room ? o.size : room - 1] = 0;
    return o.size <= INT_MAX ? (int)o.size : -1;
}
