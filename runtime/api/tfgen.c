/* The public functions for plans. A plan owns its arena. */
#include "runtime/api/tfgen.h"
#include "runtime/module/variants.h"
#include "runtime/system/ranges.h"
#include "runtime/wisdom/wisdom_file.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct plan_job {
    tfgen_plan *plan;
    const char *spec, *name;
    size_t size;
    const tfgen_plan_options *options;
} plan_job;

/* Copied into the plan's arena: planning again, for variants or after spills, needs it. */
static const tuning *kept_tuning(arena *a, const tfgen_plan_options *o)
{
    const char **lines = arena_alloc(a, (o->tile_count + 1) * sizeof *lines);
    tuning *t = arena_alloc(a, sizeof *t);
    for (size_t i = 0; i < o->tile_count; i++) lines[i] = arena_strdup(a, o->tiles[i]);
    *t = (tuning){.lines = lines, .count = o->tile_count, .wisdom = wisdom_load(a, o->wisdom)};
    return t;
}

static const char *kept(arena *a, const char *text) { return text ? arena_strdup(a, text) : NULL; }

/* Copied into the plan's arena: tfgen_module_prepare() plans from it for other dims. */
static compile_request request_of(const plan_job *j)
{
    const tfgen_plan_options *o = j->options;
    arena *a = j->plan->arena;
    dim_override *dims = arena_alloc(a, (o->dim_count + 1) * sizeof *dims);
    const char **disabled = arena_alloc(a, (o->no_fuse_count + 1) * sizeof *disabled);
    for (size_t i = 0; i < o->dim_count; i++) dims[i] = (dim_override){kept(a, o->dims[i].name), o->dims[i].value};
    for (size_t i = 0; i < o->no_fuse_count; i++) disabled[i] = kept(a, o->no_fuse[i]);
    spec_text *kinds = arena_alloc(a, (o->kind_count + 1) * sizeof *kinds);
    for (size_t i = 0; i < o->kind_count; i++)
        kinds[i] = (spec_text){kept(a, o->kinds[i]), arena_printf(a, "%s of kind %zu", j->name, i + 1), strlen(o->kinds[i])};
    return (compile_request){.text = arena_strndup(a, j->spec, j->size),
                             .size = j->size,
                             .name = arena_strdup(a, j->name),
                             .target = arena_strdup(a, o->target ? o->target : "host"),
                             .level = (fusion_level)o->fusion,
                             .stacked = o->stack != 0,
                             .kinds = kinds,
                             .kind_count = o->kind_count,
                             .followed = o->followed != 0,
                             .device_model = kept(a, o->device_model),
                             .tuning = kept_tuning(a, o),
                             .disabled = disabled,
                             .disabled_count = o->no_fuse_count,
                             .graph = {.preset = kept(a, o->preset), .dtype = kept(a, o->dtype), .overrides = dims,
                                       .override_count = o->dim_count}};
}

static const char *warning_line(arena *a, const complaint *c)
{
    const char *file = c->file ? arena_printf(a, "%s:", text_harmless(a, c->file)) : "";
    const char *place = c->at.line ? arena_printf(a, "%d:%d: ", c->at.line, c->at.column) : *file ? " " : "";
    return arena_printf(a, "%s%swarning: %s", file, place, text_harmless(a, c->message ? c->message : "not enough memory for its source"));
}

static void keep_warnings(arena *a, tfgen_plan *plan)
{
    const complaint *c;
    int count = 0;
    while (arena_complaint(a, count)) count++;
    plan->warnings = arena_alloc(a, ((size_t)count + 1) * sizeof *plan->warnings);
    for (int i = 0; (c = arena_complaint(a, i)); i++)
        if (c->warning) plan->warnings[plan->warning_count++] = warning_line(a, c);
}

