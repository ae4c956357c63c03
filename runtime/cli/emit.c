/* In: a spec and options. Out: a folder with the plan, a source and a spec header per kernel, the manifest, and with --code a code object
 * per kernel. Exit code 4 if a target has no compiler here, 5 if a kernel does not compile. */
#include "gen/source/by_hand.h"
#include "gen/base/names.h"
#include "gen/gen.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/emit_check.h"
#include "runtime/module/plan_code.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct emit_job {
    arena *a;
    const cli_options *o;
    const char *path;
    bool *noted; /* see emit_check */
    cache *cache; /* shared by all targets, so that it warns once */
} emit_job;

/* Everything that is compiled: pack kernels, then launches. */
typedef struct page {
    const char *file;
    const source_text *source;
    libclang_expected plan; /* what the plan says about its kernel */
    position at;            /* position in the spec of the kernel's first op */
} page;

static position place_of(const ir_phase *phase) { return phase->op_count ? phase->ops[0]->at : (position){0}; }

static int list_pages(arena *a, const plan *p, page **out)
{
    const int count = p->pack_count + p->launch_count;
    page *pages = arena_alloc(a, (size_t)(count + 1) * sizeof *pages);
    int n = 0;
    for (int i = 0; i < p->pack_count; i++, n++) {
        const packed_weight *k = &p->packs[i];
        pages[n] =
            (page){arena_printf(a, "%s.hip", k->name),
                   &k->source,
                   {k->name, name_marked(a, k->name, name_value), k->arguments, k->argument_count, k->argument_bytes, pack_shared_bytes},
                   place_of(k->phase)};
    }
    for (int i = 0; i < p->launch_count; i++, n++) {
        const launch *l = &p->launches[i];
        pages[n] =
            (page){l->file,
                   &l->source,
                   {l->name, name_marked(a, l->name, name_value), l->arguments, l->argument_count, l->argument_bytes, l->shared_bytes},
                   place_of(l->work->phase)};
    }
    *out = pages;
    return count;
}

static void write_sources(arena *a, const plan *p, const char *folder)
{
    page *pages;
    const int count = list_pages(a, p, &pages);
    cli_make_folder(a, folder);
    for (int i = 0; i < count; i++) {
        const source_text s = source_with_command(a, pages[i].source, p->target, pages[i].plan.kernel);
        cli_write_source(a, arena_printf(a, "%s/%s", folder, pages[i].file), &s);
    }
    for (int i = 0; i < p->launch_count; i++)
        cli_write_file(a, arena_printf(a, "%s/%s.spec.h", folder, p->launches[i].name), p->launches[i].spec_header,
                       strlen(p->launches[i].spec_header));
    const char *text = ir_print(a, p->ir);
    cli_write_file(a, arena_printf(a, "%s/plan.ir", folder), text, strlen(text));
}

static void count_more(void *context, int more)
{
    progress *bar = context;
    bar->total += more;
}

/* Cached kernels take no time, so they do not count for the ETA. */
static void count_compiled(void *context, const char *kernel, bool cached, bool good)
{
    progress *bar = context;
    (void)good;
    if (cached) bar->total--;
    else progress_step(bar, kernel);
}

/* The code object's facts must agree with the plan, whichever compiler made it. */
static void check_facts(const emit_job *j, const page *u, const code_result *r, bool hit)
{
    const libclang_expected *plan = &u->plan;
    spilled_tile s;
    if (code_spills(r, &s))
        bail(j->a, code_compile_failed, (position){0}, "%s: %s spilled: %d bytes of scratch a thread, %d vector spills", plan->kernel,
             r->compiler, s.scratch, s.vectors);
    for (size_t k = 0; k < r->n_kernels; k++) {
        const kernel_facts *f = &r->kernels[k];
        if (f->kernarg_bytes < plan->argument_bytes || f->kernarg_bytes > plan->argument_bytes + 256)
            bail(j->a, code_compile_failed, (position){0}, "%s: %s lays out %u bytes of arguments, the plan %u", plan->kernel, r->compiler,
                 f->kernarg_bytes, plan->argument_bytes);
        if (f->lds_bytes > (unsigned)plan->shared_bytes)
            bail(j->a, code_compile_failed, (position){0}, "%s: %s uses %u bytes of shared memory, the plan %d", plan->kernel, r->compiler,
                 f->lds_bytes, plan->shared_bytes);
        if (!j->o->quiet)
            printf("  %-28s %s: %u vgprs, %u sgprs, %u scratch, %u LDS bytes%s\n", plan->kernel, r->compiler, f->vgprs, f->sgprs,
                   f->scratch_bytes, f->lds_bytes, hit ? ", cached" : "");
    }
}

