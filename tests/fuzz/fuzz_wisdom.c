/* In: bytes read as a wisdom file. A finding: a plan fails with it, or its text does not read back. Wisdom may only change speed, so any
 * file must leave a spec plannable. */
#include "tests/fuzz/fuzz_pipeline.h"
#include "gen/plan/wisdom.h"
#include <stdlib.h>

static const char *const samples[] = {"tests/corpus/wisdom/*", NULL};
static const char *const tokens[] = {"gemm_wgmma", "gemm_mma", "gemm_simt",  "gemm_mfma", "rows=",   "keys=",  "sm_90a",
                                     "host",       "gfx942",   "h200",       "mi300x",    "m=",      "n=",     "stages=",
                                     "group_m=",     "threads=", "64",         "128",       "16",      "0",      "1048576",
                                     "@",          ": ",       " # us=",     "\n",        " ",       "wisdom 1\n", NULL};
enum { version_size = 8 };

/* Replaces versions by the current ones, or nearly all mutants would only be stale. */
static void repair(fuzz_input *input)
{
    arena *a = arena_new();
    for (int i = 1; i < program_count; i++) {
        const char *name = arena_printf(a, "%s@", program_table[i].name), *version = program_version((program_kind)i);
        const size_t size = strlen(name);
        for (size_t at = 0; at + size + version_size <= input->size; at++)
            if (memcmp(input->data + at, name, size) == 0 && (at == 0 || input->data[at - 1] == '\n'))
                memcpy(input->data + at + size, version, version_size);
    }
    arena_free(a);
}
const fuzz_kind fuzz_this = {.name = "fuzz_wisdom",
                             .samples = samples,
                             .tokens = tokens,
                             .most_bytes = 1 << 14,
                             .text = true,
                             .repair = repair,
                             .cases = 400};

static const char spec[] = "block: t\ndtype: bf16\ndims: {M: 512, K: 256, N: 512}\ndynamic: {M: [1, 4096]}\n"
                           "inputs: {x: [M, K]}\nparams: {w: [N, K], v: [K, N], n: [K]}\n"
                           "ops:\n  - {out: h, op: linear, in: [x, w]}\n  - {out: a, op: silu, in: [h]}\n"
                           "  - {out: y, op: linear, in: [a, v]}\n  - {out: z, op: rmsnorm, in: [y, n]}\noutputs: {z: z}\n";

static bool has_wisdom(const plan *p)
{
    for (int i = 0; i < p->launch_count; i++)
        if (p->launches[i].work->phase->from == tile_of_wisdom) return true;
    return false;
}

/* Lines that were used are used again after writing and reading them. */
static void check_lines(pipeline *t, const wisdom *w)
{
    text all = {.a = t->a};
    int used = 0;
    text_printf(&all, "%s", wisdom_head);
    for (int i = 0; i < w->count; i++)
        if (!w->list[i].stale) wisdom_put(&all, &w->list[i]), used++;
    const wisdom *again = wisdom_read(t->a, all.data, all.size);
    for (int i = 0; i < again->count; i++)
        if (again->list[i].stale) fuzz_finding("a line of wisdom that does not read back", again->list[i].stale);
    if (again->count != used) fuzz_finding("lines of wisdom that are lost", all.data);
}

static void body(void *argument)
{
    static const char *const targets[] = {"sm_90a", "gfx942", "host"};
    pipeline *t = argument;
    const target_info *target = target_find(targets[t->choice % 3]);
    const wisdom *w = wisdom_read(t->a, t->data, t->size);
    check_lines(t, w);
    ir_graph *p = fuse(t->a, lower(t->a, graph_read(t->a, spec, strlen(spec), "t.yaml", &(graph_options){0})),
                         &(fuse_options){.level = fusion_tile});
    plan *made = plan_choose(t->a, p, device_model_default(t->a, target), &(tuning){.wisdom = w});
    check_text(t, made->ir, "planned.ir");
    emit(t->a, made);
    check_plan(t, made);
    fuzz_taken += has_wisdom(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pipeline t = {.a = arena_new(), .data = (const char *)data, .size = size, .choice = fuzz_hash(data, size)};
    if (!t.a) return 0;
    if (arena_run(t.a, body, &t) != code_ok) fuzz_finding("wisdom that ends a plan", arena_diagnostics(t.a));
    arena_free(t.a);
    return 0;
}
