/* In: a spec, targets, shapes. Out: a static library with the code of every kernel for every target and shape, and a header; applications
 * that link it run on machines without a compiler. Exit code 4 when a target has no compiler here, 5 when a kernel does not compile. */
#include "runtime/cli/build.h"
#include "runtime/module/bundle.h"
#include "runtime/module/plan_code.h"
#include "runtime/host/host.h"
#include "runtime/system/parallel.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct built { /* one kernel for one target */
    const char *target, *kernel, *file, *source;
    const source_text *text; /* source, in pieces */
    const char *arch; /* for a GPU the target's name; for the host as bundle_host_arch() writes it */
    const char *level;
    code_result code;
    bool compiled, replaced; /* GPUs only; replaced: it spilled, and the plan was made again without its tile */
    char mark[spill_mark_size]; /* what the bundle gets in place of code if `replaced` */
    unsigned char *object;
    size_t object_size;
    host_status status;
    host_log log;
} built;

typedef struct built_plan { /* for a GPU */
    const plan *plan;
    const char *target;
    bool variant; /* a variant of a shape's plan: only its launches are built */
} built_plan;

typedef struct build_job {
    arena *a;
    const cli_options *o;
    const char *path, *name, *block;
    const char *spec;
    size_t spec_size;
    name_list targets, levels; /* levels: x86-64-v3, ... of the host's instruction set */
    build_shape *shapes, *variants; /* variants are built for every shape; only their dims are set */
    size_t shape_count, variant_count;
    built *list;
    size_t count, room;
    built_plan *plans;
    size_t plan_count;
    progress bar;
} build_job;

/* ---- options */
static void add_dim(build_job *j, const char *option, build_shape *s, dim_override *dims, const char *part)
{
    size_t one;
    const dim_override *given = options_dims(j->a, option, part, &one);
    for (size_t i = 0; i < one; i++) dims[s->dim_count++] = given[i];
}

/* "llama-1b:B=4:S=128": a preset, then dims, which override --preset and --dim. */
static build_shape shape_of(build_job *j, const char *given)
{
    size_t base;
    const dim_override *common = options_dims(j->a, "dim", j->o->dim, &base);
    dim_override *dims = arena_alloc(j->a, (base + strlen(given) + 1) * sizeof *dims);
    build_shape s = {.name = given, .preset = j->o->preset, .dims = dims, .dim_count = base};
    for (size_t i = 0; i < base; i++) dims[i] = common[i];
    for (const char *p = given; *p;) {
        const size_t n = strcspn(p, ":");
        const char *part = arena_strndup(j->a, p, n);
        if (strchr(part, '=')) add_dim(j, "shapes", &s, dims, part);
        else if (*part) s.preset = part;
        p += n + (p[n] == ':');
    }
    return s;
}

/* "B=1:S=128". */
static build_shape variant_of(build_job *j, const char *given)
{
    dim_override *dims = arena_alloc(j->a, (strlen(given) + 1) * sizeof *dims);
    build_shape s = {.name = given, .dims = dims};
    for (const char *p = given; *p;) {
        const size_t n = strcspn(p, ":");
        add_dim(j, "variants", &s, dims, arena_strndup(j->a, p, n));
        p += n + (p[n] == ':');
    }
    return s;
}

static void read_options(build_job *j)
{
    const name_list given = options_list(j->a, j->o->shapes);
    j->targets = options_list(j->a, j->o->target ? j->o->target : "host");
    j->shape_count = given.count ? given.count : 1;
    j->shapes = arena_alloc(j->a, j->shape_count * sizeof *j->shapes);
    for (size_t i = 0; i < j->shape_count; i++) j->shapes[i] = shape_of(j, given.count ? given.names[i] : "");
    const name_list variants = options_list(j->a, j->o->variants);
    j->variant_count = variants.count;
    j->variants = arena_alloc(j->a, (variants.count + 1) * sizeof *j->variants);
    for (size_t i = 0; i < variants.count; i++) j->variants[i] = variant_of(j, variants.names[i]);
    size_t known;
    const char *const *levels = bundle_host_levels(&known);
    j->levels = options_list(j->a, j->o->cpu ? j->o->cpu : known > 1 ? levels[1] : levels[0]);
    for (size_t i = 0; i < j->levels.count; i++) {
        bool found = false;
        for (size_t k = 0; k < known; k++) found = found || strcmp(levels[k], j->levels.names[i]) == 0;
        if (found) continue;
        text all = {.a = j->a};
        for (size_t k = 0; k < known; k++) text_printf(&all, "%s%s", k ? ", " : "", levels[k]);
        bail(j->a, j->o->cpu ? code_usage : code_unsupported, (position){0},
             "--cpu: no level of this machine's instruction set is called '%s'; levels are %s", j->levels.names[i],
             all.data ? all.data : "none");
    }
}

