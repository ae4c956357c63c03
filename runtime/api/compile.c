/* In: spec text and a request. Out: the plan with its sources. Refuses what a stage refuses. compile_inside() has one line per stage.
 * --from=STAGE enters it lower down, with IR text printed by --dump=STAGE. */
#include "runtime/api/compile.h"
#include "gen/plan/predict.h"
#include "gen/plan/wisdom.h"
#include "ir/graph/layer_kinds.h"
#include <math.h>
#include <string.h>

const char *const stage_names[stage_count] = {"graph", "ir", "fuse", "plan", "source"};

typedef struct job {
    arena *a;
    const compile_request *request;
    compiled *out;
} job;

static void dump(const compile_request *r, stage at, const char *text)
{
    if (r->dump) r->dump(r->dump_context, at, text);
}

static bool wants(const compile_request *r, stage at) { return r->dump && (r->dump_stages >> at & 1); }

static const ir_graph *dumped(const job *j, stage at, const ir_graph *p)
{
    if (wants(j->request, at)) dump(j->request, at, ir_print(j->a, p));
    return p;
}

static void dump_source(const compile_request *r, const source_text *s)
{
    const char *const pieces[] = {s->head, s->templates, s->body};
    for (int i = 0; i < 3; i++) dump(r, stage_source, pieces[i]);
}

static void dump_sources(const compile_request *r, const plan *p)
{
    if (!wants(r, stage_source)) return;
    for (int i = 0; i < p->pack_count; i++) dump_source(r, &p->packs[i].source);
    for (int i = 0; i < p->launch_count; i++) dump_source(r, &p->launches[i].source);
}

void compile_dump(arena *a, const compile_request *r, const plan *p)
{
    if (wants(r, stage_plan)) dump(r, stage_plan, ir_print(a, p->ir));
    dump_sources(r, p);
}

const target_info *compile_target(arena *a, const char *name)
{
    const target_info *target = target_find(name);
    if (target) return target;
    size_t count;
    const target_info *list = target_list(&count);
    const char **names = arena_alloc(a, count * sizeof *names);
    text known = {.a = a};
    for (size_t i = 0; i < count; i++) {
        names[i] = list[i].name;
        text_printf(&known, "%s%s", i ? ", " : "", list[i].name);
    }
    const char *near = nearest_name(name, names, count);
    bail(a, code_usage, (position){0}, "unknown target %.40s%s. Targets: %s", name,
         near ? arena_printf(a, " (did you mean %s?)", near) : "", known.data);
}

static const device_model *of_target(arena *a, const device_model *d, const target_info *target)
{
    if (d->target != target)
        bail(a, code_usage, (position){0}, "device model %s belongs to target %s, not %s", d->name, d->target->name, target->name);
    return d;
}

const device_model *compile_device(arena *a, const compile_request *r, const target_info *target)
{
    if (!r->device_model) return NULL;
    if (!strchr(r->device_model, '\n')) return of_target(a, device_model_named(a, r->device_model), target);
    const char *path = r->device_file ? r->device_file : "device model";
    return of_target(a, device_model_read(a, r->device_model, strlen(r->device_model), path), target);
}

static const device_model *device_of(arena *a, const compile_request *r, const char *text_says, const target_info *target)
{
    if (text_says) return of_target(a, device_model_named(a, text_says), target);
    return r->device_label ? device_model_of(a, target, r->device_label) : device_model_default(a, target);
}

static ir_graph *read_one(const job *j, const spec_text *s)
{
    const compile_request *r = j->request;
    ir_graph *p = graph_read(j->a, s->text, s->size, s->name, &r->graph);
    for (int i = 0; r->at_most && i < p->dims.count; i++)
        if (p->dims.dims[i].dynamic && !p->dims.dims[i].step) p->dims.dims[i].high = p->dims.dims[i].value;
    return p;
}

/* Of several kinds of layers: the graph for all. The first spec is read last, as messages name the text read last. */
static const ir_graph *read_spec(const job *j)
{
    const compile_request *r = j->request;
    const spec_text first = {r->text, r->name, r->size};
    const size_t count = r->kind_count + 1;
    if (count == 1) return read_one(j, &first);
    if (count > most_layer_kinds)
        bail(j->a, code_unsupported, (position){0}, "kinds of layers in one launch: %zu kinds; a launch has at most %d", count,
             most_layer_kinds);
    if (!r->stacked) bail(j->a, code_usage, (position){0}, "kinds of layers need a stack");
    const ir_graph **kinds = arena_alloc(j->a, count * sizeof *kinds);
    const char **names = arena_alloc(j->a, count * sizeof *names);
    for (size_t i = 1; i < count; i++) kinds[i] = read_one(j, &r->kinds[i - 1]), names[i] = r->kinds[i - 1].name;
    kinds[0] = read_one(j, &first), names[0] = r->name;
    ir_graph *p = read_one(j, &first);
    kinds_join(j->a, p, kinds, names, (int)count);
    j->out->kinds = kinds;
    return p;
}

