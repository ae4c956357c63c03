/* In: a plan and a device. Out: the code on that device, and for every launch where its arguments come from, so that a launch is a few
 * copies and one call of the driver. Shared by module.c, weights.c, execute.c and guarded_run.c; immutable once built. */
#ifndef TFGEN_MODULE_H
#define TFGEN_MODULE_H
#include "runtime/api/compile.h"
#include "runtime/device/device.h"
#include <pthread.h>

enum {
    argument_room = 4096,  /* bytes of a kernel's arguments; what every driver takes */
    most_workspace = 2048, /* stored values and scratches: their addresses are on the stack of a call */
    most_weights = 2048,   /* packed weights and copies: likewise */
    most_tensors = 65535
};

/* The caller's tensors: inputs, params, states and outputs, in this order. An index of the public interface is one of this list. */
typedef struct tensor_list {
    const ir_value **values;
    int count;
} tensor_list;
tensor_list tensors_of(arena *a, const plan *p);
tfgen_tensor_kind tensor_kind_of(const ir_value *v);
bool param_is_kept(const ir_value *v); /* a param of static shape: part of a layer's weights. Others are read anew by every call */

struct tfgen_plan {
    arena *arena;
    compile_request request;
    compiled compiled;
    const char *text, *manifest;
    const char **warnings;
    size_t warning_count;
    _Atomic(char *) *sources; /* by kernel: whole, once somebody asked; free() */
    tensor_list tensors;
};

/* Where an argument comes from. */
typedef enum binding_kind { binding_tensor, binding_workspace, binding_weights, binding_dim, binding_map } binding_kind;
typedef struct binding {
    unsigned short kind, offset;
    int index; /* tensor; stored value, then scratch; weight; dim; map */
} binding;

/* A tensor map of a launch, encoded by each call. */
typedef struct map_binding {
    const tensor_box *box;
    binding memory; /* where the matrix lies */
} map_binding;
enum { map_bytes = 128 }; /* and their alignment */

typedef struct module_kernel { /* a pack kernel or a launch */
    const char *name, *file;
    const source_text *source;
    size_t source_size;
    const struct launch *launch; /* NULL: a pack kernel */
    launch_shape shape;          /* grid: at the plan's own dims */
    binding *bindings;
    int binding_count;
    unsigned argument_bytes;
    void *image, *kernel;
} module_kernel;

/* What launches read of a layer's weights: a packed weight, or the copy of a param that kernels read as it is. */
typedef struct weight_slot {
    const char *name;
    const char *key; /* of what is in it: slots of one key hold the same bytes for the same params, in whatever module they are */
    long long bytes;
    int tensor; /* the param that is copied; -1: filled by the pack kernel with this slot's index */
} weight_slot;

struct tfgen_module {
    arena *arena;
    tfgen_device *device;
    const plan *plan;
    const char *manifest; /* NULL: nobody asked for it; of a variant: the module's, with all variants so far */
    /* The same spec planned for other dims (runtime/module/variants.h), in modules of their own that this one owns. */
    const tfgen_plan *made_of;                /* by tfgen_module_create(); NULL: it has no variants */
    _Atomic(struct tfgen_module *) variants;  /* the one prepared last */
    pthread_mutex_t preparing;                /* of those who add one */
    const struct tfgen_module *beside;        /* of a variant: the module */
    struct tfgen_module *earlier;             /* of a variant: the one prepared before it, or NULL */
    arena *plan_arena;                        /* of a variant: its plan's */
    tensor_list tensors;
    int *needed; /* tensors that launches take from the caller */
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
    const tfgen_module_options *options; /* all but cache_dir */
    struct cache *cache;                 /* NULL: none */
    host_log *log;                       /* what compilers said of an error is appended to it; or NULL */
    bool same_workspace; /* no plan made again may need more workspace: the caller has asked for the plan's */
    const tfgen_module *beside; /* not NULL: a variant of this module is built. It packs nothing, and what has a source that the module or a
                                 * variant of it has runs their code */
} module_settings;
/* The plan must outlive the module, the cache need not. The module's plan is another where kernels of this one
 * spill (runtime/module/plan_code.h). */
tfgen_status module_build(const plan *p, tfgen_device *d, const module_settings *settings, tfgen_module **out, tfgen_error *error);

/* Memory of one run: by tensor, by workspace item, by slot of the weights. A tensor that no launch takes may be NULL. */
typedef struct call {
    const dim_table *dims; /* NULL: the plan's own, and grids as they are in the kernels */
    void *const *tensors, *const *workspace, *const *weights;
    void *stream;
} call;
unsigned module_grid(const tfgen_module *m, const struct launch *l, const dim_table *dims); /* workgroups of a launch on its device */
tfgen_status module_kernel_launch(const tfgen_module *m, const module_kernel *u, const call *c, tfgen_error *error);
#endif
