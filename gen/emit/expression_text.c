/* Prints expressions as C++ text, with parentheses where precedence needs them. */
#include "gen/emit/expression.h"

static const struct {
    const char *token;
    int binds;
} operators[] = {
#define EXPRESSION(kind, token, binds) {token, binds},
#include "gen/emit/expression.def"
};

static void append(text *t, const expression *x);

/* Whether operand x of `parent` needs parentheses. It does if it binds less tightly, or as tightly and is the last operand, since C
 * associates to the left. A remainder within a product gets them for readability: (row % 4) * 64. */
static bool has_parentheses(const expression *x, expression_kind parent, bool is_last)
{
    const int own = operators[x->kind].binds, around = operators[parent].binds;
    if (x->kind == expression_remainder && around == own) return true;
    return own < around || (own == around && is_last);
}

static void append_operand(text *t, const expression *x, expression_kind parent, bool is_last)
{
    const bool loose = has_parentheses(x, parent, is_last);
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
    const expression *const *of = x->operands;
    switch (x->kind) {
    case expression_number: text_printf(t, x->type == type_long ? "%lldll" : "%lld", x->number); return;
    case expression_name: text_printf(t, "%s", x->name); return;
    case expression_call: append_call(t, x); return;
    case expression_element:
        append_operand(t, of[0], x->kind, false);
        text_append(t, "[", 1);
        append(t, of[1]);
        text_append(t, "]", 1);
        return;
    default: break;
    }
    const bool is_choice = x->kind == expression_choice;
    append_operand(t, of[0], x->kind, is_choice);
    text_printf(t, "%s", operators[x->kind].token);
    if (is_choice) { /* right-associative: x ? y : z ? a : b */
        append(t, of[1]);
        text_append(t, " : ", 3);
    }
    append_operand(t, of[x->count - 1], x->kind, !is_choice);
}

const char *c_text(arena *a, const expression *x)
{
    text t = {.a = a};
    append(&t, x);
    return t.data;
}
