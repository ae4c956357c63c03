/* The public interface and nothing else. In: calls. Out: plans that own their arena. Refuses with a status and a text. */
#include "runtime/tfgen.h"
#include "runtime/compile.h"
#include <stdlib.h>
#include <string.h>

struct tfgen_plan {
    arena *arena;
    compiled compiled;
    const char *text, *manifest;
};

typedef struct plan_job {
    tfgen_plan *plan;
    const char *spec, *name;
    size_t size;
    const tfgen_plan_options *options;
} plan_job;

static void report(tfgen_error *error, const char *message)
{
    if (!error) return;
    strncpy(error->text, message, sizeof error->text - 1);
    error->text[sizeof error->text - 1] = '\0';
}

static void plan_body(void *argument)
{
    const plan_job *j = argument;
    const tfgen_plan_options *o = j->options;
    arena *a = j->plan->arena;
    dim_override *dims = arena_alloc(a, (o->dim_count + 1) * sizeof *dims);
    for (size_t i = 0; i < o->dim_count; i++) dims[i] = (dim_override){o->dims[i].name, o->dims[i].value};
    const compile_request request = {
        .text = arena_strndup(a, j->spec, j->size), .size = j->size, .name = arena_strdup(a, j->name),
        .target = o->target ? o->target : "host", .level = (fusion_level)o->fusion,
        .disabled = o->no_fuse, .disabled_count = o->no_fuse_count,
        .graph = {.preset = o->preset, .dtype = o->dtype, .overrides = dims, .override_count = o->dim_count}};
    compile_inside(a, &request, &j->plan->compiled);
    j->plan->text = ir_print(a, j->plan->compiled.plan->program);
    j->plan->manifest = manifest_json(a, j->plan->compiled.plan);
}

tfgen_status tfgen_plan_create(const char *spec, size_t size, const char *name, const tfgen_plan_options *options, tfgen_plan **out,
                               tfgen_error *error)
{
    tfgen_plan_options known = TFGEN_PLAN_OPTIONS_INIT;
    if (!spec || !name || !out || (options && options->size < sizeof options->size)) {
        report(error, "tfgen_plan_create: spec, name and plan must be given, and options.size set");
        return TFGEN_USAGE;
    }
    *out = NULL;
    if (options) {
        const size_t bytes = options->size < sizeof known ? options->size : sizeof known;
        memset(&known, 0, sizeof known);
        if (options->size < offsetof(tfgen_plan_options, no_fuse)) known.fusion = TFGEN_FUSION_TILE;
        memcpy(&known, options, bytes);
    }
    if (known.fusion < TFGEN_FUSION_NONE || known.fusion > TFGEN_FUSION_TILE) {
        report(error, "tfgen_plan_create: options.fusion is no tfgen_fusion");
        return TFGEN_USAGE;
    }
    tfgen_plan *plan = calloc(1, sizeof *plan);
    if (plan) plan->arena = arena_new();
    if (!plan || !plan->arena) {
        free(plan);
        report(error, "not enough memory");
        return TFGEN_NO_MEMORY;
    }
    plan_job job = {plan, spec, name, size, &known};
    const tfgen_code code = arena_run(plan->arena, plan_body, &job);
    if (code == code_ok) {
        *out = plan;
        return TFGEN_OK;
    }
    report(error, arena_diagnostics(plan->arena));
    tfgen_plan_free(plan);
    return (tfgen_status)code;
}

void tfgen_plan_free(tfgen_plan *plan)
{
    if (!plan) return;
    arena_free(plan->arena);
    free(plan);
}

static const launch *kernel_at(const tfgen_plan *plan, size_t index)
{
    const struct plan *p = plan ? plan->compiled.plan : NULL;
    return p && index < (size_t)p->launch_count ? &p->launches[index] : NULL;
}

size_t tfgen_plan_kernel_count(const tfgen_plan *plan) { return plan ? (size_t)plan->compiled.plan->launch_count : 0; }

const char *tfgen_plan_kernel_name(const tfgen_plan *plan, size_t index)
{
    const launch *l = kernel_at(plan, index);
    return l ? l->name : NULL;
}

const char *tfgen_plan_kernel_source(const tfgen_plan *plan, size_t index)
{
    const launch *l = kernel_at(plan, index);
    return l ? l->source : NULL;
}

const char *tfgen_plan_text(const tfgen_plan *plan) { return plan ? plan->text : NULL; }
const char *tfgen_plan_manifest(const tfgen_plan *plan) { return plan ? plan->manifest : NULL; }

int64_t tfgen_plan_workspace_bytes(const tfgen_plan *plan)
{
    return plan ? workspace_layout(plan->compiled.plan, &plan->compiled.plan->program->dims, NULL) : 0;
}

const char *tfgen_version(void) { return TFGEN_VERSION; }
