/* In: a spec of a model, a device, a model's checkpoint. Out: the spec planned and loaded, its weights on the device, its launches. Refuses
 * what tfgen_plan_create() and tfgen_module_create() refuse, specs of more than 256 tensors (TFGEN_UNSUPPORTED), and checkpoint tensors
 * that are missing or have another shape (TFGEN_BAD_INPUT). */
#ifndef TFGEN_GENERATE_UNIT_H
#define TFGEN_GENERATE_UNIT_H
#include "runtime/data/checkpoint.h"
#include "runtime/module/module.h"

typedef struct unit {
    tfgen_plan *plan;
    tfgen_module *module;
    size_t count; /* tensors */
    size_t workspace_bytes;
} unit;

/* Fields as in tfgen_plan_options; NULL and 0: the defaults. */
typedef struct unit_options {
    const char *dtype, *device_model, *wisdom;
    const char *const *tiles;
    size_t tile_count;
    const tfgen_module_options *module;
    bool stack;    /* plan a stack of layers, which unit_run_stack() runs */
    const char *const *kinds; /* of a stack: specs of other kinds of its layers */
    size_t kind_count;
    bool followed; /* calls may name the one that follows (unit_call.next) */
} unit_options;

tfgen_status unit_open(unit *u, tfgen_device *d, const char *spec, const char *name, const unit_options *options, const tfgen_dim *dims,
                       size_t dim_count, tfgen_error *error);
void unit_close(unit *u);

/* A tensor of the spec, by name and kind, and its device memory. */
typedef struct unit_tensor {
    const char *name;
    tfgen_tensor_kind kind;
    void *memory;
} unit_tensor;
/* What one call passes. Those of `tensors` that the spec lacks are skipped. */
typedef struct unit_call {
    const unit_tensor *tensors;
    size_t tensor_count;
    const tfgen_dim *dims;
    size_t dim_count;
    void *workspace, *stream;
    const unit *next; /* the fields next, next_weights and next_bytes of tfgen_args, with a unit for the module; NULL: the next call is not
                       * known */
    const tfgen_weights *next_weights;
    size_t next_bytes;
} unit_call;
/* Launches the unit's kernels; on a GPU it does not wait for them. */
tfgen_status unit_run(const unit *u, const tfgen_weights *weights, const unit_call *call, tfgen_error *error);
/* Likewise, for a unit planned as a stack: layers first, ..., first + count - 1 in one launch, with the weights and states in `stack`. */
tfgen_status unit_run_stack(const unit *u, const tfgen_stack *stack, size_t first, size_t count, const unit_call *call, tfgen_error *error);
/* The device memory of each tensor of the unit, which has at most most_unit_tensors; NULL: none of `tensors`. */
enum { most_unit_tensors = 256 };
void unit_put_tensors(const unit *u, const unit_tensor *tensors, size_t tensor_count, void **all);
/* Bails unless TFGEN_OK: the first line of the error's text is the message, the other lines its log. */
void unit_need(arena *a, tfgen_status status, const tfgen_error *error);
/* Packs the params of `units`, which must all have the same params, into one object that serves all of them; the caller frees it. Call it
 * within arena_run() of the checkpoint's arena: it bails. */
tfgen_weights *unit_weights(arena *a, const unit *const *units, size_t count, checkpoint *tensors, layer_place place);
double unit_seconds(void); /* monotonic clock */
#endif