/* ---- what to compile: shapes may share kernels */
static built *find_built(const build_job *j, const char *target, const char *kernel, const source_text *text)
{
    for (size_t i = 0; i < j->count; i++)
        if (strcmp(j->list[i].target, target) == 0 && strcmp(j->list[i].kernel, kernel) == 0 && source_same(j->list[i].text, text))
            return &j->list[i];
    return NULL;
}

static built *add_built(build_job *j, const char *target, const char *kernel, const char *file, const source_text *text)
{
    if (find_built(j, target, kernel, text)) return NULL;
    if (j->count == j->room) {
        built *more = arena_alloc(j->a, (2 * j->room + 64) * sizeof *more);
        if (j->count) memcpy(more, j->list, j->count * sizeof *more);
        j->list = more, j->room = 2 * j->room + 64;
    }
    j->list[j->count] =
        (built){.target = target, .kernel = kernel, .file = file, .source = cli_whole_source(j->a, text), .text = text, .arch = target};
    return &j->list[j->count++];
}

static void add_kernel(build_job *j, const char *target, const char *kernel, const char *file, const source_text *text)
{
    if (strcmp(target, "host") != 0) {
        (void)add_built(j, target, kernel, file, text);
        return;
    }
    for (size_t i = 0; i < j->levels.count; i++) {
        char arch[48];
        bundle_host_arch(j->levels.names[i], arch);
        built *b = add_built(j, arena_strdup(j->a, arch), kernel, file, text);
        if (b) b->level = j->levels.names[i];
    }
}

static void add_plan(build_job *j, const plan *p, const char *target, bool variant)
{
    for (int i = 0; i < p->pack_count && !variant; i++)
        add_kernel(j, target, p->packs[i].name, arena_printf(j->a, "%s.hip", p->packs[i].name), &p->packs[i].source);
    for (int i = 0; i < p->launch_count; i++) add_kernel(j, target, p->launches[i].name, p->launches[i].file, &p->launches[i].source);
}

static void keep_plan(build_job *j, const plan *p, const char *target, bool variant)
{
    add_plan(j, p, target, variant);
    if (strcmp(target, "host") != 0) j->plans[j->plan_count++] = (built_plan){p, target, variant};
}

/* Refuses what tfgen_module_prepare() would refuse at run time. */
static void check_variant(build_job *j, const plan *of, const plan *p, const build_shape *v, const char *target)
{
    for (size_t i = 0; i < v->dim_count; i++) {
        const dim_table *dims = &of->ir->dims;
        const dim *d = dim_find((dim_table *)dims, v->dims[i].name);
        if (d && !d->dynamic && d->value != v->dims[i].value)
            bail(j->a, code_usage, (position){0}, "--variants: dim %s is not dynamic; another value of it is another shape", d->name);
    }
    for (int i = 0; i < p->pack_count; i++) {
        bool found = false;
        for (int k = 0; k < of->pack_count && !found; k++) found = strcmp(of->packs[k].signature, p->packs[i].signature) == 0;
        if (!found)
            bail(j->a, code_unsupported, (position){0},
                 "--variants: for %s at %s the packed weight of %s has another layout than the shape's; "
                                                        "make it a shape of its own", target, v->name, p->packs[i].name);
    }
}

static void plan_variant(build_job *j, const compile_request *of, const plan *p, const build_shape *v, const char *target)
{
    compile_request r = *of;
    compiled c;
    dim_override *dims = arena_alloc(j->a, (of->graph.override_count + v->dim_count + 1) * sizeof *dims);
    r.graph.override_count = 0;
    for (size_t i = 0; i < of->graph.override_count; i++) dims[r.graph.override_count++] = of->graph.overrides[i];
    for (size_t i = 0; i < v->dim_count; i++) dims[r.graph.override_count++] = v->dims[i];
    r.graph.overrides = dims, r.at_most = true;
    compile_inside(j->a, &r, &c);
    check_variant(j, p, c.plan, v, target);
    keep_plan(j, c.plan, target, true);
}

