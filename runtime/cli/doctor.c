/* In: this machine. Out: a test of everything that tfgen can use: compilers compile a kernel, devices load one, the cache is written to;
 * for what is missing, the package or variable that fixes it. Exit code 1 if nothing can run. */
#define _GNU_SOURCE
#include "runtime/cli/cli.h"
#include "runtime/device/device.h"
#include "runtime/compile/libclang.h"
#include "runtime/compile/worker.h"
#include "runtime/system/ranges.h"
#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* absent: not needed on this machine, or it cannot be tried */
typedef enum verdict { verdict_good, verdict_absent, verdict_bad } verdict;
static const char *const verdict_names[] = {"good", "absent", "bad"};

typedef struct visit {
    arena *a;
    bool json, quiet;
    bool has_worker; /* without one, only the host's compiler can be tried */
    json_t *checks, *runs_on;
} visit;

static void report(visit *v, verdict state, const char *name, const char *text, const char *mend)
{
    static const colour colours[] = {colour_good, colour_dim, colour_bad};
    const char *line = cli_first_line(v->a, text);
    if (v->json)
        json_array_append_new(v->checks, json_pack("{s:s, s:s, s:s, s:s?}", "name", name, "state", verdict_names[state], "text", line,
                                                   "mend", state == verdict_good ? NULL : mend));
    else if (!v->quiet || state == verdict_bad) {
        printf("%s%-6s%s  %-16s  %s\n", colour_code(stdout, colours[state]), verdict_names[state], colour_code(stdout, colour_none), name,
               line);
        if (mend && state != verdict_good) printf("%26s%s\n", "-> ", mend);
    }
}

/* ---- the process that compilers run in */
static bool check_worker(visit *v)
{
    char *fault = worker_fault(), *path = worker_path();
    const bool good = !fault;
    if (good) report(v, verdict_good, "tfgen-worker", path ? path : "", NULL);
    else
        report(v, verdict_bad, "tfgen-worker", fault,
               "the program tfgen-worker belongs beside tfgen or in ../libexec/tfgen, or set TFGEN_WORKER");
    free(path);
    free(fault);
    return good;
}

static void report_untried(visit *v, const char *name, const char *what)
{
    report(v, verdict_absent, name, arena_printf(v->a, "%s: not tried without tfgen-worker", what), NULL);
}

/* ---- compilers: a kernel that every compiler accepts */
static const char probe[] = "#ifdef __CUDACC_RTC__\n#define GLOBAL __global__\n#else\n#define GLOBAL __attribute__((global))\n#endif\n"
                            "extern \"C\" GLOBAL void probe_(float *x) { x[0] = 1.0f; }\n";
static const char host_probe[] = "extern \"C\" __global__ void probe_(float *x) { x[0] = 1.0f; }\n";

static bool check_host_compiler(visit *v)
{
    host_module *module = NULL;
    host_log log = {0};
    char *worker = worker_path(); /* guards the host's compiler, if there is a worker */
    const bool guarded = worker != NULL;
    free(worker);
    if (guarded && !v->has_worker) return report_untried(v, "host engine", "its compiler"), false;
    const host_status status =
        host_compile(host_probe, sizeof host_probe - 1, &(host_compile_options){.name = "probe.hip", .optimise = 0}, &module, &log);
    if (status == HOST_OK)
        report(v, verdict_good, "host engine", arena_printf(v->a, "compiles with %s", host_module_compiler(module)), NULL);
    else
        report(v, verdict_bad, "host engine", log.text ? log.text : host_status_name(status),
               "apt install clang-22 (or any clang from 14 on), or set TFGEN_HOST_CC");
    host_module_free(module);
    host_log_free(&log);
    return status == HOST_OK;
}