static void plan_body(void *argument)
{
    const plan_job *j = argument;
    arena *a = j->plan->arena;
    j->plan->request = request_of(j);
    compile_inside(a, &j->plan->request, &j->plan->compiled);
    j->plan->request.level = j->plan->compiled.plan->ir->level; /* also the level of variants, which share the weights */
    j->plan->text = ir_print(a, j->plan->compiled.plan->ir);
    j->plan->manifest = manifest_json(a, j->plan->compiled.plan);
    j->plan->tensors = tensors_of(a, j->plan->compiled.plan);
    keep_warnings(a, j->plan);
    j->plan->sources = arena_alloc(a, ((size_t)j->plan->compiled.plan->launch_count + 1) * sizeof *j->plan->sources);
}

/* False: the list or an item's string is NULL; `error` is set. */
static bool is_list(const char *name, const void *list, size_t count, size_t step, tfgen_error *error)
{
    if (count && !list)
        return device_report(error, TFGEN_USAGE, "tfgen_plan_create: options.%s is NULL, but its count is not 0", name), false;
    for (size_t i = 0; i < count; i++) /* each item is a string, or begins with one */
        if (!*(const char *const *)((const char *)list + i * step))
            return device_report(error, TFGEN_USAGE, "tfgen_plan_create: options.%s[%zu] is NULL, or has no name", name, i), false;
    return true;
}

tfgen_status tfgen_plan_create(const char *spec, size_t size, const char *name, const tfgen_plan_options *options, tfgen_plan **out,
                               tfgen_error *error)
{
    tfgen_plan_options known = TFGEN_PLAN_OPTIONS_INIT;
    if (!spec || !name || !out || !take_options(&known, sizeof known, options))
        return device_report(error, TFGEN_USAGE, "tfgen_plan_create: spec, name and plan must be given, and options.size set");
    *out = NULL;
    if (options && options->size < offsetof(tfgen_plan_options, fusion) + sizeof known.fusion) known.fusion = TFGEN_FUSION_TILE;
    if (known.fusion < TFGEN_FUSION_NONE || known.fusion > TFGEN_FUSION_AUTO)
        return device_report(error, TFGEN_USAGE, "tfgen_plan_create: options.fusion is not a tfgen_fusion value");
    if (known.stack && known.fusion != TFGEN_FUSION_BLOCK)
        return device_report(error, TFGEN_USAGE, "tfgen_plan_create: options.stack needs options.fusion TFGEN_FUSION_BLOCK");
    if (known.kind_count && !known.stack)
        return device_report(error, TFGEN_USAGE, "tfgen_plan_create: options.kinds needs options.stack");
    if (!is_list("dims", known.dims, known.dim_count, sizeof *known.dims, error) ||
        !is_list("no_fuse", known.no_fuse, known.no_fuse_count, sizeof *known.no_fuse, error) ||
        !is_list("tiles", known.tiles, known.tile_count, sizeof *known.tiles, error) ||
        !is_list("kinds", known.kinds, known.kind_count, sizeof *known.kinds, error))
        return TFGEN_USAGE;
    tfgen_plan *plan = calloc(1, sizeof *plan);
    if (plan) plan->arena = arena_new();
    if (!plan || !plan->arena) {
        free(plan);
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    }
    plan_job job = {plan, spec, name, size, &known};
    range_begin("tfgen plan", name);
    const tfgen_code code = arena_run(plan->arena, plan_body, &job);
    range_end();
    if (code == code_ok) {
        *out = plan;
        return TFGEN_OK;
    }
    const tfgen_status status = device_report_arena(error, code, plan->arena);
    tfgen_plan_free(plan);
    return status;
}

void tfgen_plan_free(tfgen_plan *plan)
{
    if (!plan) return;
    for (size_t i = 0; plan->sources && i < tfgen_plan_kernel_count(plan); i++) free(plan->sources[i]);
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
    char *known = l ? plan->sources[index] : NULL, *made = l && !known ? source_whole(&l->source) : NULL;
    if (!made || atomic_compare_exchange_strong(&plan->sources[index], &known, made)) return made ? made : known;
    free(made); /* another thread has joined the same source meanwhile */
    return known;
}

