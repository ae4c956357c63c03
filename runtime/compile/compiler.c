/* In: requests. Out: for each the result of the compiler for its architecture and kind; the code object is parsed and must be for that
 * architecture. Refuses names and architectures with characters that are unsafe in a command line. */
#define _GNU_SOURCE
#include "runtime/compile/compiler.h"
#include "gen/source/by_hand.h"
#include "runtime/compile/page_places.h"
#include "runtime/system/parallel.h"
#include "runtime/compile/worker.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct tool {
    compiler_kind kind;
    const char *name;
    char *(*find)(void);
    const char *missing; /* what to install */
    const char *const *flags;
    const char *beside[3]; /* helper programs in the same folder */
} tool;

static const tool tools[] = {
    {compiler_clang, "clang", clang_find,
     "no clang on the PATH (Debian: apt install clang-22 lld-22; or set TFGEN_CLANG)", clang_flags, {"lld"}},
    {compiler_hiprtc, "hiprtc", hiprtc_find,
     "no HIPRTC (Debian: apt install libamdhip64-5; or ROCm; or set TFGEN_HIPRTC)", hiprtc_flags,
     {"libamd_comgr.so.2", "libamd_comgr.so.3"}},
    {compiler_nvrtc, "nvrtc", nvrtc_find,
     "no libnvrtc.so.13 or .12 (a CUDA toolkit; set CUDA_HOME or TFGEN_NVRTC when it is elsewhere)", nvrtc_flags, {NULL}},
};

bool compiler_by_name(const char *name, compiler_kind *out)
{
    *out = compiler_auto;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (!strcmp(tools[i].name, name)) return *out = tools[i].kind, true;
    return !strcmp(name, "auto");
}

tfgen_code code_exit(code_status s)
{
    static const tfgen_code codes[] = {[build_ok] = code_ok,
                                       [build_unsupported] = code_unsupported,
                                       [build_failed] = code_compile_failed,
                                       [build_timed_out] = code_compile_failed,
                                       [build_crashed] = code_compile_failed,
                                       [build_io] = code_io};
    return codes[s];
}

static bool is_nvidia(const char *arch) { return !strncmp(arch, "sm_", 3); }

/* Whether a request of this kind may use the tool; auto tries them in the table's order. */
static bool serves(const tool *t, const char *arch, compiler_kind kind)
{
    return is_nvidia(arch) == (t->kind == compiler_nvrtc) && (kind == compiler_auto || kind == t->kind);
}

static void set_log(code_result *r, char *log)
{
    free(r->log);
    r->log = log;
}

/* Adds a line to the log. */
static void add_log(code_result *r, const char *line) { set_log(r, printed("%s%s\n", r->log ? r->log : "", line)); }

/* Architecture and name become arguments and a #line directive: nothing may end them early. */
static bool fit(const code_request *q, code_result *r)
{
    const size_t arch = strlen(q->arch), name = strlen(q->name);
    const bool arch_fits = arch > 3 && arch < 64 &&
                           strspn(q->arch, "abcdefghijklmnopqrstuvwxyz0123456789_:+-") == arch &&
                           (is_nvidia(q->arch) || !strncmp(q->arch, "gfx", 3));
    bool name_fits = name > 0 && name < 400;
    for (size_t i = 0; i < name; i++)
        name_fits = name_fits && (unsigned char)q->name[i] >= ' ' && !strchr("\"\\\177", q->name[i]);
    if (arch_fits && name_fits) return true;
    r->status = arch_fits ? build_failed : build_unsupported;
    if (!arch_fits)
        set_log(r, printed("%s: '%.64s' is not a GPU architecture; AMD's begin with gfx, NVIDIA's with sm_\n",
                           name_fits ? q->name : "source", q->arch));
    else
        set_log(r, printed("a kernel's file name may hold neither quotes, backslashes nor control characters\n"));
    return false;
}

/* The answer's bytes as a code object, unbundled. */
static bool take_code(const code_request *q, worker_answer *answer, code_result *r, codeobject *object)
{
    const unsigned char *inner;
    char error[codeobject_error_size];
    const size_t base = strcspn(q->arch, ":");
    if (!codeobject_unbundle(answer->data, answer->size, q->arch, &inner, &r->code_size)) {
        add_log(r, "the compiler's offload bundle has no device code");
        return false;
    }
    if (!codeobject_read(inner, r->code_size, object, error)) {
        add_log(r, error);
        return false;
    }
    memmove(answer->data, inner, r->code_size);
    r->code = answer->data;
    answer->data = NULL;
    /* code compiled for sm_90a names its architecture sm_90 */
    const size_t said = strlen(object->arch);
    if (is_nvidia(q->arch) ? said <= base && said + 1 >= base && !strncmp(object->arch, q->arch, said)
                           : said == base && !strncmp(object->arch, q->arch, base))
        return true;
    char *line = printed("%s: asked for %s, the compiler made code for %s", q->name, q->arch, object->arch);
    add_log(r, line ? line : "wrong architecture");
    free(line);
    return false;
}

static code_status finish(const tool *t, const code_request *q, worker_answer *answer, code_result *r)
{
    codeobject object = {0};
    bool ok = take_code(q, answer, r, &object);
    r->kernels = object.kernels;
    r->n_kernels = object.n_kernels;
    if (t->kind == compiler_clang && *object.producer) {
        free(r->compiler);
        r->compiler = strdup(object.producer);
    }
    if (ok && t->kind == compiler_nvrtc && r->log) ok = nvrtc_read_log(&r->log, q->name, r->kernels, r->n_kernels);
    if (ok) return build_ok;
    free(r->code);
    r->code = NULL;
    r->code_size = 0;
    return build_failed;
}

