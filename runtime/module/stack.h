/* In: a module of a plan for stacks, and the weights and states of each layer. Out: a table in device memory with each layer's pointers,
 * which the launch reads, and calls that run a range of layers (execute.c). Refuses (TFGEN_USAGE) a module whose plan is not for stacks,
 * layers whose weights or states are missing, and kinds that the plan does not have; (TFGEN_UNSUPPORTED) more layers than a mark can count
 * (stack_most_layers()). */
#ifndef TFGEN_STACK_H
#define TFGEN_STACK_H
#include "runtime/module/module.h"

struct tfgen_stack {
    const tfgen_module *module;
    void *table;
    size_t layers;
};

typedef struct stack_layer {
    void *const *tensors, *const *weights; /* by tensor, by weight slot; tensors that are not states may be NULL */
    int kind;                              /* of the plan's kinds of layers; 0 if there is one */
} stack_layer;

/* Layers that a launch of the module can have: a mark counts at most 65535 workgroups (templates/frame/marks.h). */
size_t stack_most_layers(const tfgen_module *m);
/* TFGEN_UNSUPPORTED: `layers` exceeds stack_most_layers(). Call it before layers are allocated or read. */
tfgen_status stack_check_layers(const tfgen_module *m, size_t layers, tfgen_error *error);
/* Allocates and fills the table; freed by the caller. */
tfgen_status stack_make_table(const tfgen_module *m, const stack_layer *layers, size_t count, void **table, tfgen_error *error);
size_t stack_row_bytes(const tfgen_module *m);
#endif