typedef struct compiler_check {
    const char *name;
    target_vendor vendor;
    const char *mend;
    compiler_kind kind;
    char *(*find)(void);
} compiler_check;
static const compiler_check compilers[] =
    {{"clang for AMD", vendor_amd, "apt install clang-22 lld-22, or set TFGEN_CLANG", compiler_clang, clang_find},
     {"HIPRTC", vendor_amd, "ROCm's hiprtc (Debian: apt install libamdhip64-5), or set TFGEN_HIPRTC, ROCM_PATH or HIP_PATH",
      compiler_hiprtc, hiprtc_find},
     {"NVRTC", vendor_nvidia, "CUDA 12 or 13's NVRTC (apt install cuda-nvrtc-13-0), or set TFGEN_NVRTC or CUDA_HOME", compiler_nvrtc,
      nvrtc_find}};

/* The vendor's first target in the table: every compiler that supports a later one supports it, too. */
static const char *arch_to_try(target_vendor vendor)
{
    size_t count, i = 0;
    const target_info *list = target_list(&count);
    while (i < count - 1 && list[i].vendor != vendor) i++;
    return list[i].name;
}

static bool compiles(const char *arch, compiler_kind kind, code_result *r)
{
    const code_request request =
        {.source = probe, .size = sizeof probe - 1, .name = "probe.hip", .arch = arch, .compiler = kind, .time_limit = 60};
    return code_compile(&request, r) == build_ok;
}

/* The log of a library or program, preceded by its path unless the log names it. */
static const char *fault_of(visit *v, const char *path, const char *log)
{
    if (!log || !*log) log = "it fails";
    return strstr(log, path) ? log : arena_printf(v->a, "%s: %s", path, log);
}

static void check_compiler(visit *v, const compiler_check *c)
{
    char *path = c->find();
    code_result r = {0};
    if (!path) report(v, verdict_absent, c->name, "not found", c->mend);
    else if (!v->has_worker) report_untried(v, c->name, path);
    else if (compiles(arch_to_try(c->vendor), c->kind, &r))
        report(v, verdict_good, c->name, arena_printf(v->a, "%s, %s", path, r.compiler ? r.compiler : "?"), NULL);
    else report(v, verdict_bad, c->name, fault_of(v, path, r.log), c->mend);
    code_result_free(&r);
    free(path);
}

static void check_libclang(visit *v)
{
    static const char mend[] = "apt install libclang1-22, or set TFGEN_LIBCLANG";
    char *path = libclang_find(), *log = NULL;
    libclang_facts facts = {0};
    if (!path)
        report(v, verdict_absent, "libclang", "not found: emitted kernels are not compared with the plan before they are compiled", mend);
    else if (!v->has_worker) report_untried(v, "libclang", path);
    else if (libclang_check(probe, sizeof probe - 1, "probe.hip", arch_to_try(vendor_amd), 0, &facts, &log) == build_ok)
        report(v, verdict_good, "libclang", arena_printf(v->a, "%s, %s", path, facts.version), NULL);
    else report(v, verdict_bad, "libclang", fault_of(v, path, log), mend);
    libclang_facts_free(&facts);
    free(log);
    free(path);
}

/* ---- devices */
static const char *mend_of(const char *kind)
{
    if (strcmp(kind, "hip") == 0)
        return "AMD: the kernel module amdgpu and ROCm's HIP runtime (Debian: apt install libamdhip64-5), or set TFGEN_LIBHIP";
    return "NVIDIA: its driver with libcuda.so.1 (Debian: apt install nvidia-driver libcuda1), or set TFGEN_LIBCUDA";
}