/* IR text of stages graph and ir consists of ops, that of stages fuse and plan of kernels. The reader can tell these two forms apart, but
 * not the two stages of a form. */
static const ir_graph *read_text(const job *j)
{
    const compile_request *r = j->request;
    if (!r->from_ir) return read_spec(j);
    const ir_graph *p = ir_read(j->a, r->text, r->size, r->name);
    if (r->from <= stage_ir && p->kernel_count)
        bail(j->a, code_bad_input, (position){0}, "this text has kernels: it is from stage fuse or plan, not %s", stage_names[r->from]);
    if (r->from > stage_ir && !p->kernel_count)
        bail(j->a, code_bad_input, (position){0}, "this text has no kernels: it is from stage graph or ir, not %s", stage_names[r->from]);
    return p;
}

/* Wisdom is keyed by device: its model, or the name that the driver reports if no model of the target matches. */
static const tuning *tuning_for(arena *a, const compile_request *r, const device_model *device)
{
    if (!r->tuning) return NULL;
    tuning *t = arena_alloc(a, sizeof *t);
    *t = *r->tuning;
    t->device = wisdom_device(a, device, r->device_label);
    return t;
}

/* ---- level auto */
typedef struct attempt {
    arena *a;
    const compile_request *request;
    double seconds; /* predicted */
    int launches;   /* launches of the plan; 0: the level has no plan */
} attempt;

static void attempt_inside(void *argument)
{
    attempt *t = argument;
    compiled c;
    double seconds;
    compile_inside(t->a, t->request, &c);
    if (plan_predict(t->a, c.plan, &seconds)) t->seconds = seconds;
    t->launches = c.plan->launch_count;
}

/* Predicts the plan at a level. */
static attempt attempt_at(arena *a, const compile_request *r, fusion_level level, const char **refused)
{
    compile_request one = *r;
    attempt t = {arena_new(), &one, INFINITY, 0};
    one.level = level, one.dump = NULL;
    if (!t.a) bail(a, code_device, (position){0}, "not enough memory");
    if (arena_run(t.a, attempt_inside, &t) != code_ok) *refused = arena_first_error(a, t.a);
    arena_free(t.a);
    return t;
}

/* Predicts levels tile and block. Tile is chosen if its plan has a single launch as well, or if block has no plan or is not faster. If
 * neither has a plan, tile is chosen too, and planning it then reports the reason. */
static struct level_choice choose_level(arena *a, const compile_request *r)
{
    struct level_choice c = {.made = true};
    const char *ignored = NULL;
    const attempt tile = attempt_at(a, r, fusion_tile, &ignored);
    c.tile = tile.seconds, c.block = INFINITY;
    if (tile.launches == 1) c.refused = "level tile has a single launch as well";
    else c.block = attempt_at(a, r, fusion_block, &c.refused).seconds;
    return c;
}

/* Compiles at the level chosen. IR texts of stages fuse and plan already have a level. */
static void compile_auto(arena *a, const compile_request *r, compiled *out)
{
    compile_request one = *r;
    const struct level_choice c = choose_level(a, r);
    one.level = c.block < c.tile ? fusion_block : fusion_tile;
    compile_inside(a, &one, out);
    out->plan->choice = c;
}

void compile_inside(arena *a, const compile_request *r, compiled *out)
{
    *out = (compiled){0};
    const job made = {a, r, out}, *j = &made;
    const stage from = r->from_ir ? r->from : stage_graph;
    if (r->level == fusion_auto && from <= stage_ir) {
        compile_auto(a, r, out);
        return;
    }
    const target_info *target = compile_target(a, r->target);
    const fuse_options fusion = {r->level, r->stacked, r->disabled, r->disabled_count, !r->check_passes};

    const device_model *device = compile_device(a, r, target); /* before read_text(): later messages name the text read last, which must be
                                                                * the spec */
    const ir_graph *p = read_text(j);
    if (!device) device = device_of(a, r, p->device, target);
    if (from == stage_graph) {
        j->out->graph = dumped(j, stage_graph, p);
        p = lower(a, p);
    }
    if (from <= stage_ir) p = fuse(a, dumped(j, stage_ir, p), &fusion);
    if (from <= stage_fuse) dumped(j, stage_fuse, p);
    j->out->plan = plan_choose(a, p, device, tuning_for(a, r, device));
    j->out->plan->followed = r->followed;
    dumped(j, stage_plan, j->out->plan->ir);
    emit(a, j->out->plan);
    dump_sources(r, j->out->plan);
}

static void spine(void *argument)
{
    const job *j = argument;
    compile_inside(j->a, j->request, j->out);
}

tfgen_code compile(arena *a, const compile_request *request, compiled *out)
{
    job j = {a, request, out};
    return arena_run(a, spine, &j);
}
