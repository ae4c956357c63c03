/* In: the text of a decimal number. Out: its value, the same in every locale. Refuses: see ir/base/number.h. The point is
 * taken out and counted into the exponent, because strtod() expects the decimal separator of the locale. */
#include "ir/base/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = 64, largest_exponent = 99999 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads what follows the "e"; the exponent saturates beyond the range of doubles. */
static bool read_exponent(const char *s, int *exponent)
{
    int sign = *s == '-' ? -1 : 1, value = 0;
    if (*s == '-' || *s == '+') s++;
    if (!is_digit(*s)) return false;
    for (; is_digit(*s); s++)
        if (value < largest_exponent) value = 10 * value + (*s - '0');
    *exponent = sign * value;
    return *s == 0;
}

bool number_parse(const char *s, double *value)
{
    char digits[longest + 16];
    int n = 0, count = 0, exponent = 0, fraction = 0;
    bool point = false;
    if (strlen(s) > longest) return false;
    if (*s == '-') digits[n++] = '-';
    if (*s == '-' || *s == '+') s++;
    for (; is_digit(*s) || (*s == '.' && !point); s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        digits[n++] = *s;
        count++;
        fraction += point;
    }
    if (count == 0 || (*s && *s != 'e' && *s != 'E') || (*s && !read_exponent(s + 1, &exponent))) return false;
    snprintf(digits + n, sizeof digits - (size_t)n, "e%d", exponent - fraction);
    *value = strtod(digits, NULL);
    return isfinite(*value);
}

bool integer_parse(const char *s, long long *value)
{
    bool negative = *s == '-';
    long long sum = 0;
    if (*s == '-' || *s == '+') s++;
    if (!is_digit(*s)) return false;
    for (; is_digit(*s); s++)
        if (__builtin_mul_overflow(sum, 10LL, &sum) || __builtin_sub_overflow(sum, (long long)(*s - '0'), &sum))
            return false;
    if (!negative && __builtin_sub_overflow(0LL, sum, &sum)) return false;
    *value = sum;
    return *s == 0;
}
