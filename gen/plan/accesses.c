/* Contract: gen/plan/accesses.h. */
#include "gen/plan/accesses.h"
#include <string.h>

static void add_access(arena *a, access_list *x, access one)
{
    if (x->count == x->capacity) {
        access *list = arena_alloc(a, (size_t)(x->capacity = 2 * x->capacity + 32) * sizeof *list);
        if (x->count) memcpy(list, x->list, (size_t)x->count * sizeof *list);
        x->list = list;
    }
    x->list[x->count++] = one;
}

access_list accesses_of(arena *a, const launch *l)
{
    access_list x = {0};
    for (int i = 0; i < l->work_count; i++)
        for (int n = 0; n < l->work[i].phase->op_count; n++) {
            const ir_op *op = l->work[i].phase->ops[n];
            ir_value *used[24];
            if (op_is_view(op)) continue;
            const int count = op_operands(op, used, 24);
            for (int k = 0; k < count; k++) add_access(a, &x, (access){i, op, used[k], false});
            for (int k = 0; k < op->output_count; k++) add_access(a, &x, (access){i, op, op->outputs[k], true});
        }
    return x;
}

int first_writer(const access_list *x, const ir_value *root)
{
    for (int i = 0; i < x->count; i++)
        if (x->list[i].writes && value_root(x->list[i].value) == root) return x->list[i].phase;
    return -1;
}
