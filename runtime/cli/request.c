/* In: options. Out: compile requests. Refuses unknown levels, stages and fusions, and lists the known ones. */
#include "runtime/cli/cli.h"
#include "runtime/cli/options_table.h"
#include "runtime/device/device.h"
#include "runtime/wisdom/wisdom_file.h"
#include <string.h>

void cli_check_fusions(arena *a, const char *option, name_list given)
{
    size_t count;
    const char *const *known = fusion_names(&count);
    for (size_t i = 0; i < given.count; i++) {
        bool found = false;
        for (size_t k = 0; k < count && !found; k++) found = strcmp(given.names[i], known[k]) == 0;
        if (found) continue;
        text all = {.a = a};
        for (size_t k = 0; k < count; k++) text_printf(&all, "%s%s", k ? ", " : "", known[k]);
        const char *near = nearest_name(given.names[i], known, count);
        bail(a, code_usage, (position){0}, "--%s: no fusion is called '%s'%s; fusions are %s", option, given.names[i],
             nearest_hint(a, near), all.data);
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

/* Sets a device model's name, or the text of its file if `given` is a path (has a slash or a dot). */
void cli_device_model(arena *a, const char *given, compile_request *r)
{
    size_t size;
    r->device_model = given;
    if (!given || !strpbrk(given, "/.")) return;
    r->device_model = arena_printf(a, "%s\n", cli_read_file(a, given, &size));
    r->device_file = given;
    if (strlen(r->device_model) != size + 1) bail(a, code_bad_input, (position){0}, "%s: it has a NUL character", given);
}

static const tuning *tuning_of(arena *a, const cli_options *o)
{
    const name_list lines = options_lines(a, o->tile);
    tuning *t = arena_alloc(a, sizeof *t);
    *t = (tuning){.lines = lines.names,
                  .count = lines.count,
                  .wisdom = wisdom_load(a, o->command == command_build ? "none" : o->wisdom),
                  .trace = o->trace != NULL};
    return t;
}

compile_request cli_request(arena *a, const cli_options *o, const char *path)
{
    size_t size;
    const char *text = cli_read_file(a, path, &size);
    return cli_request_text(a, o, path, text, size);
}

compile_request cli_request_text(arena *a, const cli_options *o, const char *name, const char *text, size_t size)
{
    compile_request r = {.name = name, .text = text, .size = size, .target = o->target ? o->target : "host", .level = fusion_tile};
    size_t dims;
    const dim_override *overrides = options_dims(a, "dim", o->dim, &dims);
    name_list disabled = options_list(a, o->no_fuse);
    cli_check_fusions(a, "no-fuse", disabled);
    cli_device_model(a, o->device_model, &r);
    r.tuning = tuning_of(a, o);
    r.graph = (graph_options){o->preset, overrides, dims, o->dtype};
    if (o->fusion) r.level = options_level(a, o->fusion);
    if (o->stack && o->fusion && r.level != fusion_block)
        bail(a, code_usage, (position){0}, "--fusion=%s: a stack is of level block", o->fusion);
    if (o->stack) r.level = fusion_block, r.stacked = true;
    r.disabled = disabled.names;
    r.disabled_count = disabled.count;
    if (o->from) {
        r.from_ir = true;
        r.from = stage_by_name(a, "from", o->from, stage_source);
        if (o->preset || o->dim || o->dtype)
            bail(a, code_usage, (position){0}, "--from: the IR text has its dimensions and dtype; --preset, --dim and --dtype need a spec");
        if (r.from >= stage_fuse && o->stack)
            bail(a, code_usage, (position){0}, "--from=%s: the IR text says whether it is of a stack; --stack needs graph or ir", o->from);
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

layer_order cli_layer_order(arena *a, const cli_options *o, const char *path, compile_request *r)
{
    const name_list list = options_list(a, o->then);
    const char **paths = arena_alloc(a, (list.count + 1) * sizeof *paths);
    spec_text *kinds = arena_alloc(a, (list.count + 1) * sizeof *kinds);
    layer_order order = {arena_alloc(a, (list.count + 1) * sizeof *order.kind_of), (int)list.count + 1};
    if (o->then && r->from_ir) bail(a, code_usage, (position){0}, "--then: IR text has its kinds of layers; --then needs a spec");
    paths[0] = path, order.kind_of[0] = 0;
    int known = 1;
    for (size_t i = 0; i < list.count; i++) {
        int kind = 0;
        while (kind < known && strcmp(paths[kind], list.names[i]) != 0) kind++;
        order.kind_of[i + 1] = kind;
        if (kind < known) continue;
        paths[known] = list.names[i];
        kinds[known - 1].text = cli_read_file(a, list.names[i], &kinds[known - 1].size);
        kinds[known++ - 1].name = list.names[i];
    }
    r->kinds = kinds, r->kind_count = (size_t)known - 1;
    return order;
}

void cli_layer_of_weights(arena *a, const cli_options *o)
{
    if (o->layer && !o->weights) bail(a, code_usage, (position){0}, "--layer selects a layer of --weights, and --weights is not given");
}

void cli_one_target(arena *a, const cli_options *o)
{
    if (o->target && strchr(o->target, ','))
        bail(a, code_usage, (position){0}, "--target: one target here, not '%s'; emit, build and verify take several", o->target);
}

const char *cli_target(arena *a, const cli_options *o, const compile_request *r)
{
    static const char usual[] = "sm_90a";
    cli_one_target(a, o);
    if (o->target) return o->target;
    if (!r->device_model) return usual;
    if (!strchr(r->device_model, '\n')) return device_model_named(a, r->device_model)->target->name;
    return device_model_read(a, r->device_model, strlen(r->device_model), r->device_file)->target->name;
}

const char *cli_first_line(arena *a, const char *log)
{
    enum { most = 300 };
    const size_t size = log ? strcspn(log, "\n") : 0;
    return text_harmless(a, arena_strndup(a, log ? log : "", size < most ? size : most));
}

/* ---- the graph of IR text */
static const char *kind_name(const ir_value *v)
{
    return v->output ? "output" : v->kind == value_input ? "input" : v->kind == value_param ? "parameter" : "state";
}

/* True for inputs, params, states and outputs. */
static bool is_outside(const ir_value *v) { return v->kind < value_constant || v->output; }

static bool same_tensor(const ir_value *x, const ir_value *y, const dim_table *dims)
{
    if (!y || x->type != y->type || x->rank != y->rank || (x->kind < value_constant && x->kind != y->kind)) return false;
    for (int i = 0; i < x->rank; i++)
        if (extent_value(&x->shape[i], dims) != extent_value(&y->shape[i], dims)) return false;
    return true;
}

static const ir_value *counterpart(const ir_graph *p, const ir_value *v)
{
    if (!v->output) return graph_value(p, v->name);
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->output && strcmp(p->values[i]->output, v->output) == 0) return p->values[i];
    return NULL;
}

static void must_have(arena *a, const cli_options *o, const ir_graph *whose, const ir_graph *other)
{
    for (int i = 0; i < whose->value_count; i++) {
        const ir_value *v = whose->values[i];
        if (!is_outside(v) || same_tensor(v, counterpart(other, v), &whose->dims)) continue;
        bail(a, code_usage, (position){0},
             "--spec=%s: the text was made of another spec; they do not both have the %s %s with the same dtype and shape", o->spec,
             kind_name(v), v->output ? v->output : v->name);
    }
}

static const ir_graph *read_graph(arena *a, const cli_options *o, const ir_graph *p)
{
    dim_override *dims = arena_alloc(a, ((size_t)p->dims.count + 1) * sizeof *dims);
    size_t size;
    for (int i = 0; i < p->dims.count; i++) dims[i] = (dim_override){p->dims.dims[i].name, p->dims.dims[i].value};
    const graph_options options = {NULL, dims, (size_t)p->dims.count, dtype_name(p->type)};
    const char *yaml = cli_read_file(a, o->spec, &size);
    return graph_read(a, yaml, size, o->spec, &options);
}

const ir_graph *cli_graph(arena *a, const cli_options *o, const compiled *c)
{
    if (o->spec && c->graph) bail(a, code_usage, (position){0}, "--spec: the text is a graph itself; it is for --from=ir, fuse and plan");
    if (c->graph || !o->spec) return c->graph;
    const ir_graph *p = c->plan->ir, *graph = read_graph(a, o, p);
    must_have(a, o, graph, p);
    must_have(a, o, p, graph);
    return graph;
}

int cli_run(void (*body)(void *), void *argument, arena *a)
{
    const tfgen_code code = arena_run(a, body, argument);
    fputs(arena_warnings(a), stderr);
    fputs(arena_diagnostics(a), stderr);
    arena_free(a);
    return code;
}

int cli_worse(int x, int y)
{
    if (x == code_unjudged) return y == code_ok ? x : y;
    if (y == code_unjudged) return x == code_ok ? y : x;
    return x > y ? x : y;
}

/* ---- one spec, one device */
bool cli_is_one_spec(const cli_options *o)
{
    const command_info *command = &all_commands[o->command];
    if (o->file_count <= 1) return true;
    fprintf(stderr, "tfgen: %s takes one %s; give each its own call\n", command->name, command->arguments);
    return false;
}

_Noreturn void cli_device_bails(arena *a, tfgen_status status, const char *what, const tfgen_error *error, const char *log)
{
    const size_t first = strcspn(error->text, "\n");
    const char *rest = error->text + first + (error->text[first] != 0);
    bail_with_log(a, (tfgen_code)status, (position){0}, log && *log ? log : rest, "%s%.*s", what, (int)first, error->text);
}

static void close_device(void *d) { tfgen_device_close(d); }

tfgen_device *cli_open_host(arena *a, const char *target, unsigned workers)
{
    const target_info *as = compile_target(a, target);
    const host_device_options options = {.target = as->vendor == vendor_host ? NULL : as, .guard = true, .workers = workers};
    tfgen_device *device;
    tfgen_error error;
    const tfgen_status status = host_device_open(&options, &device, &error);
    if (status != TFGEN_OK) cli_device_bails(a, status, "the host engine: ", &error, NULL);
    arena_defer(a, close_device, device);
    return device;
}

/* Opens a device. For the host, signals (a kernel's invalid access) are caught and become errors of the command; the library's own host
 * device leaves signals to the application. */
tfgen_device *cli_open_device(arena *a, const char *name)
{
    tfgen_device *device;
    tfgen_error error;
    const tfgen_status status = tfgen_device_open(name, &device, &error);
    if (status != TFGEN_OK) cli_device_bails(a, status, "--device: ", &error, NULL);
    if (device->api == &host_device) {
        tfgen_device_close(device);
        return cli_open_host(a, "host", 0);
    }
    arena_defer(a, close_device, device);
    if (!*device->info.target)
        bail(a, code_unsupported, (position){0}, "--device: tfgen has no target for %s (%s)", device->info.name, device->info.label);
    return device;
}

const device_model *cli_peaks(arena *a, const cli_options *o, const device_model *d, const tfgen_device *device)
{
    const bool matches = !d->match || strstr(device->info.label, d->match);
    if (!matches && o->device_model)
        bail(a, code_usage, (position){0}, "--device-model=%s is for a device that is called '%s'; this one is '%s'", o->device_model,
             d->match, device->info.label);
    return matches && d->numbers[number_bandwidth].value > 0 ? d : NULL;
}
