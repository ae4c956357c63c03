/* In: the calls of HIPRTC. Out: the code object that the real clang (TFGEN_DOUBLE_CLANG names it, else the newest of the PATH) or the real
 * HIPRTC (TFGEN_DOUBLE_HIPRTC) makes, followed by the same source compiled for the host engine (container.h). Refuses what they refuse,
 * with their log. Supports all of tfgen's architectures. */
#define _GNU_SOURCE
#include "runtime/compile/compiler.h"
#include "runtime/host/host.h"
#include "tests/doubles/container.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { rtc_success = 0, rtc_out_of_memory = 1, rtc_invalid_input = 3, rtc_invalid_option = 5, rtc_compilation = 6 };

typedef struct program {
    char *source, *name;
    host_log log;
    unsigned char *code;
    size_t size;
} program;

EXPORT int hiprtcVersion(int *major, int *minor)
{
    *major = 6;
    *minor = 3;
    return rtc_success;
}

EXPORT int hiprtcCreateProgram(void **out, const char *source, const char *name, int headers, const char **texts, const char **names)
{
    program *p = calloc(1, sizeof *p);
    (void)texts, (void)names;
    if (!p || headers) return free(p), rtc_invalid_input;
    p->source = strdup(source);
    p->name = strdup(name ? name : "program");
    *out = p;
    return rtc_success;
}

EXPORT int hiprtcDestroyProgram(void **program_)
{
    program *p = *program_;
    free(p->source);
    free(p->name);
    free(p->code);
    host_log_free(&p->log);
    free(p);
    *program_ = NULL;
    return rtc_success;
}

/* ---- the two compilers, at once */
static void *compile_host(void *argument)
{
    program *p = argument;
    const int level = getenv("TFGEN_HOST_OPTIMISE") ? -1 : 1; /* the suite sets TFGEN_HOST_OPTIMISE if it times kernels (tests/support.h) */
    const host_compile_options options = {.name = p->name, .optimise = level, .time_limit_ms = 120000};
    if (host_compile_object(p->source, strlen(p->source), &options, &p->code, &p->size, &p->log) != HOST_OK) p->code = NULL;
    return NULL;
}

/* While the double runs, these variables name the double; the real compilers must not follow them back here. */
static compiler_kind choose_real(void)
{
    const char *clang = getenv("TFGEN_DOUBLE_CLANG"), *hiprtc = getenv("TFGEN_DOUBLE_HIPRTC");
    unsetenv("TFGEN_HIPRTC");
    unsetenv("TFGEN_CLANG");
    if (clang && *clang) setenv("TFGEN_CLANG", clang, 1);
    if (!hiprtc || !*hiprtc) return compiler_clang;
    setenv("TFGEN_HIPRTC", hiprtc, 1);
    return compiler_hiprtc;
}

static int join(program *p, const code_result *device)
{
    const container_head head = {.magic = "tfgen host code", .size = p->size};
    const size_t elf = container_elf_size(device->code), at = container_round(elf), size = at + sizeof head + p->size;
    unsigned char *file = elf && elf <= device->code_size ? calloc(1, size) : NULL;
    if (!file) return rtc_out_of_memory;
    memcpy(file, device->code, elf);
    memcpy(file + container_mark_at, container_mark, sizeof container_mark);
    memcpy(file + at, &head, sizeof head);
    memcpy(file + at + sizeof head, p->code, p->size);
    free(p->code);
    p->code = file;
    p->size = size;
    return rtc_success;
}

EXPORT int hiprtcCompileProgram(void *program_, int count, const char **options)
{
    program *p = program_, host = {.source = p->source, .name = p->name};
    const char *arch = NULL, wanted[] = "--gpu-architecture=";
    for (int i = 0; i < count; i++)
        if (!strncmp(options[i], wanted, sizeof wanted - 1)) arch = options[i] + sizeof wanted - 1;
    if (!arch) return rtc_invalid_option;
    const code_request request = {.source = p->source, .size = strlen(p->source), .name = p->name, .arch = arch, .compiler = choose_real()};
    code_result device;
    pthread_t thread;
    const bool started = pthread_create(&thread, NULL, compile_host, &host) == 0;
    code_compile(&request, &device);
    if (started) pthread_join(thread, NULL);
    int code = rtc_compilation;
    if (device.log && *device.log) host_log_add(&p->log, device.log, strlen(device.log));
    if (device.status == build_ok && host.code) {
        p->code = host.code, p->size = host.size;
        code = join(p, &device);
    } else if (device.status == build_ok && host.log.text) {
        host_log_add(&p->log, host.log.text, host.log.size);
    }
    if (code == rtc_compilation) free(host.code);
    host_log_free(&host.log);
    code_result_free(&device);
    return code;
}

EXPORT int hiprtcGetProgramLogSize(void *program_, size_t *size)
{
    *size = ((program *)program_)->log.size + 1;
    return rtc_success;
}

EXPORT int hiprtcGetProgramLog(void *program_, char *to)
{
    const host_log *log = &((program *)program_)->log;
    memcpy(to, log->text ? log->text : "", log->size + 1);
    return rtc_success;
}

EXPORT int hiprtcGetCodeSize(void *program_, size_t *size)
{
    *size = ((program *)program_)->size;
    return rtc_success;
}

EXPORT int hiprtcGetCode(void *program_, char *to)
{
    memcpy(to, ((program *)program_)->code, ((program *)program_)->size);
    return rtc_success;
}
