/* In: expressions. Out: their C++, in parentheses where an operand binds no tighter than what it is an operand of. Refuses nothing. */
#include "gen/emit/expression.h"

static const struct {
    const char *token;
    int binds;
} operators[] = {
#define EXPRESSION(kind, token, binds) {token, binds},
#include "gen/emit/expression.def"
};

static void append(text *t, const expression *x);

/* An operand that binds less tightly than `least` is in parentheses. */
static void append_operand(text *t, const expression *x, int least)
{
    const bool loose = operators[x->kind].binds < least;
    if (loose) text_append(t, "(", 1);
    append(t, x);
    if (loose) text_append(t, ")", 1);
}

static void append_call(text *t, const expression *x)
{
    text_printf(t, "%s(", x->name);
    for (int i = 0; i < x->count; i++) {
        if (i) text_append(t, ", ", 2);
        append(t, x->operands[i]);
    }
    text_append(t, ")", 1);
}

static void append(text *t, const expression *x)
{
    const char *token = operators[x->kind].token;
    const int binds = operators[x->kind].binds;
    switch (x->kind) {
    case expression_number: text_printf(t, x->type == type_long ? "%lldll" : "%lld", x->number); return;
    case expression_name: text_printf(t, "%s", x->name); return;
    case expression_call: append_call(t, x); return;
    case expression_element:
        append_operand(t, x->operands[0], binds);
        text_append(t, "[", 1);
        append(t, x->operands[1]);
        text_append(t, "]", 1);
        return;
    case expression_group:
        text_append(t, "(", 1);
        append(t, x->operands[0]);
        text_append(t, ")", 1);
        return;
    case expression_choice: /* from right to left: x ? y : z ? a : b */
        append_operand(t, x->operands[0], binds + 1);
        text_printf(t, "%s", token);
        append(t, x->operands[1]);
        text_append(t, " : ", 3);
        append_operand(t, x->operands[2], binds);
        return;
    default: break;
    }
    append_operand(t, x->operands[0], binds); /* from left to right: x - y - z */
    text_printf(t, "%s", token);
    append_operand(t, x->operands[1], binds + 1);
}

const char *c_text(arena *a, const expression *x)
{
    text t = {.a = a};
    append(&t, x);
    return t.data;
}
