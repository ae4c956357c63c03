/* In: a plan and a device. Out: what the command's run, verify and bench, and tests of kernels, use of the library: a module, memory of its
 * own for every value (not one workspace), poisoned, and runs launch by launch. A plan for a GPU target runs on the host engine in that
 * target's geometry when the run opens the host for it. Refuses what the device refuses, with its text. */
#ifndef TFGEN_GUARDED_RUN_H
#define TFGEN_GUARDED_RUN_H
#include "runtime/module/module.h"

typedef struct guarded_run guarded_run;

typedef struct guarded_options {
    tfgen_device *device;  /* for the plan's target; NULL: the host engine, in the geometry of the plan's target */
    bool check;            /* race and bounds checker: the host engine only */
    /* With check: told after each launch of each value's storage that it touched, by name, the bytes read and written, each once. */
    void (*touched)(void *touched_context, const char *kernel, const char *name, size_t read, size_t written);
    void *touched_context;
    const host_watch *watch; /* with check: told of each access, instead of looking for races. The host then has as many
                              multiprocessors as the plan's device */
    int multiprocessors;   /* that the host engine says it has; 0: as with watch, else one a worker */
    int jobs;              /* compilers, and the host's workers, at once; 0: one a CPU */
    struct cache *cache;   /* compiled kernels (runtime/cache/cache.h); NULL: cache_dir */
    const char *cache_dir; /* NULL: none kept */
    void (*progress)(void *context, const tfgen_progress *progress);
    void *context;
} guarded_options;

/* NULL on failure: *code says which kind, the log says what. The plan and the device must outlive the run. */
guarded_run *guarded_open(const plan *p, const guarded_options *options, tfgen_code *code, host_log *log);
void guarded_close(guarded_run *s);
const plan *guarded_plan(const guarded_run *s); /* what runs: the plan given, or one made again where its kernels spill */
const tfgen_device_info *guarded_device(const guarded_run *s);

/* Bytes of a value's storage (of its root); 0: the plan keeps it nowhere. */
size_t guarded_bytes(const guarded_run *s, const ir_value *v);
/* Data between this process and a value's storage, at most its bytes. */
tfgen_code guarded_put(guarded_run *s, const ir_value *v, const void *data, size_t bytes, host_log *log);
tfgen_code guarded_get(guarded_run *s, const ir_value *v, void *data, size_t bytes, host_log *log);
/* What the plan's i-th scratch holds, which is no value's: from its start. */
tfgen_code guarded_get_scratch(guarded_run *s, int i, void *data, size_t bytes, host_log *log);
/* And its i-th packed weight, once guarded_pack() was called. */
tfgen_code guarded_get_packed(guarded_run *s, int i, void *data, size_t bytes, host_log *log);

/* Fills outputs, workspace and weights with a NaN (of f32, f16 and bf16) that no arithmetic makes, so that what nobody writes shows;
 * counters with zeros. */
enum { guarded_poison_bits = 0xffe5 };
tfgen_code guarded_poison(guarded_run *s, host_log *log);
bool guarded_is_poison(dtype type, const void *data, size_t index); /* nobody wrote this element of `data` */
tfgen_code guarded_pack(guarded_run *s, host_log *log);
/* Launches every kernel once, at the present dims of the plan's program; seconds[i] of launch i, by the device's events, when not NULL. */
tfgen_code guarded_execute(guarded_run *s, double *seconds, host_log *log);
/* Launches since guarded_open, pack kernels included, as counted where they are issued. */
int guarded_launches(const guarded_run *s);
#endif
