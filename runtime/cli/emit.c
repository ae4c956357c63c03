/* In: a spec and options. Out: a folder with the plan, one source and spec header a kernel, the manifest, and with --code a code
 * object a kernel. Exit code 4 when a target has no compiler here, 5 when a kernel does not compile. */
#include "runtime/cli/cli.h"
#include "runtime/compiler.h"
#include <string.h>

typedef struct emit_job {
    arena *a;
    const cli_options *o;
    const char *path;
} emit_job;

/* Everything that is compiled: pack kernels, then launches. */
typedef struct unit { const char *name, *file, *source; } unit;

static int list_units(arena *a, const plan *p, unit **out)
{
    const int count = p->pack_count + p->launch_count;
    unit *units = arena_alloc(a, (size_t)(count + 1) * sizeof *units);
    int n = 0;
    for (int i = 0; i < p->pack_count; i++, n++)
        units[n] = (unit){p->packs[i].name, arena_printf(a, "%s.hip", p->packs[i].name), p->packs[i].source};
    for (int i = 0; i < p->launch_count; i++, n++) units[n] = (unit){p->launches[i].name, p->launches[i].file, p->launches[i].source};
    *out = units;
    return count;
}

static void write_sources(arena *a, const plan *p, const char *folder)
{
    unit *units;
    const int count = list_units(a, p, &units);
    cli_make_folder(a, folder);
    for (int i = 0; i < count; i++)
        cli_write_file(a, arena_printf(a, "%s/%s", folder, units[i].file), units[i].source, strlen(units[i].source));
    for (int i = 0; i < p->launch_count; i++)
        cli_write_file(a, arena_printf(a, "%s/%s.spec.h", folder, p->launches[i].name), p->launches[i].spec_header,
                       strlen(p->launches[i].spec_header));
    const char *text = ir_print(a, p->program), *manifest = manifest_json(a, p);
    cli_write_file(a, arena_printf(a, "%s/plan.ir", folder), text, strlen(text));
    cli_write_file(a, arena_printf(a, "%s/manifest.json", folder), manifest, strlen(manifest));
}

static compiler_kind compiler_of(arena *a, const char *name)
{
    compiler_kind kind = compiler_auto;
    if (name && !compiler_by_name(name, &kind))
        bail(a, code_usage, (position){0}, "--compiler: unknown compiler '%s'; compilers are auto, clang, hiprtc, nvrtc", name);
    return kind;
}

static void count_compiled(void *context, size_t index, const code_result *result)
{
    (void)index;
    progress_step(context, result->compiler ? result->compiler : "");
}

/* Facts of each kernel beside its code object, as the compiler's own metadata gives them. */
static void report_facts(const emit_job *j, const unit *u, const code_result *r)
{
    if (j->o->quiet) return;
    for (size_t k = 0; k < r->n_kernels; k++)
        printf("  %-28s %s: %u vgprs, %u sgprs, %u scratch, %u LDS bytes\n", u->name, r->compiler, r->kernels[k].vgprs,
               r->kernels[k].sgprs, r->kernels[k].scratch_bytes, r->kernels[k].lds_bytes);
}

static void compile_units(const emit_job *j, const plan *p, const char *folder)
{
    arena *a = j->a;
    unit *units;
    const int count = list_units(a, p, &units);
    const int jobs = (int)options_integer(a, "jobs", j->o->jobs, 1, 256, 0);
    code_request *requests = arena_alloc(a, (size_t)count * sizeof *requests);
    code_result *results = arena_alloc(a, (size_t)count * sizeof *results);
    const compiler_kind kind = compiler_of(a, j->o->compiler);
    for (int i = 0; i < count; i++)
        requests[i] = (code_request){.source = units[i].source, .size = strlen(units[i].source), .name = units[i].file,
                                     .arch = p->target->name, .compiler = kind};
    progress bar = progress_start("compiling", count);
    const code_status status = code_compile_all(requests, (size_t)count, jobs, results, count_compiled, &bar);
    progress_end(&bar);
    const char *extension = strncmp(p->target->name, "sm_", 3) == 0 ? "cubin" : "hsaco";
    for (int i = 0; i < count; i++) {
        if (results[i].code) {
            cli_write_file(a, arena_printf(a, "%s/%s.%s", folder, units[i].name, extension), results[i].code, results[i].code_size);
            report_facts(j, &units[i], &results[i]);
        } else fprintf(stderr, "%s for %s:\n%s\n", units[i].file, p->target->name, results[i].log ? results[i].log : "no message");
    }
    for (int i = 0; i < count; i++) code_result_free(&results[i]);
    if (status != build_ok) bail(a, code_exit(status), (position){0}, "kernels of %s were not all compiled for %s", p->program->name, p->target->name);
}

static void emit_target(const emit_job *j, compile_request r, const char *target, const char *folder)
{
    compiled c;
    r.target = target;
    compile_inside(j->a, &r, &c);
    write_sources(j->a, c.plan, folder);
    if (!j->o->quiet && !j->o->dump)
        printf("%s: %d kernels, %d packed weights for %s at level %s in %s\n", j->path, c.plan->launch_count, c.plan->pack_count, target,
               fusion_level_name(r.level), folder);
    if (j->o->code) compile_units(j, c.plan, folder);
}

static void emit_spec(void *argument)
{
    const emit_job *j = argument;
    arena *a = j->a;
    const compile_request r = cli_request(a, j->o, j->path);
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
    if (o->output && o->file_count > 1) {
        fputs("tfgen: -o takes one SPEC; give each its own call\n", stderr);
        return code_usage;
    }
    for (int i = 0; i < o->file_count; i++) {
        emit_job j = {arena_new(), o, o->files[i]};
        const int code = cli_run(emit_spec, &j, j.a);
        if (code > worst) worst = code;
    }
    return worst;
}
