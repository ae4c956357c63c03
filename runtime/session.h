/* In: a plan. Out: its kernels compiled for the host engine, memory for every value, and runs of it in launch order.
 * A plan for a GPU target runs in that target's geometry and ISA layer on the CPU. Refuses what the engine refuses, with its text. */
#ifndef TFGEN_SESSION_H
#define TFGEN_SESSION_H
#include "gen/gen.h"
#include "runtime/host/host.h"

typedef struct session session;

typedef struct session_options {
    bool check;            /* race and bounds checker */
    int jobs;              /* compilers and workers at once; 0: one a CPU */
    const char *cache_dir; /* compiled kernels; NULL: none kept */
    struct cache *cache;   /* stronger than cache_dir; NULL: none (runtime/cache.h) */
    void (*compiled)(void *context, const char *kernel); /* progress; called from the caller's thread */
    void *context;
} session_options;

/* NULL on failure: *code says which kind, the log says what. The plan must outlive the session. */
session *session_open(const plan *p, const session_options *options, tfgen_code *code, host_log *log);
void session_close(session *s);

/* Storage of a value (of its root), or NULL when the plan keeps it nowhere. Bytes in *bytes when not NULL. */
void *session_data(const session *s, const ir_value *v, size_t *bytes);
/* Fills outputs, workspace and packed weights with NaN patterns, so that what nobody writes shows. */
void session_poison(session *s);
tfgen_code session_pack(session *s, host_log *log);
/* Launches every kernel once; seconds[i] of launch i when not NULL. */
tfgen_code session_execute(session *s, double *seconds, host_log *log);
/* Launches since session_open, pack kernels included, as counted where they are issued. */
int session_launches(const session *s);
#endif
