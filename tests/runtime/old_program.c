/* A program built against an earlier tfgen.h, whose structs have fewer fields: fields are appended only, so that today's library runs it.
 * Its declarations are a deliberate copy of the old header and never change.
 *
 *     cc old_program.c -ltfgen -o old_program && ./old_program */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char text[1024]; } old_error;
typedef struct { const char *name; int64_t value; } old_dim;
typedef struct {
    size_t size;
    const char *target, *preset, *dtype;
    const old_dim *dims;
    size_t dim_count;
    int fusion;
    const char *const *no_fuse;
    size_t no_fuse_count;
} old_plan_options;
typedef struct {
    size_t size;
    const char *name;
    int kind;
    const char *dtype;
    int rank;
    int64_t shape[8], bytes;
} old_tensor;
typedef struct {
    size_t size;
    int jobs;
    double compile_seconds;
    const char *cache_dir;
} old_module_options;
typedef struct {
    size_t size;
    void *const *tensors;
    const old_dim *dims;
    size_t dim_count;
} old_args;

int tfgen_device_open(const char *, void **, old_error *);
void tfgen_device_close(void *);
int tfgen_plan_create(const char *, size_t, const char *, const old_plan_options *, void **, old_error *);
int64_t tfgen_plan_workspace_bytes(const void *);
int tfgen_plan_tensor(const void *, size_t, old_tensor *);
void tfgen_plan_free(void *);
int tfgen_module_create(const void *, void *, const old_module_options *, void **, old_error *);
void tfgen_module_free(void *);
int tfgen_execute(const void *, const void *, const old_args *, void *, void *, old_error *);

static old_error error;

static void must(int status)
{
    if (status) fprintf(stderr, "%d: %s\n", status, error.text), exit(1);
}

int main(void)
{
    static const char spec[] = "block: twice\ndtype: f32\ndims: {M: 2, K: 8}\ndynamic: {M: [1, 4]}\ninputs: {x: [M, K]}\n"
                               "ops:\n  - {out: y, op: add, in: [x, x]}\noutputs: {y: y}\n";
    static _Alignas(16) float x[24], y[24];
    const old_dim dims[] = {{"M", 1}}, rows[] = {{"M", 3}};
    const old_plan_options options = {sizeof options, "host", NULL, "f32", dims, 1, 2, NULL, 0};
    const old_module_options module_options = {sizeof module_options, 1, 60, NULL};
    void *device, *plan, *module, *tensors[] = {x, y};
    /* Memory behind an old struct belongs to the program. */
    struct { old_tensor tensor; char behind[64]; } t = {.tensor.size = sizeof t.tensor};
    memset(t.behind, 0x5a, sizeof t.behind);
    for (int i = 0; i < 24; i++) x[i] = (float)i;
    must(tfgen_device_open("host", &device, &error));
    must(tfgen_plan_create(spec, sizeof spec - 1, "old.yaml", &options, &plan, &error));
    must(tfgen_plan_tensor(plan, 1, &t.tensor));
    for (size_t i = 0; i < sizeof t.behind; i++)
        if (t.behind[i] != 0x5a) return fprintf(stderr, "byte %zu behind a tensor was written\n", i), 1;
    must(tfgen_module_create(plan, device, &module_options, &module, &error));
    void *workspace = aligned_alloc(256, 4096);
    if (tfgen_plan_workspace_bytes(plan) > 4096) return 1;
    const old_args args = {sizeof args, tensors, rows, 1};
    must(tfgen_execute(module, NULL, &args, workspace, NULL, &error));
    for (int i = 0; i < 24; i++)
        if (y[i] != 2 * x[i]) return fprintf(stderr, "y[%d] is %g\n", i, y[i]), 1;
    free(workspace);
    tfgen_module_free(module);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
    printf("%s of %d axes, kind %d\n", t.tensor.name, t.tensor.rank, t.tensor.kind);
    return 0;
}
