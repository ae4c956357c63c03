/* In: an op while it is read. Out: ir/read/shape.h: operands' shapes as text, and complaints about shapes that clash. */
#include "ir/read/shape.h"
#include <string.h>

bool shape_clash(op_draft *d, position at, const char *format, ...)
{
    va_list list;
    char message[512];
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    complain(d->r->a, at, "%s: %s", d->name, message);
    d->broken = true;
    return false;
}

const char *shape_of(op_draft *d, int input)
{
    const ir_value *v = d->op->inputs[input];
    return arena_printf(d->r->a, "%%%s %s", v->name, graph_shape_text(d->r, v));
}

const extent *shape_axis(const ir_value *v, int from_the_end) { return &v->shape[v->rank - from_the_end]; }

void shape_set(ir_value *out, const ir_value *like)
{
    out->rank = like->rank;
    memcpy(out->shape, like->shape, sizeof out->shape);
}
