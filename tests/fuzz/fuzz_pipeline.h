/* What fuzzers of specs and of IR text share: a program goes through every stage to the end of emission, and each answer is one of those
 * that the command documents. Level and target follow from the input. */
#ifndef TFGEN_FUZZ_PIPELINE_H
#define TFGEN_FUZZ_PIPELINE_H
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "gen/gen.h"
#include "tests/fuzz/fuzzing.h"

typedef struct pipeline {
    arena *a;
    const char *data;
    size_t size;
    uint64_t choice;
    ir_graph *p;
    const char *text, *again, *why;
} pipeline;

static inline void check_text(pipeline *t, const ir_graph *p, const char *stage)
{
    t->text = ir_print(t->a, p);
    t->again = ir_print(t->a, ir_read(t->a, t->text, strlen(t->text), stage));
    if (strcmp(t->text, t->again) != 0) fuzz_finding("text does not read back to itself", t->text);
}

/* File and function names derive from the spec: none may escape its folder or its line of source. */
static inline void check_name(const char *name)
{
    const size_t n = strlen(name);
    if (!n || n > 200 || name[0] == '.' || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") != n)
        fuzz_finding("a name that a spec should not be able to make", name);
}

static inline void check_plan(pipeline *t, const plan *p)
{
    json_error_t error;
    json_t *manifest = json_loads(manifest_json(t->a, p), JSON_REJECT_DUPLICATES, &error);
    if (!manifest) fuzz_finding("a manifest that is no JSON", error.text);
    json_decref(manifest);
    if (!p->launch_count) fuzz_finding("a plan without a kernel", NULL);
    for (int i = 0; i < p->launch_count; i++) {
        const launch *l = &p->launches[i];
        check_name(l->name), check_name(l->file);
        if (!l->source.body || !l->spec_header || source_size(&l->source) < 100) fuzz_finding("a kernel without source", l->name);
        if (l->shared_bytes > p->target->lds_bytes || l->threads > p->target->max_threads || l->threads < 1 ||
            launch_grid(l, &p->ir->dims) < 1)
            fuzz_finding("a launch that its target cannot make", l->name);
        for (int k = 0; k < i; k++)
            if (!strcmp(p->launches[k].name, l->name) || !strcmp(p->launches[k].file, l->file))
                fuzz_finding("two kernels of one name", l->name);
    }
    for (int i = 0; i < p->pack_count; i++) check_name(p->packs[i].name);
    if (workspace_layout(p, &p->ir->dims, NULL) < 0) fuzz_finding("a workspace of less than nothing", NULL);
}

/* From a graph, or from lowered kernels, to sources. */
static inline void to_the_end(pipeline *t, ir_graph *p)
{
    static const fusion_level levels[] = {fusion_none, fusion_ops, fusion_tile, fusion_tile};
    size_t count;
    const target_info *targets = target_list(&count), *target = &targets[t->choice / 4 % count];
    check_text(t, p, "read.ir");
    if (!p->kernel_count) {
        p = lower(t->a, p);
        check_text(t, p, "lowered.ir");
        p = fuse(t->a, p, &(fuse_options){.level = levels[t->choice % 4]});
        check_text(t, p, "fused.ir");
    }
    plan *made = plan_choose(t->a, p, device_model_default(t->a, target), NULL);
    check_text(t, made->ir, "planned.ir");
    emit(t->a, made);
    check_plan(t, made);
}

/* Runs the target's body and judges how it ends. */
static inline void pipeline_run(const uint8_t *data, size_t size, void (*body)(void *))
{
    pipeline t = {.a = arena_new(), .data = (const char *)data, .size = size, .choice = fuzz_hash(data, size)};
    if (!t.a) return;
    const tfgen_code code = arena_run(t.a, body, &t);
    if (code != code_ok && code != code_bad_input && code != code_unsupported)
        fuzz_finding("an exit code that this does not have", arena_diagnostics(t.a));
    if ((code == code_ok) != (arena_diagnostics(t.a)[0] == 0))
        fuzz_finding("refused without a word, or not refused with words", arena_diagnostics(t.a));
    fuzz_taken += code == code_ok;
    arena_free(t.a);
}
#endif
