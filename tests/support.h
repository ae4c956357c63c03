/* In: a spec, fusion level, target, dims and data. Out: the plan's results on the host engine and the float64 reference of the same data.
 * An error of any stage fails the test with that stage's message. */
#ifndef TFGEN_TESTS_SUPPORT_H
#define TFGEN_TESTS_SUPPORT_H
#include "runtime/api/compile.h"
#include "runtime/module/guarded_run.h"
#include "ir/reference/ref.h"
#include <check.h>

typedef struct rig_request {
    const char *path, *yaml; /* exactly one is set */
    fusion_level level;
    const char *target, *dtype; /* NULL: host; the spec's dtype */
    const dim_override *dims;
    size_t dim_count;
    const char *disabled; /* fusion to turn off, or NULL */
    const tuning *tuning; /* or NULL */
    bool check;           /* detect races, out-of-bounds accesses and barrier errors; each fails the run */
    void (*touched)(void *context, const char *kernel, const char *name, size_t read, size_t written); /* with check (guarded_run.h) */
    void *context;                                                                                    /* passed to touched */
    bool one_workgroup;   /* one workgroup computes all tiles of a launch */
    bool late_waves; /* all but the first wave of each warpgroup come late to each mbarrier (isa/wgmma_host.h) */
    bool late_workgroups; /* only some workgroups of a launch are resident at once; others start when these end, or give up (census.h) */
    int multiprocessors;  /* over which launches spread their tiles; 0: this machine's processors, 1 with check */
} rig_request;

enum { rig_most_reads = 256 };

typedef struct rig {
    arena *a;
    rig_request request;
    compiled c;
    ir_graph *graph;
    guarded_run *s; /* NULL: planned, not compiled */
    host_log log;
    size_t *room;        /* elements allocated when the rig was opened, by graph value id */
    ref_tensor *data, *exact, *rounded; /* by graph value id; rig_reference() fills exact and rounded */
    const ref_tensor **given;
    double *reads[rig_most_reads];
    int read_count;
} rig;

/* Switches this process to a locale with a decimal comma, until setlocale(LC_NUMERIC, "C"). Without localedef: prints that the test is
 * skipped, returns false. */
bool comma_locale(void);

int tile_setting(const ir_phase *phase, const char *key); /* of a planned phase; an unknown key fails the test */

rig *rig_plan(const rig_request *request); /* plans, compiles nothing */
rig *rig_open(const rig_request *request); /* compiles, allocates, fills data at random with seed 1 */
void rig_close(rig *r);

/* Sets a dynamic dim without planning or compiling again; no value may outgrow its size at rig_open(). Data takes the new dims' size and
 * keeps its first elements. */
void rig_set_dim(rig *r, const char *name, long long value);

const ir_value *rig_value(const rig *r, const char *name); /* in the graph */
size_t rig_count(const rig *r, const char *name);
double *rig_data(const rig *r, const char *name); /* uploaded by rig_run(); sized for the dims at rig_open() */
void rig_fill(rig *r, unsigned long long seed);
void rig_round(rig *r); /* rounds data to its dtypes */

/* Uploads all data, fills all other memory with NaN, packs weights and launches once. */
void rig_run(rig *r);
void rig_upload(rig *r, const char *name);
void rig_execute(rig *r); /* launches again; states keep their contents */
/* Downloads a value at its current size; freed with the rig. */
double *rig_read(rig *r, const char *name);
/* Fails unless the flags of all parts of the first scratch are cleared: the next launch then waits for its own parts. */
void rig_nothing_stays_published(const rig *r);
/* True if everything past the output's current size is still NaN, as rig_run() left it. */
bool rig_tail_untouched(const rig *r, const char *name);

void rig_reference(rig *r); /* fills exact and rounded: see trial.c */
/* Runs the reference and fails unless every output is within its error bound; returns the largest error / bound. */
double rig_judge(rig *r);
/* Runs and judges, then launches again, with the marks and counters that the first launch left, and judges that too. */
void rig_judge_twice(rig *r);

bool same_numbers(const double *x, const double *y, size_t count); /* bitwise; all NaNs are equal */
double *copy_numbers(const double *x, size_t count);
/* A test case tagged long: `make test` skips it, `make verify-all` runs it. */
TCase *suite_long(Suite *suite, const char *name, double timeout);
/* Adds loop cases 0 to count - 1: those in `list` (ends with -1) to `now`, the others to `later`. `now` takes a case per code path,
 * `later` the same paths at other sizes. */
void add_some_now(TCase *now, TCase *later, const TTest *test, int count, const int *list);
int run_suite(Suite *suite);
/* Sets the host compiler's optimisation level. Most suites use 0 (tests/run.sh): their kernels run briefly. Timed kernels use 1, which
 * compiles faster than 3; kernels that run longer than they compile, and those that must be as users get them, use 3. Call it before any
 * kernel is compiled. */
typedef enum kernel_use { kernels_timed = 1, kernels_long = 3, kernels_of_users = 3 } kernel_use;
void use_kernels(kernel_use use);
/* From now on the HIP runtime and HIPRTC are those of tests/doubles, and clang is disabled. */
void use_hip_double(void);
/* From now on the host compiler is a script in the folder: it runs the shell command `edit` on the source, file $t, then clang. Disables
 * the kernel cache. */
void use_compiler(const char *folder, const char *edit);
/* A compiler that makes row kernels return at once unless each thread reads vectors of 16 columns (V = 16). */
void use_bad_compiler(const char *folder);
#endif