static void plan_shape(build_job *j, const build_shape *s, const char *target)
{
    cli_options o = *j->o;
    o.preset = s->preset, o.dim = NULL, o.target = NULL;
    compile_request r = cli_request(j->a, &o, j->path);
    compiled c;
    r.name = j->name, r.target = target;
    r.graph.overrides = s->dims, r.graph.override_count = s->dim_count;
    (void)graph_read(j->a, r.text, r.size, j->path, &r.graph); /* for errors with the full path; sources have only the file's name */
    compile_inside(j->a, &r, &c);
    j->block = c.plan->ir->name;
    j->spec = r.text, j->spec_size = r.size;
    keep_plan(j, c.plan, target, false);
    for (size_t i = 0; i < j->variant_count; i++) plan_variant(j, &r, c.plan, &j->variants[i], target);
}

/* ---- compiling */
static void free_built(void *job)
{
    build_job *j = job;
    for (size_t i = 0; i < j->count; i++) {
        code_result_free(&j->list[i].code);
        host_log_free(&j->list[i].log);
        free(j->list[i].object);
    }
}

typedef struct selection { /* kernels for one kind of compiler: the host's, or the GPUs' */
    build_job *j;
    built **items;
    size_t count;
} selection;

static selection select_built(build_job *j, bool host)
{
    selection s = {j, arena_alloc(j->a, (j->count + 1) * sizeof *s.items), 0};
    for (size_t i = 0; i < j->count; i++)
        if ((j->list[i].level != NULL) == host && !j->list[i].compiled) s.items[s.count++] = &j->list[i];
    return s;
}

static void count_code(void *context, size_t index, const code_result *result)
{
    const selection *s = context;
    (void)result;
    progress_step(&s->j->bar, s->items[index]->file);
}

static void compile_gpus(build_job *j, int jobs)
{
    selection s = select_built(j, false);
    code_request *requests = arena_alloc(j->a, (s.count + 1) * sizeof *requests);
    code_result *results = arena_alloc(j->a, (s.count + 1) * sizeof *results);
    bool *hit = arena_alloc(j->a, s.count + 1);
    for (size_t i = 0; i < s.count; i++)
        requests[i] = (code_request){.source = s.items[i]->source,
                                     .size = strlen(s.items[i]->source),
                                     .name = s.items[i]->file,
                                     .arch = s.items[i]->target};
    if (s.count) cache_compile_all(cli_cache(j->a, j->o), requests, s.count, jobs, results, hit, count_code, &s);
    for (size_t i = 0; i < s.count; i++) s.items[i]->code = results[i], s.items[i]->compiled = true;
}

/* If kernels of the plan spilled, makes it again without their tiles; false: there is no better plan. */
static bool plan_better(build_job *j, built_plan *b)
{
    const plan *p = b->plan;
    const code_result **results = arena_alloc(j->a, ((size_t)p->pack_count + (size_t)p->launch_count + 1) * sizeof *results);
    static const code_result not_built = {.status = build_ok};
    for (int i = 0; i < p->pack_count; i++)
        results[i] = b->variant ? &not_built : &find_built(j, b->target, p->packs[i].name, &p->packs[i].source)->code;
    for (int i = 0; i < p->launch_count; i++)
        results[p->pack_count + i] = &find_built(j, b->target, p->launches[i].name, &p->launches[i].source)->code;
    const plan *again = plan_without_spills(j->a, p, results, !b->variant);
    for (int i = 0; again && i < p->launch_count; i++) {
        built *old = find_built(j, b->target, p->launches[i].name, &p->launches[i].source);
        old->replaced |= code_spills(&old->code, NULL) && !source_same(&p->launches[i].source, &again->launches[i].source);
        if (old->replaced) spill_mark(&old->code, old->mark);
    }
    if (!again) return false;
    b->plan = again;
    add_plan(j, again, b->target, b->variant);
    return true;
}

static void make_gpus(build_job *j, int jobs)
{
    for (bool more = true; more;) {
        compile_gpus(j, jobs);
        more = false;
        for (size_t i = 0; i < j->plan_count; i++) more |= plan_better(j, &j->plans[i]);
        j->bar.total = (long long)j->count;
    }
    for (size_t i = 0; i < j->count; i++) {
        const built *b = &j->list[i];
        if (b->compiled && !b->replaced && b->code.status != build_ok)
            bail_with_log(j->a, code_exit(b->code.status), (position){0}, b->code.log ? b->code.log : "", "%s is not compiled for %s",
                          b->file, b->target);
    }
}