static const char *base_name(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

static void run_tool(const tool *t, const char *path, const code_request *q, code_result *r)
{
    const worker_call call = {.mode = t->name,
                              .tool = path,
                              .arch = q->arch,
                              .name = q->name,
                              .source = q->source,
                              .size = q->size,
                              .line_directive = true,
                              .time_limit = q->time_limit > 0 ? q->time_limit : compiler_time_limit};
    worker_answer answer;
    r->status = worker_run(&call, &answer);
    r->compiler = answer.compiler ? answer.compiler : strdup(base_name(path));
    set_log(r, answer.log);
    answer.compiler = answer.log = NULL;
    if (r->status == build_ok)
        r->status = finish(t, q, &answer, r);
    else if (t->kind == compiler_nvrtc && r->log)
        nvrtc_read_log(&r->log, q->name, NULL, 0);
    if (r->status == build_failed && t->kind == compiler_clang && r->log && clang_log_says_unsupported(r->log)) {
        r->status = build_unsupported;
        char *line = printed(
            "%s: %s cannot compile for %s: a newer clang, with its lld, is needed (apt install clang-22 lld-22)",
            q->name, r->compiler ? r->compiler : t->name, q->arch);
        add_log(r, line ? line : "");
        free(line);
    }
    worker_answer_free(&answer);
}

/* Tries a tool; keeps the logs of earlier tools of an auto request, so that "unsupported" explains all of them. */
static void try_tool(const tool *t, const code_request *q, code_result *r)
{
    char *before = r->log, *path = t->find();
    r->log = NULL;
    free(r->compiler);
    r->compiler = NULL;
    if (path)
        run_tool(t, path, q, r);
    else
        r->status = build_unsupported, set_log(r, printed("%s: %s: %s\n", q->name, q->arch, t->missing));
    if (r->status == build_unsupported && before) set_log(r, printed("%s%s", before, r->log ? r->log : ""));
    free(before);
    free(path);
}

code_status code_compile(const code_request *q, code_result *r)
{
    *r = (code_result){.status = build_unsupported};
    if (!fit(q, r)) return r->status;
    bool any = false;
    for (size_t i = 0; i < sizeof tools / sizeof *tools && r->status == build_unsupported; i++)
        if (serves(&tools[i], q->arch, q->compiler)) any = true, try_tool(&tools[i], q, r);
    if (!any) set_log(r, printed("%s: this compiler does not compile for %s\n", q->name, q->arch));
    page_log_place(q->source, q->size, q->name, &r->log);
    return r->status;
}

void code_result_free(code_result *r)
{
    kernel_facts_free(r->kernels, r->n_kernels);
    free(r->code);
    free(r->compiler);
    free(r->log);
    *r = (code_result){0};
}

static int larger(int most, unsigned n) { return n > (unsigned)most ? (int)(n < 1u << 30 ? n : 1u << 30) : most; }

bool code_spills(const code_result *r, spilled_tile *out)
{
    spilled_tile s = {0};
    for (size_t i = 0; i < r->n_kernels; i++) {
        s.scratch = larger(s.scratch, r->kernels[i].scratch_bytes);
        s.vectors = larger(s.vectors, r->kernels[i].vgpr_spills);
    }
    if (out) *out = s;
    return s.scratch > 0 || s.vectors > 0;
}

/* Writes path, size and time of a file; nothing if it does not exist. */
static bool put_file(FILE *f, const char *before, const char *path)
{
    char *real = realpath(path, NULL);
    struct stat st;
    const bool there = real && stat(real, &st) == 0;
    if (there)
        fprintf(f, "%s%s %lld %lld.%09ld", before, real, (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    free(real);
    return there;
}

static void put_tool(FILE *f, const tool *t, const char *path)
{
    char *before = printed("%s%s ", ftell(f) > 0 ? "; " : "", t->name), *slash = strrchr(path, '/');
    if (before && put_file(f, before, path)) {
        for (int i = 0; t->beside[i] && slash; i++) {
            char *file = printed("%.*s/%s", (int)(slash - path), path, t->beside[i]);
            if (file) put_file(f, " + ", file);
            free(file);
        }
        for (const char *const *flag = t->flags; *flag; flag++) fprintf(f, " %s", *flag);
    }
    free(before);
}

char *code_compiler_identity(const char *arch, compiler_kind kind)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);
    if (!f) return NULL;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        char *path = serves(&tools[i], arch, kind) ? tools[i].find() : NULL, *real = path ? realpath(path, NULL) : NULL;
        if (real) put_tool(f, &tools[i], real);
        free(real);
        free(path);
    }
    if (fclose(f) == 0 && line && *line) return line;
    free(line);
    return NULL;
}

/* ---- many at once ---- */

typedef struct batch {
    const code_request *requests;
    code_result *out;
    code_progress *progress;
    void *context;
    pthread_mutex_t lock; /* held while progress is called */
} batch;

static void compile_one(void *context, size_t i)
{
    batch *b = context;
    code_compile(&b->requests[i], &b->out[i]);
    if (!b->progress) return;
    pthread_mutex_lock(&b->lock);
    b->progress(b->context, i, &b->out[i]);
    pthread_mutex_unlock(&b->lock);
}

code_status code_compile_all(const code_request *requests, size_t n, int jobs, code_result *out,
                             code_progress *progress, void *context)
{
    batch b = {.requests = requests, .out = out, .progress = progress, .context = context};
    pthread_mutex_init(&b.lock, NULL);
    run_parallel(n, jobs, compile_one, &b);
    pthread_mutex_destroy(&b.lock);
    for (size_t i = 0; i < n; i++)
        if (out[i].status != build_ok) return out[i].status;
    return build_ok;
}
