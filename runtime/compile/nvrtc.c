/* In: CUDA-flavoured HIP source and an NVIDIA architecture. Out: a cubin, by NVRTC. Refuses what NVRTC refuses, and all warnings, ptxas
 * advice (C75xx: serialised wgmma, ignored setmaxnreg), spills and local memory: each means a slow kernel. */
#define _GNU_SOURCE
#include "runtime/compile/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *nvrtc_find(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const char *given = secure_getenv("TFGEN_NVRTC"), *home = secure_getenv("CUDA_HOME"), *path = secure_getenv("CUDA_PATH");
    char *under_home = home ? printed("%s/lib64:%s/lib", home, home) : NULL;
    char *under_path = path ? printed("%s/lib64:%s/lib", path, path) : NULL, *found = NULL;
    const char *const lists[] = {secure_getenv("LD_LIBRARY_PATH"), under_home, under_path,
                                 "/usr/local/cuda/lib64:/usr/local/cuda/lib:/opt/cuda/lib64", system_libraries,
                                 secure_getenv("TFGEN_LIBRARY_PATH")};
    if (given && *given) found = strdup(given);
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = path_search(lists, sizeof lists / sizeof *lists, names[i]);
    free(under_home);
    free(under_path);
    return found;
}

/* ---- in the worker ---- */

enum { nvrtc_invalid_option = 5, nvrtc_compilation = 6 };

typedef struct nvrtc {
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *texts,
                  const char *const *names);
    int (*compile)(void *program, int count, const char *const *options);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *text);
    int (*cubin_size)(void *program, size_t *size);
    int (*cubin)(void *program, char *code);
    int (*version)(int *major, int *minor);
    const char *(*error)(int code);
} nvrtc;

static bool load(nvrtc *api, const char *tool)
{
    const worker_symbol wanted[] = {
        {"nvrtcCreateProgram", &api->create, false},
        {"nvrtcCompileProgram", &api->compile, false},
        {"nvrtcGetProgramLogSize", &api->log_size, false},
        {"nvrtcGetProgramLog", &api->log, false},
        {"nvrtcGetCUBINSize", &api->cubin_size, false},
        {"nvrtcGetCUBIN", &api->cubin, false},
        {"nvrtcVersion", &api->version, false},
        {"nvrtcGetErrorString", &api->error, false},
    };
    return worker_load(tool, wanted, sizeof wanted / sizeof *wanted);
}

/* --no-cache: a compile from NVRTC's own cache has an empty log, without registers, spills and warnings. It is last, and is dropped if
 * NVRTC refuses it, as NVRTC 12 does, which has no cache. */
const char *const nvrtc_flags[] = {"-std=c++17", "-default-device", "--ptxas-options=-v", "--no-cache", NULL};

/* True if ptxas reports a stack frame: a function had too few registers. */
static bool log_has_spills(const char *log)
{
    static const char report[] = " bytes stack frame, ";
    for (const char *at = log; (at = strstr(at, report)); at += sizeof report)
        if (strtoul(at + sizeof report - 1, NULL, 10)) return true;
    return false;
}

/* Compiles once; *log is NULL if there is none. Only the architecture option depends on the request, so a refused option means an unknown
 * architecture. */
static int compile_once(const nvrtc *api, const worker_job *job, const char *arch, bool all_registers, void **program, char **log)
{
    const char *options[16] = {arch};
    int count = 1;
    size_t size = 0;
    if (all_registers) options[count++] = "-DTF_ALL_REGISTERS";
    for (const char *const *f = nvrtc_flags; *f; f++) options[count++] = *f;
    int bad = api->create(program, job->source, job->name, 0, NULL, NULL);
    if (bad) return bad;
    bad = api->compile(*program, count, options);
    if (bad == nvrtc_invalid_option) bad = api->compile(*program, count - 1, options);
    free(*log);
    *log = NULL;
    if (api->log_size(*program, &size) == 0 && size > 1 && (*log = calloc(1, size + 1))) api->log(*program, *log);
    return bad;
}

/* Writes the compiler's version, with `how` it compiled, for manifests. */
static void tell_version(const nvrtc *api, const worker_job *job, const char *how)
{
    char version[64] = "";
    int major = 0, minor = 0, n;
    if (api->version(&major, &minor) == 0) n = snprintf(version, sizeof version, "NVRTC %d.%d%s", major, minor, how);
    else n = snprintf(version, sizeof version, "NVRTC%s", how);
    worker_put(job, "compiler", version, (size_t)n);
}

/* ptxas may give a kernel with few threads fewer registers than possible, for more resident workgroups, and then spill. If it does, the
 * kernel is compiled again with all registers (TF_ALL_REGISTERS, templates/base/device.h). */