static void compile_host(void *context, size_t index)
{
    const selection *s = context;
    built *b = s->items[index];
    char flags[64];
    snprintf(flags, sizeof flags, "-march=%s", b->level);
    const host_compile_options o = {.name = b->file, .optimise = -1, .flags = flags};
    b->status = host_compile_object(b->source, strlen(b->source), &o, &b->object, &b->object_size, &b->log);
}

static void compile_hosts(build_job *j, int jobs)
{
    selection s = select_built(j, true);
    run_parallel(s.count, jobs, compile_host, &s);
    for (size_t i = 0; i < s.count; i++) {
        const built *b = s.items[i];
        if (b->status != HOST_OK)
            bail_with_log(j->a, b->status == HOST_NO_COMPILER ? code_unsupported : b->status == HOST_IO ? code_io : code_compile_failed,
                          (position){0}, b->log.text ? b->log.text : "", "%s is not compiled for %s", b->file, b->arch);
    }
}

/* ---- the bundle */
static void free_bytes(void *p) { free(p); }

static void write_products(build_job *j)
{
    bundle_code *codes = arena_alloc(j->a, (j->count + 1) * sizeof *codes);
    for (size_t i = 0; i < j->count; i++) {
        const built *b = &j->list[i];
        codes[i] = (bundle_code){b->arch, b->kernel, b->source, strlen(b->source), b->level ? b->object : b->code.code,
                                 b->level ? b->object_size : b->code.code_size};
        if (b->replaced) codes[i].code = b->mark, codes[i].size = sizeof b->mark;
    }
    unsigned char *bytes;
    size_t size;
    if (!bundle_write(codes, j->count, &bytes, &size)) bail(j->a, code_device, (position){0}, "not enough memory for the bundle");
    arena_defer(j->a, free_bytes, bytes);
    const char *folder = j->o->output ? j->o->output : ".";
    const build_library library = {.block = j->block,
                                   .identifier = build_identifier(j->a, j->block),
                                   .file = build_file(j->a, j->block),
                                   .spec_name = j->name,
                                   .spec = j->spec,
                                   .spec_size = j->spec_size,
                                   .bundle = bytes,
                                   .bundle_size = size,
                                   .shapes = j->shapes,
                                   .shape_count = j->shape_count,
                                   .variants = j->variants,
                                   .variant_count = j->variant_count,
                                   .dtype = j->o->dtype,
                                   .level = j->o->fusion ? options_level(j->a, j->o->fusion) : fusion_tile,
                                   .no_fuse = options_list(j->a, j->o->no_fuse),
                                   .tiles = options_lines(j->a, j->o->tile),
                                   .targets = j->targets};
    cli_make_folder(j->a, folder);
    const char *path = build_write_library(j->a, &library, folder), *header = arena_printf(j->a, "%s/%s.h", folder, library.file);
    build_write_header(j->a, &library, header);
    if (j->o->quiet) return;
    printf("%s: %zu kernels for %s and %s, %.1f MB, in %s; declared in %s\n", j->path, j->count,
           text_counted(j->a, (long long)j->targets.count, "target"), text_counted(j->a, (long long)j->shape_count, "shape"),
           (double)size * 1e-6, path, header);
}

static void build_spec(void *argument)
{
    build_job *j = argument;
    const char *slash = strrchr(j->path, '/');
    j->name = slash ? slash + 1 : j->path;
    read_options(j);
    const int jobs = (int)j->o->number.jobs;
    j->plans = arena_alloc(j->a, (j->targets.count * j->shape_count * (1 + j->variant_count) + 1) * sizeof *j->plans);
    for (size_t t = 0; t < j->targets.count; t++)
        for (size_t i = 0; i < j->shape_count; i++) plan_shape(j, &j->shapes[i], j->targets.names[t]);
    arena_defer(j->a, free_built, j);
    j->bar = progress_start("compiling", (long long)j->count);
    make_gpus(j, jobs);
    compile_hosts(j, jobs);
    progress_end(&j->bar);
    write_products(j);
}

int command_build_main(const cli_options *o)
{
    int worst = code_ok;
    for (int i = 0; i < o->file_count; i++) {
        build_job j = {.a = arena_new(), .o = o, .path = o->files[i]};
        const int code = cli_run(build_spec, &j, j.a);
        if (code > worst) worst = code;
    }
    return worst;
}