const char *tfgen_plan_text(const tfgen_plan *plan) { return plan ? plan->text : NULL; }
const char *tfgen_plan_manifest(const tfgen_plan *plan) { return plan ? plan->manifest : NULL; }


size_t tfgen_plan_warning_count(const tfgen_plan *plan) { return plan ? plan->warning_count : 0; }
const char *tfgen_plan_warning(const tfgen_plan *plan, size_t index)
{
    return index < tfgen_plan_warning_count(plan) ? plan->warnings[index] : NULL;
}

int64_t tfgen_plan_workspace_bytes(const tfgen_plan *plan)
{
    return plan ? workspace_layout(plan->compiled.plan, &plan->compiled.plan->ir->dims, NULL) : 0;
}

int64_t tfgen_workspace_bytes(const tfgen_plan *plan, const tfgen_dim *dims, size_t dim_count)
{
    dim_table taken;
    if (!plan || (dim_count && !dims) || dims_take(plan->compiled.plan, dims, dim_count, &taken, NULL) != TFGEN_OK) return -1;
    return workspace_layout(plan->compiled.plan, &taken, NULL);
}

/* ---- tensors */
size_t tfgen_plan_tensor_count(const tfgen_plan *plan) { return plan ? (size_t)plan->tensors.count : 0; }

static const char *tensor_name(const ir_value *v) { return v->output ? v->output : v->name; }

tfgen_status tfgen_plan_tensor(const tfgen_plan *plan, size_t index, tfgen_tensor *out)
{
    tfgen_tensor t = {.size = sizeof t};
    if (!plan || !out || out->size < sizeof out->size || index >= (size_t)plan->tensors.count) return TFGEN_USAGE;
    const ir_value *v = plan->tensors.values[index];
    const dim_table *dims = &plan->compiled.plan->ir->dims;
    t.name = tensor_name(v);
    t.kind = tensor_kind_of(v);
    t.dtype = dtype_name(v->type);
    t.rank = v->rank;
    for (int i = 0; i < v->rank; i++) t.shape[i] = extent_value(&v->shape[i], dims);
    t.bytes = value_span(v, dims) * dtype_size(v->type);
    t.row_stride = value_stride_at(v, dims);
    t.row_stride_dim = v->step ? v->step->name : NULL;
    t.from = v->from;
    t.from_transposed = v->from_transposed;
    if (v->from_rows) t.from_row_first = v->from_rows->first, t.from_row_end = v->from_rows->end, t.from_row_group = v->from_rows->every;
    give_struct(out, out->size, &t, sizeof t);
    return TFGEN_OK;
}

size_t tfgen_plan_tensor_index(const tfgen_plan *plan, const char *name, tfgen_tensor_kind kind)
{
    for (int i = 0; plan && name && i < plan->tensors.count; i++)
        if (tensor_kind_of(plan->tensors.values[i]) == kind && strcmp(tensor_name(plan->tensors.values[i]), name) == 0) return (size_t)i;
    return (size_t)-1;
}

/* ---- statuses: the public header's values equal those in code.def */
_Static_assert((int)TFGEN_OK == (int)code_ok && (int)TFGEN_USAGE == (int)code_usage && (int)TFGEN_BAD_INPUT == (int)code_bad_input, "");
_Static_assert((int)TFGEN_UNSUPPORTED == (int)code_unsupported && (int)TFGEN_COMPILE_FAILED == (int)code_compile_failed, "");
_Static_assert((int)TFGEN_DEVICE_ERROR == (int)code_device && (int)TFGEN_IO == (int)code_io, "");

const char *tfgen_status_text(tfgen_status status)
{
    switch ((tfgen_code)status) {
#define CODE(name, number, brief, text) \
    case code_##name: return text;
#include "ir/base/code.def"
    }
    return "unknown status";
}

const char *tfgen_version(void) { return TFGEN_VERSION; }