static int compile(const nvrtc *api, const worker_job *job)
{
    char *arch = printed("--gpu-architecture=%s", job->arch), *log = NULL, *code;
    void *program;
    size_t size = 0;
    if (!arch) return fprintf(stderr, "%s: not enough memory\n", job->name), code_io;
    int bad = compile_once(api, job, arch, false, &program, &log);
    if (!bad && log && log_has_spills(log)) {
        bad = compile_once(api, job, arch, true, &program, &log);
        tell_version(api, job, ", all registers");
    }
    if (log) fputs(log, stderr);
    if (bad == nvrtc_invalid_option)
        return fprintf(stderr, "%s: this NVRTC does not know %s\n", job->name, job->arch), code_unsupported;
    if (bad && bad != nvrtc_compilation) fprintf(stderr, "%s: %s\n", job->name, api->error(bad));
    if (bad) return code_compile_failed;
    if (api->cubin_size(program, &size) || !size || !(code = malloc(size)) || api->cubin(program, code))
        return fprintf(stderr, "%s: NVRTC has no cubin for %s\n", job->name, job->arch), code_unsupported;
    return worker_put(job, "code", code, size) ? code_ok : code_io;
}

int nvrtc_work(const worker_job *job)
{
    nvrtc api;
    if (!load(&api, job->tool)) return code_unsupported;
    tell_version(&api, job, "");
    return compile(&api, job);
}

/* ---- the log, in the caller's process ---- */

typedef struct reader {
    const char *name;
    kernel_facts *kernels, *current, *entry; /* current: NULL in a function that kernels call; entry: the last kernel */
    size_t n;
    FILE *kept; /* the log without ptxas' reports */
    bool refused;
} reader;

/* The number directly before `what` in a line, or 0. */
static unsigned number_before(const char *line, const char *what)
{
    const char *p = strstr(line, what);
    while (p && p > line && p[-1] >= '0' && p[-1] <= '9') p--;
    return p ? (unsigned)strtoul(p, NULL, 10) : 0;
}

static kernel_facts *kernel_named(const reader *r, const char *name, size_t length)
{
    for (size_t i = 0; i < r->n; i++)
        if (strlen(r->kernels[i].name) == length && !memcmp(r->kernels[i].name, name, length)) return &r->kernels[i];
    return NULL;
}

static void read_frame(reader *r, const char *line)
{
    const unsigned frame = number_before(line, " bytes stack frame"),
                   stores = number_before(line, " bytes spill stores"),
                   loads = number_before(line, " bytes spill loads");
    const unsigned spills = ((stores > loads ? stores : loads) + 3) / 4;
    const char *kernel = r->current ? r->current->name : "a device function";
    kernel_facts *whose = r->current ? r->current : r->entry; /* a function's frame counts for its kernel */
    if (whose && spills > whose->vgpr_spills) whose->vgpr_spills = spills;
    if (whose && frame > whose->scratch_bytes) whose->scratch_bytes = frame;
    if (!frame && !stores && !loads) return;
    r->refused = true;
    fprintf(r->kept, "%s: error: %s: %u bytes of local memory, %u bytes of spill stores, %u bytes of spill loads\n",
            r->name, kernel, frame, stores, loads);
}

/* Reads a line of ptxas' -v report; false: another line, such as advice. */
static bool read_report(reader *r, const char *line)
{
    static const char entry[] = "Compiling entry function '", properties[] = "Function properties for ";
    const char *p;
    if (strstr(line, " bytes stack frame, ")) return read_frame(r, line), true;
    if (strncmp(line, "ptxas info", 10) || strstr(line, ": (C")) return false;
    if ((p = strstr(line, entry)))
        r->current = kernel_named(r, p + sizeof entry - 1, strcspn(p + sizeof entry - 1, "'"));
    if ((p = strstr(line, properties)))
        r->current = kernel_named(r, p + sizeof properties - 1, strcspn(p + sizeof properties - 1, " \r\n"));
    if (r->current) r->entry = r->current;
    if (r->current && strstr(line, ": Used ")) {
        r->current->vgprs = number_before(line, " registers");
        r->current->lds_bytes = number_before(line, " bytes smem");
    }
    return true;
}

static void read_line(reader *r, const char *line)
{
    if (!*line || read_report(r, line) || !strncmp(line, "Remark: The warnings can be suppressed", 38)) return;
    if (!strncmp(line, "ptxas", 5) || strstr(line, ": warning ")) r->refused = true;
    fprintf(r->kept, "%s\n", line);
}

bool nvrtc_read_log(char **log, const char *name, kernel_facts *kernels, size_t n)
{
    char *text = NULL;
    size_t size = 0;
    reader r = {.name = name, .kernels = kernels, .n = n, .kept = open_memstream(&text, &size)};
    if (!r.kept) return true;
    for (char *line = *log, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        read_line(&r, line);
    }
    if (r.refused) fprintf(r.kept, "%s: warnings, spills and ptxas advice are errors\n", name);
    fclose(r.kept);
    free(*log);
    *log = text;
    return !r.refused;
}
