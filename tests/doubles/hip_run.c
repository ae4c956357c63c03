/* In: a launch, in stream order. Out: its effect on device memory: by the host engine from the host code next to the code object, or by the
 * instruction emulator from the code object itself, in a Python process that maps the same memory. A kernel that faults leaves the device
 * unusable, as on a GPU. */
#define _GNU_SOURCE
#include "runtime/host/host.h"
#include "tests/doubles/hip_double.h"
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

bool emulating(void)
{
    const char *script = getenv("TFGEN_DOUBLE_EMULATOR");
    return script && *script;
}

/* ---- the host engine */
static host_engine *the_engine(void)
{
    static host_engine *engine;
    const host_engine_options options = {.workers = 2};
    if (!engine) engine = host_engine_open(&options);
    return engine;
}

/* Calls `call` for each pointer among the arguments. */
static void each_memory(device *d, const op *o, void (*call)(device *d, const void *address))
{
    for (size_t at = 0; at + sizeof(void *) <= o->argument_bytes; at += sizeof(void *)) {
        const void *address;
        memcpy(&address, (const char *)o->arguments + at, sizeof address);
        if (memory_is_device(address)) call(d, address);
    }
}

static const char *run_on_host(device *d, const op *o, host_log *log)
{
    /* the code object has no LDS for an unused struct of shared memory; the host engine has a number for each wave */
    enum { least_shared = 128 };
    static _Alignas(128) unsigned char arguments[most_argument_bytes]; /* one runs at a time */
    const kernel *k = o->kernel;
    const unsigned shared = k->lds_bytes + o->dynamic_bytes;
    const host_launch_dims dims = {.grid = {o->grid, 1, 1},
                                   .block = {o->threads, 1, 1},
                                   .shared_bytes = shared > least_shared ? shared : least_shared,
                                   .wave = k->wave,
                                   .cooperative = o->cooperative};
    void *params[] = {arguments};
    host_engine *engine = the_engine();
    if (!engine) return "no memory for the host engine";
    memcpy(arguments, o->arguments, o->argument_bytes);
    each_memory(d, o, memory_wake);
    const host_status status = host_launch(engine, k->module->host, k->name, &dims, params, log);
    each_memory(d, o, memory_sleep);
    return status == HOST_OK ? NULL : host_status_name(status);
}

/* ---- the emulator: one line for each launch, one line for each answer */
typedef struct helper {
    FILE *to, *from;
} helper;

static bool start(helper *h)
{
    const state *s = double_state();
    int in[2], out[2];
    pid_t child;
    char *arguments[4 + most_devices] = {"python3", getenv("TFGEN_DOUBLE_EMULATOR")};
    posix_spawn_file_actions_t actions;
    if (pipe(in) || pipe(out)) return false;
    for (int i = 0; i < s->count; i++) {
        const device *d = &s->devices[i];
        if (asprintf(&arguments[2 + i], "%d:%zu:%zu", d->arena_file, (size_t)d->arena, (size_t)1 << arena_bytes_log2) < 0) return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addclose(&actions, in[1]);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    const bool good = posix_spawn(&child, "/usr/bin/python3", &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < s->count; i++) free(arguments[2 + i]);
    close(in[0]);
    close(out[1]);
    h->to = fdopen(in[1], "w");
    h->from = fdopen(out[0], "r");
    return good && h->to && h->from;
}

static const char *run_emulated(const op *o, char *answer, int room)
{
    static helper h;
    if (!h.to && !start(&h)) return "the emulator cannot be started";
    fprintf(h.to, "/proc/%d/fd/%d %s %u %u %u ", (int)getpid(), o->kernel->module->file, o->kernel->name, o->grid, o->threads,
            o->dynamic_bytes);
    for (size_t i = 0; i < o->argument_bytes; i++) fprintf(h.to, "%02x", ((const unsigned char *)o->arguments)[i]);
    fputc('\n', h.to);
    if (fflush(h.to) || !fgets(answer, room, h.from)) return "the emulator ended";
    answer[strcspn(answer, "\n")] = '\0';
    return strncmp(answer, "ok", 2) ? answer : NULL;
}

int double_run(device *d, const op *o)
{
    char answer[500];
    host_log log = {0};
    if (fault_due("async")) return hip_launch_failure;
    const char *wrong = emulating() ? run_emulated(o, answer, sizeof answer) : run_on_host(d, o, &log);
    double_state()->launches++;
    if (wrong) violate("kernel %s: %s\n%s", o->kernel->name, wrong, log.text ? log.text : "");
    if (wrong) d->sticky = hip_illegal_address;
    host_log_free(&log);
    return wrong ? d->sticky : hip_success;
}
