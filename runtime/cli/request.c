/* In: options. Out: compile requests. Refuses unknown levels, stages and fusions by name, with what is known. */
#include "runtime/cli/cli.h"
#include <string.h>

static void check_fusion_names(arena *a, name_list given)
{
    size_t count;
    const char *const *known = fusion_names(&count);
    for (size_t i = 0; i < given.count; i++) {
        bool found = false;
        for (size_t k = 0; k < count && !found; k++) found = strcmp(given.names[i], known[k]) == 0;
        if (found) continue;
        text all = {.a = a};
        for (size_t k = 0; k < count; k++) text_printf(&all, "%s%s", k ? ", " : "", known[k]);
        bail(a, code_usage, (position){0}, "--no-fuse: no fusion is called '%s'; fusions are %s", given.names[i], all.data);
    }
}

static stage stage_by_name(arena *a, const char *option, const char *name, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, stage_names[i]) == 0) return (stage)i;
    bail(a, code_usage, (position){0}, "--%s: no stage is called '%s'; stages are graph, ir, fuse, plan%s", option, name,
         count > stage_source ? ", source" : "");
}

static void print_stage(void *context, stage at, const char *text)
{
    (void)at;
    fputs(text, context);
}

static unsigned dump_stages(arena *a, const char *given)
{
    unsigned bits = 0;
    name_list list = options_list(a, given);
    for (size_t i = 0; i < list.count; i++) bits |= 1u << stage_by_name(a, "dump", list.names[i], stage_count);
    return bits;
}

compile_request cli_request(arena *a, const cli_options *o, const char *path)
{
    compile_request r = {.name = path, .target = o->target ? o->target : "host", .level = fusion_tile};
    size_t dims;
    const dim_override *overrides = options_dims(a, o->dim, &dims);
    name_list disabled = options_list(a, o->no_fuse);
    check_fusion_names(a, disabled);
    r.text = cli_read_file(a, path, &r.size);
    r.graph = (graph_options){o->preset, overrides, dims, o->dtype};
    if (o->fusion) r.level = options_level(a, o->fusion);
    r.disabled = disabled.names;
    r.disabled_count = disabled.count;
    if (o->from) {
        r.from_ir = true;
        r.from = stage_by_name(a, "from", o->from, stage_source);
        if (o->preset || o->dim || o->dtype)
            bail(a, code_usage, (position){0}, "--from: the IR text has its dimensions and dtype; --preset, --dim and --dtype need a spec");
        if (r.from >= stage_fuse && (o->fusion || o->no_fuse))
            bail(a, code_usage, (position){0}, "--from=%s: the IR text is fused already; --fusion and --no-fuse need graph or ir", o->from);
    }
    if (o->dump) {
        r.dump = print_stage;
        r.dump_context = stdout;
        r.dump_stages = dump_stages(a, o->dump);
    }
    return r;
}

int cli_run(void (*body)(void *), void *argument, arena *a)
{
    const tfgen_code code = arena_run(a, body, argument);
    fputs(arena_diagnostics(a), stderr);
    arena_free(a);
    return code;
}