/* Loads code made by the compiler that tfgen would use: shows whether the driver is too old for it. */
static void try_device(visit *v, tfgen_device *d)
{
    code_result r = {0};
    void *image = NULL, *kernel;
    tfgen_error error = {""};
    const char *text = arena_printf(v->a, "%s, %s", d->info.label, d->info.arch);
    if (!*d->info.target) {
        report(v, verdict_absent, d->info.name, arena_printf(v->a, "%s: tfgen has no target for it", text), "targets: tfgen emit --help");
        return;
    }
    if (!v->has_worker) {
        report_untried(v, d->info.name, text);
        return;
    }
    if (!compiles(d->info.arch, compiler_auto, &r)) {
        report(v, verdict_bad, d->info.name, arena_printf(v->a, "%s: no compiler: %s", text, r.log ? r.log : ""),
               "see the compilers above");
    } else if (d->api->load(d, r.code, r.code_size, &image, &error) != TFGEN_OK ||
               d->api->kernel(d, image, "probe", 0, &kernel, &error) != TFGEN_OK) {
        report(v, verdict_bad, d->info.name,
               arena_printf(v->a, "%s: the driver does not load %s's code: %s", text, r.compiler ? r.compiler : "the compiler", error.text),
               strcmp(d->api->kind, "hip")
                   ? "the driver is older than NVRTC: update the driver, or set TFGEN_NVRTC to its own version's"
                   : "the HIP runtime is older than clang's code (ROCm 5.7): update ROCm, or TFGEN_CLANG=none for its own HIPRTC");
    } else {
        report(v, verdict_good, d->info.name, arena_printf(v->a, "%s, target %s, %d units", text, d->info.target, d->info.multiprocessors),
               NULL);
        json_array_append_new(v->runs_on, json_string(d->info.name));
    }
    if (image) d->api->unload(d, image);
    code_result_free(&r);
}

static void check_kind(visit *v, const device_api *kind)
{
    char why[400] = "";
    const int count = kind->count(why, sizeof why);
    for (int i = 0; i < count; i++) {
        tfgen_device *d;
        tfgen_error error = {""};
        if (kind->open(i, &d, &error) != TFGEN_OK) {
            report(v, verdict_bad, arena_printf(v->a, "%s:%d", kind->kind, i), error.text, mend_of(kind->kind));
            continue;
        }
        try_device(v, d);
        tfgen_device_close(d);
    }
    if (count <= 0) report(v, verdict_absent, arena_printf(v->a, "%s devices", kind->kind), why, mend_of(kind->kind));
}

