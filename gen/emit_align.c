/* In: an align phase. Out: the members of its spec struct (docs/architecture.md: align). Refuses nothing: the verifier lets only the op
 * and views into such a phase. */
#include "gen/emit.h"

static const ir_op *align_op(const ir_phase *phase)
{
    int i = 0;
    while (phase->ops[i]->kind != op_align) i++;
    return phase->ops[i];
}

void emit_align(emission *e, writer *w)
{
    const ir_op *op = align_op(e->phase);
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    write_line(w, "static constexpr int N = %lld, stride = %lld, threads = %lld, each = %lld;", value_columns(x), value_stride(y),
               tile_value(e->phase, "threads"), tile_value(e->phase, "each"));
    write_line(w, "using type = %s;", type_name(x->type));
    write_line(w, "DEV static int rows(const args &p) { return %s; }", extent_c(e, &e->space.rows));
    write_line(w, "DEV static const type *from(const args &p, int row)");
    write_line(w, "{");
    write_spec_line(w, op->at, "return %s;", address(e, x, "row", "0", false));
    write_line(w, "}");
    write_line(w, "DEV static type *to(const args &p, int row)");
    write_line(w, "{");
    write_spec_line(w, op->at, "return %s;", address(e, y, "row", "0", true));
    write_line(w, "}");
}
