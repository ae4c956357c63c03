/* In: pieces of text and numbers. Out: one NUL-terminated string that grows in an arena; numbers are written the same
 * in every locale and read back to the same value. The arena bounds the size. */
#include "ir/base/arena.h"
#include "ir/base/diagnostic.h"
#include "ir/base/format.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(text *t, size_t more)
{
    if (t->size + more + 1 <= t->capacity) return;
    size_t capacity = 2 * (t->size + more + 1);
    if (capacity < 128) capacity = 128;
    char *data = arena_alloc(t->a, capacity);
    if (t->size) memcpy(data, t->data, t->size);
    t->data = data;
    t->capacity = capacity;
}

void text_append(text *t, const char *s, size_t n)
{
    reserve(t, n);
    memcpy(t->data + t->size, s, n);
    t->size += n;
    t->data[t->size] = 0;
}

void text_printf(text *t, const char *format, ...)
{
    va_list list;
    reserve(t, 64);
    const size_t room = t->capacity - t->size;
    va_start(list, format);
    const int n = format_bounded(t->data + t->size, room, format, list);
    va_end(list);
    if (n < 0) bail(t->a, code_bad_input, (position){0}, "a message could not be formatted");
    if ((size_t)n >= room) { /* it did not fit */
        reserve(t, (size_t)n);
        va_start(list, format);
        format_bounded(t->data + t->size, (size_t)n + 1, format, list);
        va_end(list);
    }
    t->size += (size_t)n;
}

/* Replaces the locale's decimal separator, which may have several bytes, by a point. */
static void use_point(char *s)
{
    char *to = s;
    for (const char *from = s; *from; from++) {
        if (strchr("0123456789+-e", *from))
            *to++ = *from;
        else if (to == s || to[-1] != '.')
            *to++ = '.';
    }
    *to = 0;
}

static void format_number(char *out, size_t size, double value, bool is_float)
{
    if (value == floor(value) && fabs(value) < (is_float ? 1 << 24 : 1e15)) {
        snprintf(out, size, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, value);
        if (is_float ? strtof(out, NULL) == (float)value : strtod(out, NULL) == value) break;
    }
    use_point(out);
}

void text_f32(text *t, double value)
{
    float f = (float)value;
    char s[48];
    if (isnan(f) || isinf(f)) {
        text_printf(t, isnan(f) ? "__builtin_nanf(\"\")" : f > 0 ? "__builtin_inff()" : "-__builtin_inff()");
        return;
    }
    format_number(s, sizeof s, f, true);
    text_printf(t, "%s%s", s, strpbrk(s, ".e") ? "f" : ".0f");
}

void text_rounded(text *t, double value, int digits)
{
    char s[48];
    snprintf(s, sizeof s, "%.*g", digits, value);
    if (isfinite(value)) use_point(s);
    text_append(t, s, strlen(s));
}

void text_number(text *t, double value)
{
    char s[48];
    if (isnan(value) || isinf(value)) {
        text_printf(t, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    format_number(s, sizeof s, value, false);
    text_append(t, s, strlen(s));
}

const char *text_harmless(arena *a, const char *s)
{
    text t = {.a = a};
    long point;
    size_t plain = 0;
    while (s[plain] >= ' ' && s[plain] <= '~') plain++;
    text_append(&t, s, plain);
    for (size_t left = strlen(s += plain), n; left; s += n, left -= n) {
        n = (size_t)utf8_decode(s, left, &point);
        text_append(&t, utf8_width(point) < 0 ? "?" : s, utf8_width(point) < 0 ? 1 : n);
    }
    return t.data ? t.data : "";
}

const char *text_counted(arena *a, long long count, const char *noun)
{
    const size_t n = strlen(noun);
    const bool ch = n >= 2 && strcmp(noun + n - 2, "ch") == 0;
    return arena_printf(a, "%lld %s%s", count, noun, count == 1 ? "" : ch ? "es" : "s");
}
