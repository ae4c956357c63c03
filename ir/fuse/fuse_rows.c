/* In: groups of the rows family. Out: chains of elementwise ops merged, and norms merged with the elementwise ops before them. Refuses:
 * what the rows template cannot do (ir/fuse/fuse_legal.c says why). */
#include "ir/fuse/fuse.h"

static bool is_plain_rows(const group *g)
{
    return g->count > 0 && g->family == family_rows;
}

/* The group has a residual add: the sum of two values of the same rows and columns. */
static bool adds_rows(fusing *f, const group *g)
{
    for (int i = 0; i < g->count; i++) {
        const ir_op *op = g->ops[i];
        bool binary = op_is_elementwise(op) && op->input_count == 2;
        if (binary && value_is_full(f->a, op->inputs[0], op->outputs[0]) && value_is_full(f->a, op->inputs[1], op->outputs[0]))
            return true;
    }
    return false;
}

static bool is_elementwise_group(const group *g)
{
    for (int i = 0; i < g->count; i++)
        if (!op_is_elementwise(g->ops[i])) return false;
    return is_plain_rows(g);
}

static bool group_holds(const group *g, op_kind kind)
{
    for (int i = 0; i < g->count; i++)
        if (g->ops[i]->kind == kind) return true;
    return false;
}

int fuse_rows_fusion(fusing *f, int producer, int user)
{
    const group *x = &f->groups[producer], *y = &f->groups[user];
    const bool columns = x->family == family_columns || y->family == family_columns;
    if (columns && (is_elementwise_group(x) || is_elementwise_group(y))) return fusion_index("elementwise");
    if (!is_plain_rows(x) || !is_plain_rows(y)) return -1;
    if (y->count == 1 && group_holds(y, op_kv_append)) return fusion_index("kv_append");
    if (group_holds(y, op_rope) || group_holds(y, op_kv_append)) return fusion_index("rope_prologue");
    bool takes_rows = group_reduces(y) && (group_reduces(x) || adds_rows(f, x));
    return fusion_index(takes_rows ? "norm_prologue" : "elementwise");
}

static bool join_rows(fusing *f, int fusion)
{
    bool changed = false;
    for (int i = 0; i < f->p->op_count; i++) {
        const ir_op *op = f->p->ops[i];
        for (int k = 0; k < op->input_count; k++) {
            int x = fuse_source(f, op->inputs[k]), y = fuse_home(f, op->outputs[0]);
            if (x < 0 || y < 0 || x == y || fuse_rows_fusion(f, x, y) != fusion) continue;
            changed |= fuse_merge(f, x, y);
        }
    }
    return changed;
}

/* For each value, the elementwise groups that read it, in increasing order. */
typedef struct readers {
    int *groups, *start; /* start: CSR offsets by value id, one extra entry at the end */
} readers;

static void each_reading(fusing *f, readers *r, bool fill)
{
    for (int g = 0; g < f->group_count; g++)
        for (int i = 0; is_elementwise_group(&f->groups[g]) && i < f->groups[g].count; i++) {
            ir_value *used[24];
            int n = op_operands(f->groups[g].ops[i], used, 24);
            for (int k = 0; k < n; k++) {
                int at = r->start[used[k]->id + !fill]++;
                if (fill) r->groups[at] = g;
            }
        }
}

static readers find_readers(fusing *f)
{
    size_t n = (size_t)f->p->value_count;
    readers r = {.start = arena_alloc(f->a, (n + 2) * sizeof *r.start)};
    each_reading(f, &r, false);
    for (size_t i = 1; i <= n; i++) r.start[i] += r.start[i - 1];
    r.groups = arena_alloc(f->a, ((size_t)r.start[n] + 1) * sizeof *r.groups);
    each_reading(f, &r, true);
    for (size_t i = n; i > 0; i--) r.start[i] = r.start[i - 1]; /* filling moved each start to where the next value's readers start */
    r.start[0] = 0;
    return r;
}

/* The first group after `last` that reads v, or `best` if that is smaller. */
static int next_reader(const readers *r, const ir_value *v, int last, int best)
{
    int low = r->start[v->id], high = r->start[v->id + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (r->groups[middle] > last) high = middle;
        else low = middle + 1;
    }
    return low < r->start[v->id + 1] && r->groups[low] < best ? r->groups[low] : best;
}

/* The first group after `last` that reads one of the values that x reads, row scalars and vectors aside. */
static int next_sibling(fusing *f, const readers *r, const group *x, int last)
{
    int best = f->group_count;
    for (int i = 0; i < x->count; i++)
        for (int k = 0; k < x->ops[i]->input_count; k++) {
            const ir_value *v = x->ops[i]->inputs[k];
            if (v->kind != value_constant && value_is_full(f->a, v, x->ops[i]->outputs[0])) best = next_reader(r, v, last, best);
        }
    return best;
}

/* Merges elementwise groups that read the same value, so that it is read once. */
static bool join_siblings(fusing *f)
{
    bool changed = false;
    const readers r = find_readers(f);
    for (int x = 0; x < f->group_count; x++)
        for (int y = x; f->groups[x].count < most_phase_ops && is_elementwise_group(&f->groups[x]);) {
            y = next_sibling(f, &r, &f->groups[x], y);
            if (y == f->group_count) break;
            if (!is_elementwise_group(&f->groups[y]) || f->groups[x].count + f->groups[y].count > most_phase_ops) continue;
            changed |= fuse_merge(f, x, y);
        }
    return changed;
}

/* Epilogues first, before the ops form rows phases: after an epilogue has grown, other passes can fuse more. */
bool fuse_elementwise(fusing *f)
{
    if (fuse_epilogue_elementwise(f)) return true;
    bool chains = join_rows(f, fusion_index("elementwise"));
    return join_siblings(f) || chains;
}

bool fuse_norm_prologue(fusing *f)
{
    return join_rows(f, fusion_index("norm_prologue"));
}

bool fuse_rope_prologue(fusing *f)
{
    return join_rows(f, fusion_index("rope_prologue"));
}
