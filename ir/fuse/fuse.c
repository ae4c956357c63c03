/* In: a lowered graph, a level, fusions turned off. Out: kernels of phases, with a note for each edge between two of them. The
 * passes are the rows of ir/reason.def; the verifier runs after each (with check_once: after the last). Refuses: names of fusions that do
 * not exist, graphs that are not lowered. */
#include "ir/fuse/fuse.h"

static const struct {
    const char *name;
    bool (*run)(fusing *f);
} passes[] = {
#define FUSION(name, least, help) {#name, fuse_##name},
#include "ir/reason.def"
};
enum { pass_count = sizeof passes / sizeof *passes, most_changes = 256 };

static void read_disabled(fusing *f)
{
    for (size_t i = 0; i < f->options->disabled_count; i++) {
        const char *name = f->options->disabled[i];
        int fusion = fusion_index(name);
        if (fusion >= 0) {
            f->disabled[fusion] = true;
            continue;
        }
        size_t n;
        const char *const *names = fusion_names(&n), *near = nearest_name(name, names, n);
        bail(f->a, code_usage, (position){0, 0}, "there is no fusion \"%s\"%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
    }
}

static bool joins_origin(const ir_op *op, const ir_op *other)
{
    return op != other && op->origin == other->origin && op->kind != op_attention_partial && op->kind != op_attention_combine;
}

/* At every level, ops lowered from the same graph op form one phase if a phase can run them. */
static bool fuse_origins(fusing *f)
{
    bool changed = false;
    ir_graph *p = f->p;
    for (int i = 0; i < p->op_count; i++)
        for (int k = i - 1; k >= 0 && k >= i - most_phase_ops; k--)
            if (joins_origin(p->ops[i], p->ops[k]))
                changed |= fuse_merge(f, fuse_home(f, p->ops[k]->outputs[0]), fuse_home(f, p->ops[i]->outputs[0]));
    return changed;
}

static void begin(fusing *f)
{
    for (int i = 0; i < f->p->op_count; i++) {
        const ir_op *op = f->p->ops[i];
        bool lowered = op_table[op->kind].class != class_COMPOSITE && op->kind != op_split &&
                       !(op->kind == op_linear && op->input_count == 3);
        if (!lowered) bail(f->a, code_bad_input, op->at, "%s must be lowered before fusion", op_table[op->kind].name);
        fuse_set_home(f, op->outputs[0], fuse_new_group(f));
    }
    for (int i = 0; i < f->p->value_count; i++)
        if (!f->p->values[i]->def) fuse_set_home(f, f->p->values[i], no_group);
    fuse_refresh(f);
    fuse_schedule(f);
    if (fuse_reshapes(f)) fuse_settle(f, "reshapes");
    fuse_origins(f);
    fuse_settle(f, "origins");
}

/* Starts again at the first pass after each change: earlier passes gain more, and a later pass could take ops that an earlier one needs.
 * most_changes bounds the time that a hostile graph takes; fusing less is always correct. */
static void run_passes(fusing *f)
{
    int changes = 0;
    for (int i = 0; i < pass_count && changes < most_changes; i++) {
        reason why;
        if (!fuse_may_run(f, i, &why) || !passes[i].run(f)) continue;
        fuse_settle(f, passes[i].name);
        changes++;
        i = -1;
    }
}

ir_graph *fuse(arena *a, const ir_graph *lowered, const fuse_options *options)
{
    fusing f = {.a = a, .options = options};
    if (lowered->kernel_count) bail(a, code_bad_input, (position){0, 0}, "fusion starts from a graph without kernels");
    f.b = build_copy(a, lowered, true);
    f.p = f.b.p;
    f.p->level = options->level;
    f.p->stacked = options->stacked;
    read_disabled(&f);
    begin(&f);
    run_passes(&f);
    if (options->check_once) fuse_finish(&f);
    fuse_notes(&f);
    return f.p;
}
