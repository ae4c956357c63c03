/* In: a spec, a level, a target, sizes, data. Out: its plan on the host engine with the data a test gives it, what the device stored,
 * and the float64 reference of the same data. What the stages refuse fails the test that asked, with their text. */
#ifndef TFGEN_TESTS_SUPPORT_H
#define TFGEN_TESTS_SUPPORT_H
#include "runtime/api/compile.h"
#include "runtime/module/guarded_run.h"
#include "ir/reference/ref.h"
#include <check.h>

typedef struct rig_request {
    const char *path, *yaml; /* one of them */
    fusion_level level;
    const char *target, *dtype; /* NULL: host, the spec's */
    const dim_override *dims;
    size_t dim_count;
    const char *disabled; /* a fusion that is turned off, or NULL */
    const tuning *tuning; /* or NULL */
    bool check;           /* races, bounds and barriers are checked: a fault fails the run */
    void (*touched)(void *context, const char *kernel, const char *name, size_t read, size_t written); /* with check (guarded_run.h) */
    void *context;                                                                                    /* of touched */
    bool one_workgroup;   /* has all tiles of a launch */
    int multiprocessors;  /* that launches share out tiles among; 0: this machine's processors, 1 with check */
} rig_request;

enum { rig_most_reads = 256 };

typedef struct rig {
    arena *a;
    rig_request request;
    compiled c;
    ir_program *graph;
    guarded_run *s; /* NULL: only planned */
    host_log log;
    size_t *room;        /* numbers that a value had when the rig was opened, by graph value id */
    ref_tensor *data, *exact, *rounded; /* by graph value id; exact and rounded: outputs, after rig_reference() */
    const ref_tensor **given;
    double *reads[rig_most_reads];
    int read_count;
} rig;

/* From now on this process has a decimal comma, until setlocale(LC_NUMERIC, "C"); false, and said: there is no localedef to make such a
 * locale. */
bool comma_locale(void);

int tile_setting(const ir_phase *phase, const char *key); /* of a planned phase; one that its program has */

rig *rig_plan(const rig_request *request); /* compiles no kernel */
rig *rig_open(const rig_request *request); /* kernels, memory, random data of seed 1 */
void rig_close(rig *r);

/* Another value of a dynamic dim, at most the one that the rig was opened with: the plan and its kernels stay as they are. Data is as
 * long as the new dims say, and keeps its first numbers. */
void rig_set_dim(rig *r, const char *name, long long value);

const ir_value *rig_value(const rig *r, const char *name); /* of the graph */
size_t rig_count(const rig *r, const char *name);
double *rig_data(const rig *r, const char *name); /* what the device will be given; room for the numbers of the first dims */
void rig_fill(rig *r, unsigned long long seed);
void rig_round(rig *r); /* data to what its dtypes hold */

/* Gives the device all data, fills everything else with NaN, packs weights and launches once. */
void rig_run(rig *r);
void rig_upload(rig *r, const char *name);
void rig_execute(rig *r); /* launches again: states go on */
/* What the device has of a value, as many numbers as it has now; freed with the rig. */
double *rig_read(rig *r, const char *name);
/* True when nothing behind the numbers of an output has been written since rig_run() filled it with NaN. */
bool rig_tail_untouched(const rig *r, const char *name);

void rig_reference(rig *r); /* fills exact and rounded: see trial.c */
/* The reference, and every output of the device within its bound of it; returns the largest ratio. */
double rig_judge(rig *r);

bool same_numbers(const double *x, const double *y, size_t count); /* bit by bit; NaNs are one number */
double *copy_numbers(const double *x, size_t count);
/* Cases of their own that `make test` leaves to `make verify-all`: tagged long. */
TCase *suite_long(Suite *suite, const char *name, double timeout);
/* Of a loop's `count` cases those of `list`, which ends with -1, are for `now`, all others for later: now a case for each way through the
 * code, later those that go the same way at other sizes. */
void add_some_now(TCase *now, TCase *later, const TTest *test, int count, const int *list);
int run_suite(Suite *suite);
/* Kernels of most suites run for a moment and are not optimised (tests/run.sh). Those that are timed run longer than at level 0 and are
 * compiled sooner than at 3, long ones run longer than they are compiled, and some are asked about as users get them: such a suite says so
 * ahead of them. */
typedef enum kernel_use { kernels_timed = 1, kernels_long = 3, kernels_of_users = 3 } kernel_use;
void use_kernels(kernel_use use);
/* HIP's runtime and compiler are those of tests/doubles from now on, and no other compiler is there. */
void use_hip_double(void);
/* The host compiler is from now on a script in the folder, in which a shell edits the source, file $t, ahead of clang; and nothing is
 * cached. */
void use_compiler(const char *folder, const char *edit);
/* One by which kernels of rows do nothing unless their threads take 16 columns at a time. */
void use_bad_compiler(const char *folder);
#endif