static void check_variables(visit *v)
{
    static const char *const names[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"};
    const char *pretends = secure_getenv("HSA_OVERRIDE_GFX_VERSION");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (secure_getenv(names[i]))
            report(v, verdict_good, "environment",
                   arena_printf(v->a, "%s=%s hides the devices that it does not list", names[i], secure_getenv(names[i])), NULL);
    if (pretends && *pretends)
        report(v, verdict_bad, "environment",
               arena_printf(v->a,
                            "HSA_OVERRIDE_GFX_VERSION=%s: AMD GPUs claim that version; it is part of each "
                            "kernel's key in the cache",
                            pretends),
               "unset HSA_OVERRIDE_GFX_VERSION where tfgen has a target for the GPU itself");
}

/* Reports only if TFGEN_PROFILE is set. */
static void check_ranges(visit *v)
{
    const char *libraries[2] = {NULL}, *asked;
    const size_t count = ranges_open(libraries, 2, &asked);
    for (size_t i = 0; i < count && i < 2; i++) report(v, verdict_good, "TFGEN_PROFILE", libraries[i], NULL);
    if (asked && !count)
        report(v, verdict_bad, "TFGEN_PROFILE", arena_printf(v->a, "%s: no library of NVTX or roctx could be opened", asked),
               "install the profiler's library (libnvtx3interop, librocprofiler-sdk-roctx), or set TFGEN_PROFILE=/path/to/library.so");
}

static void check_node(visit *v, const char *path, const char *mend)
{
    if (access(path, F_OK)) return;
    if (access(path, R_OK | W_OK)) report(v, verdict_bad, path, arena_printf(v->a, "this user may not open it: %s", strerror(errno)), mend);
    else report(v, verdict_good, path, "may be opened", NULL);
}

static void check_nodes(visit *v)
{
    static const char amd[] = "usermod -aG render,video USER, then log in again",
                      nvidia[] = "nvidia-modprobe, or the device rules of the driver's package";
    glob_t found = {0};
    check_node(v, "/dev/kfd", amd);
    if (glob("/dev/dri/renderD*", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) check_node(v, found.gl_pathv[i], amd);
    globfree(&found);
    check_node(v, "/dev/nvidiactl", nvidia);
    check_node(v, "/dev/nvidia0", nvidia);
}

/* ---- the cache */
typedef struct cache_sum {
    long long entries, bytes, broken;
} cache_sum;

static void add_entry(void *context, const cache_info *info)
{
    cache_sum *s = context;
    s->entries++;
    s->bytes += info->bytes;
    s->broken += info->fault != NULL;
}

/* The nearest folder that exists decides whether the cache can be made. */
static const char *existing_part(arena *a, const char *path)
{
    char *part = arena_strdup(a, path);
    for (char *slash; access(part, F_OK) && (slash = strrchr(part, '/')); ) {
        if (slash == part) return "/";
        *slash = '\0';
    }
    return *part ? part : ".";
}

static const char *folder_refusal(const char *path)
{
    struct stat s;
    if (stat(path, &s) == 0 && !S_ISDIR(s.st_mode)) return "it is not a folder";
    return access(path, W_OK | X_OK) ? strerror(errno) : NULL;
}

static void check_cache(visit *v)
{
    char *given = cache_directory();
    const char *path = arena_strdup(v->a, given ? given : "");
    struct statvfs room = {0};
    cache_sum sum = {0};
    free(given);
    cache *c = *path ? cache_open(NULL) : NULL;
    if (!c) {
        report(v, verdict_absent, "kernel cache", "off: TFGEN_CACHE_DIR is empty, TFGEN_CACHE_SIZE is 0, or there is no home",
               "set TFGEN_CACHE_DIR to a folder");
        return;
    }
    const char *part = existing_part(v->a, path);
    statvfs(part, &room);
    const char *fault = cache_fault(c);
    cache_walk(c, add_entry, &sum);
    cache_close(c);
    const long long left = (long long)room.f_bavail * (long long)room.f_frsize;
    const char *text = arena_printf(v->a, "%s: %lld entries, %lld KB, %lld broken; %lld MB free", path, sum.entries,
                                    (sum.bytes + 1023) / 1024, sum.broken, left >> 20);
    const char *why = folder_refusal(part);
    if (fault)
        report(v, verdict_bad, "kernel cache", arena_printf(v->a, "%s is not used: %s", path, fault),
               "set TFGEN_CACHE_DIR to a folder of your own");
    else if (why)
        report(v, verdict_bad, "kernel cache", arena_printf(v->a, "%s: %s cannot be written: %s", path, part, why),
               "set TFGEN_CACHE_DIR to a folder of your own");
    else if (left < 16 << 20) report(v, verdict_bad, "kernel cache", text, "tfgen cache gc, or set TFGEN_CACHE_DIR to a folder with room");
    else if (sum.broken) report(v, verdict_bad, "kernel cache", text, "tfgen cache gc, or tfgen cache clear");
    else report(v, verdict_good, "kernel cache", text, NULL);
}

/* ---- all of it */
static void end(visit *v)
{
    const size_t count = json_array_size(v->runs_on);
    char *names = arena_strdup(v->a, "");
    for (size_t i = 0; i < count; i++)
        names = arena_printf(v->a, "%s%s%s", names, i ? ", " : "", json_string_value(json_array_get(v->runs_on, i)));
    json_t *all = json_pack("{s:b, s:o, s:o}", "good", count > 0, "runs_on", v->runs_on, "checks", v->checks);
    if (v->json) cli_print_json(all);
    else if (count && !v->quiet) printf("tfgen can run on: %s\n", names);
    json_decref(all);
    if (!count)
        bail(v->a, code_check_failed, (position){0},
             "nothing can run on this machine: mend what is marked bad above; the host engine needs only clang");
}

static void examine(void *argument)
{
    visit *v = argument;
    v->checks = json_array();
    v->runs_on = json_array();
    v->has_worker = check_worker(v);
    const bool host = check_host_compiler(v);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) check_compiler(v, &compilers[i]);
    check_libclang(v);
    for (size_t k = 0; k < device_kind_count; k++)
        if (device_kinds[k] != &host_device) check_kind(v, device_kinds[k]);
    if (host) json_array_append_new(v->runs_on, json_string("host"));
    check_variables(v);
    check_ranges(v);
    check_nodes(v);
    check_cache(v);
    end(v);
}

int command_doctor_main(const cli_options *o)
{
    visit v = {.a = arena_new(), .json = o->json != NULL, .quiet = o->quiet != NULL};
    return cli_run(examine, &v, v.a);
}
