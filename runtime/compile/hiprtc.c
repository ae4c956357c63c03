/* In: HIP source and an AMD architecture. Out: a code object from the installed ROCm's HIPRTC (in libamdhip64 before ROCm 6). Refuses an
 * architecture that its comgr does not list, on which HIPRTC would abort. Runs in the worker only. */
#define _GNU_SOURCE
#include "runtime/compile/worker.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *hiprtc_find(void)
{
    static const char *const names[] = {"libhiprtc.so.7",   "libhiprtc.so.6",   "libhiprtc.so.5", "libhiprtc.so",
                                        "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
    const char *given = secure_getenv("TFGEN_HIPRTC"), *rocm = secure_getenv("ROCM_PATH"), *hip = secure_getenv("HIP_PATH");
    char *under_rocm = rocm ? printed("%s/lib", rocm) : NULL, *under_hip = hip ? printed("%s/lib", hip) : NULL,
         *found = NULL;
    const char *const lists[] = {secure_getenv("LD_LIBRARY_PATH"), under_rocm, under_hip, "/opt/rocm/lib", system_libraries};
    if (given && *given) found = strdup(given);
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = path_search(lists, sizeof lists / sizeof *lists, names[i]);
    free(under_rocm);
    free(under_hip);
    return found;
}

typedef struct hiprtc {
    int (*create)(void **program, const char *source, const char *name, int headers, const char **texts,
                  const char **names);
    int (*compile)(void *program, int count, const char **options);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *text);
    int (*code_size)(void *program, size_t *size);
    int (*code)(void *program, char *code);
    int (*runtime_version)(int *version); /* of libamdhip64; NULL in a separate libhiprtc */
    int (*version)(int *major, int *minor);
} hiprtc;

static bool load(hiprtc *api, const char *tool)
{
    const worker_symbol wanted[] = {
        {"hiprtcCreateProgram", &api->create, false},
        {"hiprtcCompileProgram", &api->compile, false},
        {"hiprtcGetProgramLogSize", &api->log_size, false},
        {"hiprtcGetProgramLog", &api->log, false},
        {"hiprtcGetCodeSize", &api->code_size, false},
        {"hiprtcGetCode", &api->code, false},
        {"hiprtcVersion", &api->version, false},
        {"hipRuntimeGetVersion", &api->runtime_version, true},
    };
    return worker_load(tool, wanted, sizeof wanted / sizeof *wanted);
}

/* 50221153 is 5.2.21153. A separate libhiprtc only reports its own major.minor. */
static void version_text(const hiprtc *api, char *out, size_t size)
{
    int a = 0, b = 0;
    if (api->runtime_version && api->runtime_version(&a) == 0 && a > 0)
        snprintf(out, size, "HIPRTC %d.%d.%d", a / 10000000, a / 100000 % 100, a % 100000);
    else if (api->version(&a, &b) == 0)
        snprintf(out, size, "HIPRTC API %d.%d", a, b);
    else
        snprintf(out, size, "HIPRTC");
}

/* True if comgr knows the architecture, or cannot be queried (the worker then catches a crash). False: logs the known architectures. */
static bool knows(const worker_job *job, const char *version)
{
    static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};
    const size_t length = strcspn(job->arch, ":");
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    int (*count_of)(size_t *) = NULL, (*name_of)(size_t, const char **) = NULL;
    if (library) {
        *(void **)&count_of = dlsym(library, "amd_comgr_get_isa_count");
        *(void **)&name_of = dlsym(library, "amd_comgr_get_isa_name");
    }
    size_t count = 0;
    if (!count_of || !name_of || count_of(&count) || !count) return true;
    const char *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *isa, *gfx;
        if (name_of(i, &isa) || !(gfx = strstr(isa, "gfx"))) continue;
        if (strcspn(gfx, ":") == length && !strncmp(gfx, job->arch, length)) return true;
        last = gfx;
    }
    fprintf(stderr, "%s: %s does not know %s (the newest of its %zu architectures is %s)\n", job->name, version,
            job->arch, count, last ? last : "?");
    return false;
}

const char *const hiprtc_flags[] = {"-O3", "-std=c++17", "-Wall", "-Werror", NULL};

static int compile(const hiprtc *api, const worker_job *job)
{
    const char *options[16] = {NULL};
    int count = 1;
    void *program;
    size_t size = 0;
    char *arch = printed("--gpu-architecture=%s", job->arch), *text;
    options[0] = arch;
    for (const char *const *f = hiprtc_flags; *f; f++) options[count++] = *f;
    if (!arch || api->create(&program, job->source, job->name, 0, NULL, NULL))
        return fputs("hiprtcCreateProgram failed\n", stderr), code_io;
    const int bad = api->compile(program, count, options);
    if (api->log_size(program, &size) == 0 && size > 1 && (text = calloc(1, size + 1)) && api->log(program, text) == 0)
        fputs(text, stderr);
    if (bad) return code_compile_failed;
    if (api->code_size(program, &size) || !size || !(text = malloc(size)) || api->code(program, text)) return code_io;
    return worker_put(job, "code", text, size) ? code_ok : code_io;
}

int hiprtc_work(const worker_job *job)
{
    hiprtc api;
    char version[64];
    if (!load(&api, job->tool)) return code_unsupported;
    version_text(&api, version, sizeof version);
    worker_put(job, "compiler", version, strlen(version));
    return knows(job, version) ? compile(&api, job) : code_unsupported;
}
