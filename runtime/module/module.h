/* In: a plan and a device. Out: the code loaded on that device, and for every launch where each argument comes from, so that a launch is a
 * few copies and one driver call. Used by module.c, weights.c, execute.c and guarded_run.c; immutable once built. */
#ifndef TFGEN_MODULE_H
#define TFGEN_MODULE_H
#include "runtime/api/compile.h"
#include "runtime/device/device.h"
#include <pthread.h>

enum {
    argument_room = 4096,  /* bytes of a kernel's arguments; every driver accepts this many */
    most_workspace = 2048, /* stored values and scratches; tfgen_execute() keeps their addresses on its stack */
    most_weights = 2048,   /* packed weights and copies: likewise */
    most_tensors = 65535
};

/* The caller's tensors: inputs, params, states and outputs, in this order. Tensor indices of the public interface index this list. */
typedef struct tensor_list {
    const ir_value **values;
    int count;
} tensor_list;
tensor_list tensors_of(arena *a, const plan *p);
tfgen_tensor_kind tensor_kind_of(const ir_value *v);
bool param_is_kept(const ir_value *v); /* a param of static shape is stored in the weights; others are read from the caller by each call */

struct tfgen_plan {
    arena *arena;
    compile_request request;
    compiled compiled;
    const char *text, *manifest;
    const char **warnings;
    size_t warning_count;
    _Atomic(char *) *sources; /* by kernel: its whole source, joined on first request; malloc()ed; NULL: not yet */
    tensor_list tensors;
};

/* Where an argument comes from. */
typedef enum binding_kind {
    binding_tensor, binding_workspace, binding_weights, binding_dim, binding_map, binding_table, binding_layers,
    binding_kind_of_layer, binding_next
} binding_kind;
typedef struct binding {
    unsigned short kind, offset;
    int index; /* for a tensor, dim or map: its index; for workspace: the item (stored values, then scratches); for weights: the slot;
                * unused by other kinds */
} binding;

/* A tensor map argument of a launch, encoded anew by each call. */
typedef struct map_binding {
    const tensor_box *box;
    binding memory; /* the matrix's storage */
} map_binding;
enum { map_bytes = 128 }; /* size and alignment of a tensor map */

typedef struct module_kernel { /* a pack kernel or a launch */
    const char *name, *file;
    const source_text *source;
    size_t source_size;
    const struct launch *launch; /* NULL: a pack kernel */
    launch_shape shape;          /* grid: at the plan's own dims */
    binding *bindings;
    int binding_count;
    binding *row; /* of a stack: a layer's row of the table: addresses of tensors and weights, its kind (runtime/module/stack.h) */
    int row_length;
    unsigned argument_bytes;
    unsigned most_resident; /* cooperative launch: workgroups that the device holds at once; 0: any other launch */
    void *image, *kernel;
} module_kernel;

/* One buffer of a layer's weights: a packed weight, or the copy of a param that kernels read unpacked. */
typedef struct weight_slot {
    const char *name;
    const char *key; /* identifies the content: for the same params, slots with one key hold the same bytes, in any module */
    long long bytes;
    int tensor; /* the param that is copied; -1: filled by the pack kernel with this slot's index */
} weight_slot;

struct tfgen_module {
    arena *arena;
    tfgen_device *device;
    const plan *plan;
    const char *manifest; /* NULL until tfgen_module_create() sets the plan's; in a variant: its owner's manifest, with all variants up to
                           * this one */
    /* Variants (runtime/module/variants.h): the same spec planned for other dims, in modules that this one owns. */
    const tfgen_plan *made_of;                /* set by tfgen_module_create(); NULL: the module cannot have variants */
    _Atomic(struct tfgen_module *) variants;  /* the latest; `earlier` links the others */
    pthread_mutex_t preparing;                /* held while a variant is added */
    const struct tfgen_module *beside;        /* in a variant: its owner */
    struct tfgen_module *earlier;             /* in a variant: the one prepared before it, or NULL */
    arena *plan_arena;                        /* in a variant: its plan's */
    tensor_list tensors;
    int *needed; /* indices of tensors whose caller's memory the launches access */
    int needed_count;
    module_kernel *kernels; /* pack kernels, then launches */
    int pack_count, launch_count;
    weight_slot *weights; /* packed weights, then copies */
    int weight_count;
    map_binding *maps;
    int map_count;
    int workspace_count;
    long long *offsets, workspace_bytes; /* at the plan's own dims */
};

typedef struct module_settings {
    const tfgen_module_options *options; /* cache_dir is ignored */
    struct cache *cache;                 /* NULL: none */
    host_log *log;                       /* gets compiler messages of a failure; or NULL */
    bool same_workspace; /* a plan made again after spills must not need more workspace: the caller relies on the first one's size */
    const tfgen_module *beside; /* not NULL: build a variant of this module. It has no pack kernels, and shares the code of kernels whose
                                 * source the module or another variant has */
} module_settings;
/* The plan must outlive the module, the cache need not. If kernels spill, the module uses a plan made again
 * (runtime/module/plan_code.h). */
tfgen_status module_build(const plan *p, tfgen_device *d, const module_settings *settings, tfgen_module **out, tfgen_error *error);

typedef struct next_call { /* weight_runs of templates/frame/next.h */
    const void *first;
    int64_t step;
    int count, bytes;
} next_call;
_Static_assert(sizeof(next_call) == next_call_bytes, "the layout of weight_runs");

/* Memory of one run: addresses by tensor, by workspace item, by weight slot. Tensors that no launch uses may be NULL. */
typedef struct call {
    const dim_table *dims; /* NULL: the plan's own, with the grids stored in the kernels */
    void *const *tensors, *const *workspace, *const *weights;
    void *stream;
    next_call next;
    const void *table; /* of a stack: device memory, the row of the first layer */
    int layers;
} call;
unsigned module_grid(const tfgen_module *m, const module_kernel *u, const dim_table *dims); /* workgroups of a launch on its device */
tfgen_status module_kernel_launch(const tfgen_module *m, const module_kernel *u, const call *c, tfgen_error *error);
#endif
