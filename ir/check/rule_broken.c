/* In: the rule that is broken, a message and a position. Out: a bail() with both. */
#include "ir/check/check.h"
#include <stdio.h>

_Noreturn void rule_broken(const checker *c, position at, const char *format, ...)
{
    text t = {.a = c->a};
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    text_printf(&t, "%s: %s", c->rule, line);
    if (!c->pass) bail(c->a, code_bad_input, at, "%s", t.data);
    bail(c->a, code_check_failed, at, "internal: after %s: %s", c->pass, t.data);
}
