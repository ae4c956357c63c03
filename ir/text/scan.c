/* In, out: ir/text/scan.h. Refuses: unexpected text, with file:line:col; words longer than max_word. */
#include "ir/text/scan.h"
#include "ir/base/number.h"
#include <ctype.h>
#include <string.h>

position scan_here(const scanner *in)
{
    return (position){in->line, (int)(in->s - in->line_start) + 1};
}

_Noreturn void scan_expected(scanner *in, const char *what)
{
    if (in->s == in->end || *in->s == '\n') bail(in->a, code_bad_input, scan_here(in), "the line ends where %s should follow", what);
    bail(in->a, code_bad_input, scan_here(in), "%s should stand here", what);
}

void scan_spaces(scanner *in)
{
    while (in->s < in->end && *in->s == ' ') in->s++;
}

bool scan_at_line_end(scanner *in)
{
    scan_spaces(in);
    return in->s == in->end || *in->s == '\n';
}

void scan_end_line(scanner *in)
{
    if (!scan_at_line_end(in)) bail(in->a, code_bad_input, scan_here(in), "this does not belong to the line");
    if (in->s < in->end) in->s++;
    in->line++;
    in->line_start = in->s;
}

bool scan_accept(scanner *in, const char *mark)
{
    size_t n = strlen(mark);
    if ((size_t)(in->end - in->s) < n || memcmp(in->s, mark, n) != 0) return false;
    in->s += n;
    return true;
}

void scan_expect(scanner *in, const char *mark)
{
    scan_spaces(in);
    if (!scan_accept(in, mark)) scan_expected(in, arena_printf(in->a, "\"%s\"", mark));
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static const char *take(scanner *in, bool (*belongs)(char), const char *what)
{
    scan_spaces(in);
    const char *start = in->s;
    while (in->s < in->end && belongs(*in->s) && in->s - start <= max_word) in->s++;
    if (in->s == start) scan_expected(in, what);
    if (in->s - start > max_word) bail(in->a, code_bad_input, scan_here(in), "%s is longer than %d characters", what, max_word);
    return arena_strndup(in->a, start, (size_t)(in->s - start));
}

const char *scan_name(scanner *in, const char *what)
{
    scan_spaces(in);
    if (in->s < in->end && (isdigit((unsigned char)*in->s) || *in->s == '.')) scan_expected(in, what);
    return take(in, is_name, what);
}

long long scan_integer(scanner *in, long long low, long long high, const char *what)
{
    scan_spaces(in);
    position at = scan_here(in);
    bool negative = scan_accept(in, "-");
    long long value = 0;
    if (in->s == in->end || !isdigit((unsigned char)*in->s)) scan_expected(in, what);
    for (; in->s < in->end && isdigit((unsigned char)*in->s); in->s++)
        if (__builtin_mul_overflow(value, 10LL, &value) || __builtin_add_overflow(value, (long long)(*in->s - '0'), &value))
            bail(in->a, code_bad_input, at, "%s is too large", what);
    if (negative) value = -value;
    if (value < low || value > high) bail(in->a, code_bad_input, at, "%s is %lld; it is %lld to %lld", what, value, low, high);
    return value;
}

double scan_double(scanner *in)
{
    char word[64];
    double value;
    size_t n = 0;
    scan_spaces(in);
    while (in->s + n < in->end && n < sizeof word - 1 && (isalnum((unsigned char)in->s[n]) || strchr("+-.", in->s[n]))) n++;
    memcpy(word, in->s, n);
    word[n] = 0;
    if (!number_parse(word, &value)) scan_expected(in, "a number");
    in->s += n;
    return value;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *scan_string(scanner *in)
{
    text t = {.a = in->a};
    text_append(&t, "", 0);
    scan_expect(in, "\"");
    while (!scan_accept(in, "\"")) {
        if (in->s == in->end || *in->s == '\n') scan_expected(in, "a \" that ends the text");
        char c = *in->s++;
        if (!c) bail(in->a, code_bad_input, scan_here(in), "a zero byte in a text");
        if (c == '\\' && in->s < in->end && *in->s == 'x') {
            int high = in->end - in->s > 2 ? hex_digit(in->s[1]) : -1, low = high < 0 ? -1 : hex_digit(in->s[2]);
            if (low < 0 || high * 16 + low == 0) scan_expected(in, "\\x and two hexadecimal digits");
            c = (char)(high * 16 + low);
            in->s += 3;
        } else if (c == '\\' && in->s < in->end && *in->s != '\n') c = *in->s++;
        text_append(&t, &c, 1);
    }
    return t.data ? t.data : "";
}

const char *scan_rest(scanner *in)
{
    scan_spaces(in);
    const char *from = in->s;
    for (; in->s < in->end && *in->s != '\n'; in->s++)
        if (*in->s < ' ' || *in->s > '~') scan_expected(in, "a sentence of printable ASCII");
    const char *to = in->s;
    while (to > from && to[-1] == ' ') to--;
    if (to == from) scan_expected(in, "a sentence");
    scan_end_line(in);
    return arena_strndup(in->a, from, (size_t)(to - from));
}

const char *scan_word(scanner *in, const char *what)
{
    return take(in, is_word, what);
}

const char *scan_word_or_string(scanner *in, const char *what)
{
    scan_spaces(in);
    return in->s < in->end && *in->s == '"' ? scan_string(in) : scan_word(in, what);
}

void scan_warn(const scanner *in, position at, const char *given, const char *today)
{
    const char *hint = former_hint(in->a, given, today);
    if (hint) warn(in->a, at, "%s", hint);
}

int scan_choice(scanner *in, const char *const *names, size_t count, const char *what)
{
    return scan_renamed(in, names, count, NULL, what);
}

const char *scan_ahead(scanner *in)
{
    scan_spaces(in);
    const char *end = in->s;
    while (end < in->end && is_word(*end)) end++;
    return arena_strndup(in->a, in->s, (size_t)(end - in->s));
}

int scan_renamed(scanner *in, const char *const *names, size_t count, const former_name *former, const char *what)
{
    scan_spaces(in);
    position at = scan_here(in);
    const char *given = take(in, is_word, what), *word = name_today(former, given);
    scan_warn(in, at, given, word);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0) return (int)i;
    const char *near = nearest_name(word, names, count);
    bail(in->a, code_bad_input, at, "%s is no %s%s%s%s", word, what, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