static json_t *facts_json(const char *file, const code_result *r)
{
    const kernel_facts *f = r->n_kernels ? &r->kernels[0] : &(kernel_facts){0};
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "file", file, "compiler", r->compiler, "vgprs", f->vgprs, "agprs", f->agprs,
                     "sgprs", f->sgprs, "scratch_bytes", f->scratch_bytes, "lds_bytes", f->lds_bytes);
}

/* The manifest of a folder with code objects has one more key, "code": what compiler made each, and what it needs. */
static void write_manifest(arena *a, const plan *p, const char *folder, json_t *code)
{
    json_t *manifest = cli_keep_json(a, json_loads(manifest_json(a, p), 0, NULL));
    if (code) json_object_set(manifest, "code", code);
    const char *text = cli_json_text(a, manifest, JSON_INDENT(2));
    cli_write_file(a, arena_printf(a, "%s/manifest.json", folder), text, strlen(text));
}

/* Checks sources that are not cached (those were checked when they were compiled). slot[i]: page i's index among the checked; -1:
 * cached. */
static emit_check check_pages(const emit_job *j, const plan_code *code, const page *pages, int *slot)
{
    arena *a = j->a;
    libclang_expected *expected = arena_alloc(a, (size_t)(code->count + 1) * sizeof *expected);
    code_request *missing = arena_alloc(a, (size_t)(code->count + 1) * sizeof *missing);
    int n = 0;
    for (int i = 0; i < code->count; i++) {
        slot[i] = code->hit[i] ? -1 : n;
        if (slot[i] < 0) continue;
        expected[n] = pages[i].plan;
        missing[n++] = code->requests[i];
    }
    return emit_check_start(a, missing, expected, n, (int)j->o->number.jobs, j->noted);
}

/* Bails with the kernel, its place in the spec and the log. */
static void not_compiled(const emit_job *j, const page *u, const code_result *r, const char *said, const char *target)
{
    complain(j->a, u->at, "%s is not compiled for %s; it begins with this op", u->file, target);
    bail_with_log(j->a, code_exit(r->status), (position){0}, arena_printf(j->a, "%s%s", said, r->log ? r->log : ""),
                  "%s: the compiler%s%s said:", u->file, r->compiler ? ", " : "", r->compiler ? r->compiler : "");
}

/* Prints which launches were planned again because a tile spilled; with --quiet only the manifest says so. */
static void tell_spilled(const emit_job *j, const plan *p)
{
    for (int i = 0; i < p->launch_count && !j->o->quiet; i++)
        for (int n = 0; n < p->launches[i].work_count; n++) {
            const ir_phase *phase = p->launches[i].work[n].phase;
            for (int k = 0; k < phase->spilled_count; k++)
                printf("  %-28s planned again: a tile spilled %d bytes of scratch a thread, %d vectors\n", p->launches[i].name,
                       phase->spilled[k].scratch, phase->spilled[k].vectors);
        }
}

/* Code of the plan. If kernels spill, the plan is made again, and its sources overwrite the first plan's. */
static const plan_code *make_code(const emit_job *j, const compile_request *r, const plan *p, const char *folder)
{
    compiler_kind kind = compiler_auto;
    if (j->o->compiler) (void)compiler_by_name(j->o->compiler, &kind); /* options_parse() refused other names */
    progress bar = progress_start("compiling", 0);
    const plan_code_options options = {.arch = p->target->name,
                                       .compiler = kind,
                                       .time_limit = (double)j->o->number.time_limit,
                                       .jobs = (int)j->o->number.jobs,
                                       .cache = j->cache,
                                       .begin = count_more,
                                       .done = count_compiled,
                                       .context = &bar};
    const plan_code *code = plan_code_make(j->a, p, &options);
    progress_end(&bar);
    if (code->plan == p) return code;
    compile_dump(j->a, r, code->plan);
    write_sources(j->a, code->plan, folder);
    tell_spilled(j, code->plan);
    return code;
}

