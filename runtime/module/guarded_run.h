/* In: a plan and a device. Out: a module with a separate, poisoned allocation for every value (instead of one workspace), run launch by
 * launch, for `tfgen run`, `verify` and `bench` and for kernel tests. Without a device, a plan for a GPU target runs on the host engine in
 * that target's geometry. Refuses what the device refuses, with its text. */
#ifndef TFGEN_GUARDED_RUN_H
#define TFGEN_GUARDED_RUN_H
#include "runtime/module/module.h"

typedef struct guarded_run guarded_run;

typedef struct guarded_options {
    tfgen_device *device;  /* for the plan's target; NULL: the host engine, in the geometry of the plan's target */
    bool check;            /* race and bounds checker: the host engine only */
    /* With check: called after each launch, once for each value's storage that the launch accessed, with the numbers of distinct bytes that
     * it read and wrote. */
    void (*touched)(void *touched_context, const char *kernel, const char *name, size_t read, size_t written);
    void *touched_context;
    const host_watch *watch; /* with check: called for each access, instead of detecting races */
    int multiprocessors;   /* how many multiprocessors the host device reports; 0: with `watch` as many as the plan's device model has, else
                            * one per worker */
    int layers;            /* of a plan for stacks: how many the run has, each with params, weights and states of its own; 0: one */
    const int *kinds;      /* by layer: which of the plan's kinds of layers it is; NULL: all are of kind 0 */
    int jobs;              /* concurrent compilers, and the host's workers; 0: one per CPU */
    struct cache *cache;   /* compiled kernels (runtime/cache/cache.h); NULL: cache_dir */
    const char *cache_dir; /* NULL: no cache */
    void (*progress)(void *context, const tfgen_progress *progress);
    void *context;
} guarded_options;

/* NULL on failure: *code has the kind, the log the message. The plan and the device must outlive the run. */
guarded_run *guarded_open(const plan *p, const guarded_options *options, tfgen_code *code, host_log *log);
void guarded_close(guarded_run *s);
const plan *guarded_plan(const guarded_run *s); /* the plan that runs: the one given, or its replacement if kernels spilled */
const tfgen_device_info *guarded_device(const guarded_run *s);

/* Bytes of a value's storage (its root's); 0: the value is never stored. */
size_t guarded_bytes(const guarded_run *s, const ir_value *v);
/* Copy `bytes`, at most guarded_bytes(), between `data` in this process and a value's storage. */
tfgen_code guarded_put(guarded_run *s, const ir_value *v, const void *data, size_t bytes, host_log *log);
tfgen_code guarded_get(guarded_run *s, const ir_value *v, void *data, size_t bytes, host_log *log);
/* Reads the first `bytes` of the plan's scratch buffer i, which belongs to no value. */
tfgen_code guarded_get_scratch(guarded_run *s, int i, void *data, size_t bytes, host_log *log);
/* Reads the first `bytes` of packed weight i; call guarded_pack() first. */
tfgen_code guarded_get_packed(guarded_run *s, int i, void *data, size_t bytes, host_log *log);

/* Fills outputs, workspace and weights with a bit pattern that is NaN in f32, f16 and bf16 and that no arithmetic produces, so that
 * unwritten elements show; fills counters with zeros. */
enum { guarded_poison_bits = 0xffe5 };
tfgen_code guarded_poison(guarded_run *s, host_log *log);
bool guarded_is_poison(dtype type, const void *data, size_t index); /* this element was never written */
tfgen_code guarded_pack(guarded_run *s, host_log *log);
/* For a plan for stacks: selects the layer, from 0, whose params, states and weights the other functions access. guarded_execute() then
 * runs layers 0 to this one, whose weights must be packed. */
void guarded_select(guarded_run *s, int layer);
/* Launches every kernel once, at the current dims of the plan's program. seconds (may be NULL): time of each launch by device events. */
tfgen_code guarded_execute(guarded_run *s, double *seconds, host_log *log);
/* Launches issued since guarded_open(), pack kernels included. */
int guarded_launches(const guarded_run *s);
#endif