static void compile_pages(const emit_job *j, const compile_request *request, const plan *first, const char *folder)
{
    arena *a = j->a;
    const plan_code *code = make_code(j, request, first, folder);
    const plan *p = code->plan;
    page *pages;
    list_pages(a, p, &pages);
    int *slot = arena_alloc(a, (size_t)(code->count + 1) * sizeof *slot);
    const emit_check check = check_pages(j, code, pages, slot);
    const char *extension = strncmp(p->target->name, "sm_", 3) == 0 ? "cubin" : "hsaco";
    json_t *facts = cli_keep_json(a, json_object());
    for (int i = 0; i < code->count; i++) {
        const code_result *r = &code->results[i];
        const char *said = slot[i] < 0 ? "" : emit_check_report(&check, slot[i], r), *name = pages[i].plan.kernel;
        if (r->status != build_ok) not_compiled(j, &pages[i], r, said, p->target->name);
        const char *file = arena_printf(a, "%s.%s", name, extension);
        check_facts(j, &pages[i], r, code->hit[i]);
        cli_write_file(a, arena_printf(a, "%s/%s", folder, file), r->code, r->code_size);
        json_object_set_new(facts, name, facts_json(file, r));
    }
    write_manifest(a, p, folder, facts);
}

static void emit_target(const emit_job *j, compile_request r, const char *target, const char *folder)
{
    compiled c;
    r.target = target;
    compile_inside(j->a, &r, &c);
    if (j->o->dump && !j->o->output && !j->o->code) return; /* --dump goes to standard output alone */
    write_sources(j->a, c.plan, folder);
    if (!j->o->quiet && !j->o->dump)
        printf("%s: %s, %s for %s at level %s in %s\n", j->path, text_counted(j->a, c.plan->launch_count, "kernel"),
               text_counted(j->a, c.plan->pack_count, "packed weight"), target, fusion_level_name(c.plan->ir->level), folder);
    if (j->o->code) compile_pages(j, &r, c.plan, folder);
    else write_manifest(j->a, c.plan, folder, NULL);
}

static void emit_spec(void *argument)
{
    emit_job *j = argument;
    arena *a = j->a;
    if ((j->o->compiler || j->o->time_limit) && !j->o->code)
        bail(a, code_usage, (position){0}, "--%s: nothing is compiled without --code", j->o->compiler ? "compiler" : "time-limit");
    j->cache = j->o->code ? cli_cache(a, j->o) : NULL;
    compile_request r = cli_request(a, j->o, j->path);
    if (j->o->then && !j->o->stack) bail(a, code_usage, (position){0}, "--then: kinds of layers share a stack's launch; it needs --stack");
    cli_layer_order(a, j->o, j->path, &r);
    name_list targets = options_list(a, j->o->target ? j->o->target : "host");
    const char *base = strrchr(j->path, '/') ? strrchr(j->path, '/') + 1 : j->path;
    const char *folder = j->o->output ? j->o->output : arena_printf(a, "%.*s.tfgen", (int)strcspn(base, "."), base);
    for (size_t i = 0; i < targets.count; i++) {
        if (j->o->code && strcmp(targets.names[i], "host") == 0)
            bail(a, code_usage, (position){0}, "--code: name a GPU target; the host compiles its kernels when they run");
        emit_target(j, r, targets.names[i], targets.count > 1 ? arena_printf(a, "%s/%s", folder, targets.names[i]) : folder);
    }
}

int command_emit_main(const cli_options *o)
{
    int worst = code_ok;
    bool noted = false;
    if (o->output && o->file_count > 1) {
        fputs("tfgen: -o takes one SPEC; give each its own call\n", stderr);
        return code_usage;
    }
    for (int i = 0; i < o->file_count; i++) {
        emit_job j = {arena_new(), o, o->files[i], &noted, NULL};
        const int code = cli_run(emit_spec, &j, j.a);
        if (code > worst) worst = code;
    }
    return worst;
}
