/* libtfgen: fused transformer kernels from a YAML op-graph, compiled at run time for the very GPU and shapes.
 *
 *     device   where kernels run: "hip:0", "cuda:0", "host"
 *     plan     a spec, its dimensions and a target: which kernels, what is fused into each, their HIP source. Needs no device
 *     module   a plan compiled (or taken from the kernel cache) and loaded on a device
 *     weights  one layer's parameters, packed, on a device: of all modules that compute that layer; many layers share a module
 *     execute  launches only: no allocation, no synchronisation, no lock; capturable in a HIP or CUDA graph
 *
 *     tfgen_device_open(NULL, &device, &error);
 *     options.target = tfgen_device_target(device);
 *     tfgen_plan_create(yaml, yaml_size, "ffn.yaml", &options, &plan, &error);
 *     tfgen_module_create(plan, device, NULL, &module, &error);
 *     tfgen_weights_create(module, tensors, stream, &weights, &error);
 *     tfgen_execute(module, weights, &args, workspace, stream, &error);
 *
 * Every object may be used from many threads at once: it is immutable once made, but for weights and modules, to which others may add
 * (tfgen_weights_add, tfgen_module_prepare) while calls are under way. Concurrent executes need separate workspaces and outputs. A plan
 * must outlive its modules, a device its modules and weights; weights and modules may be freed in any order, when no call is under way that
 * was given them. Nothing here prints, exits, installs signal handlers or keeps global state. Where a function returns a status, *out is
 * NULL unless TFGEN_OK, and `error` may be NULL. C99 and C++17. */
#ifndef TFGEN_H
#define TFGEN_H
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TFGEN_API
#else
#define TFGEN_API __attribute__((visibility("default")))
#endif

/* Of this header; tfgen_version() says what the library is that a program runs with. NUMBER: to compare with, 10203 of 1.2.3. */
#define TFGEN_VERSION_MAJOR 0
#define TFGEN_VERSION_MINOR 1
#define TFGEN_VERSION_PATCH 0
#define TFGEN_VERSION_NUMBER (TFGEN_VERSION_MAJOR * 10000 + TFGEN_VERSION_MINOR * 100 + TFGEN_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are also the command's exit codes. */
typedef enum tfgen_status {
    TFGEN_OK = 0,
    TFGEN_USAGE = 2,       /* an argument of the call is wrong, as a preset, a dim or a target that there is not */
    TFGEN_BAD_INPUT = 3,   /* the spec is wrong; the text says where: "ffn.yaml:12:5: error: ..." */
    TFGEN_UNSUPPORTED = 4, /* right, but not for this target or size, or no compiler for it on this machine */
    TFGEN_COMPILE_FAILED = 5, /* the compiler refused, crashed or ran out of time; the text has the kernel and the log's start */
    TFGEN_DEVICE_ERROR = 6,   /* a call of the driver failed; the text names it and its code */
    TFGEN_NO_MEMORY = TFGEN_DEVICE_ERROR,
    TFGEN_IO = 7
} tfgen_status;

/* What a status means, in a few words, as "a bad spec or input file"; never NULL. What went wrong in one call is in its tfgen_error. */
TFGEN_API const char *tfgen_status_text(tfgen_status status);

/* What went wrong, its first lines, cut to fit, always terminated. It begins with a place in the spec ("ffn.yaml:12:5: error: "), with the
 * function whose argument is wrong ("tfgen_execute: "), or with the thing itself; only a name begins with a capital letter, and neither a
 * full stop nor a line end is behind it. */
typedef struct tfgen_error { char text[1024]; } tfgen_error;

typedef struct tfgen_plan tfgen_plan;

typedef enum tfgen_fusion { TFGEN_FUSION_NONE = 0, TFGEN_FUSION_OPS = 1, TFGEN_FUSION_TILE = 2 } tfgen_fusion;

typedef struct tfgen_dim { const char *name; int64_t value; } tfgen_dim;

/* Set `size` to sizeof; fields that a later version adds are then taken as zero. */
typedef struct tfgen_plan_options {
    size_t size;
    const char *target;      /* "host", "gfx942", "sm_90a", ...: `tfgen help emit` lists them; NULL: host */
    const char *preset;      /* of the spec, or NULL */
    const char *dtype;       /* "f32", "f16", "bf16", or NULL for the spec's */
    const tfgen_dim *dims;   /* overrides, stronger than the preset */
    size_t dim_count;
    tfgen_fusion fusion;
    const char *const *no_fuse; /* fusions turned off by name */
    size_t no_fuse_count;
    /* What the device has that tiles are chosen for (units, chiplets, ...): a name that `tfgen devices --models` lists, or the text of a
     * device file, which has an end of line. Of the target; NULL: the target's default. */
    const char *device_model;
    /* Tiles of your own, as --tile has them: "gate_up: layer=wgmma m=128 n=192" (docs/planning.md). A phase or a setting that there is not
     * is TFGEN_USAGE, a tile that the program, the target or the sizes do not allow TFGEN_UNSUPPORTED; the text has what is legal. */
    const char *const *tiles;
    size_t tile_count;
    /* What tunings found, for phases without a tile of your own: a file (docs/tuning.md), or "none". NULL: $TFGEN_WISDOM, else
     * ~/.local/share/tfgen/wisdom, where there is one, over what is part of libtfgen. It decides time alone: what it has of other code or
     * other shapes is not used. */
    const char *wisdom;
} tfgen_plan_options;
#define TFGEN_PLAN_OPTIONS_INIT                                                                                \
    {                                                                                                          \
        sizeof(tfgen_plan_options), NULL, NULL, NULL, NULL, 0, TFGEN_FUSION_TILE, NULL, 0, NULL, NULL, 0, NULL \
    }

/* Reads `spec` (YAML, `size` bytes, not kept) and plans it. `name` is used in messages and in sources. *plan is NULL unless
 * TFGEN_OK. options and error may be NULL. */
TFGEN_API tfgen_status tfgen_plan_create(const char *spec, size_t size, const char *name, const tfgen_plan_options *options,
                                         tfgen_plan **plan, tfgen_error *error);
TFGEN_API void tfgen_plan_free(tfgen_plan *plan); /* NULL is fine */

/* Kernels in launch order. Strings live as long as the plan; NULL when index is out of range. */
TFGEN_API size_t tfgen_plan_kernel_count(const tfgen_plan *plan);
TFGEN_API const char *tfgen_plan_kernel_name(const tfgen_plan *plan, size_t index);
TFGEN_API const char *tfgen_plan_kernel_source(const tfgen_plan *plan, size_t index); /* one self-contained HIP file */

TFGEN_API const char *tfgen_plan_text(const tfgen_plan *plan);     /* the plan as IR text, as --dump=plan prints it */
TFGEN_API const char *tfgen_plan_manifest(const tfgen_plan *plan); /* JSON: kernels, arguments, grids, packed weights, workspace */

/* Warnings: what is accepted and may not be what the spec's author meant, such as a position that can lie past a cache's last row. One line
 * each, "ffn.yaml:12:5: warning: ..."; NULL when index is out of range. */
TFGEN_API size_t tfgen_plan_warning_count(const tfgen_plan *plan);
TFGEN_API const char *tfgen_plan_warning(const tfgen_plan *plan, size_t index);

TFGEN_API int64_t tfgen_plan_workspace_bytes(const tfgen_plan *plan);

/* The same for a call with other values of dynamic dims (NULL, 0: the plan's own); -1: a value outside the spec's range. */
TFGEN_API int64_t tfgen_workspace_bytes(const tfgen_plan *plan, const tfgen_dim *dims, size_t dim_count);

/* ---- tensors: what a plan reads and writes of the caller's. One index space for weights and for execute. */
typedef enum tfgen_tensor_kind { TFGEN_INPUT = 0, TFGEN_PARAM = 1, TFGEN_STATE = 2, TFGEN_OUTPUT = 3 } tfgen_tensor_kind;

/* Set `size` to sizeof before asking. Data is dense, row-major; a pointer must be aligned to 16 bytes. */
typedef struct tfgen_tensor {
    size_t size;
    const char *name; /* as the spec has it; of an output: its name in `outputs:` */
    tfgen_tensor_kind kind;
    const char *dtype; /* "f32", "f16", "bf16", "i32" */
    int rank;
    int64_t shape[8];  /* at the plan's own dims */
    int64_t bytes;     /* at the plan's own dims */
    const char *from;  /* param: its name in a safetensors file, or NULL */
    int from_transposed;
    /* Where from_row_end is not 0: only rows of that tensor (after it was transposed), of each group of from_row_group rows (0: of all)
     * those from from_row_first on, ahead of from_row_end. */
    int64_t from_row_first, from_row_end, from_row_group;
} tfgen_tensor;

TFGEN_API size_t tfgen_plan_tensor_count(const tfgen_plan *plan);
TFGEN_API tfgen_status tfgen_plan_tensor(const tfgen_plan *plan, size_t index, tfgen_tensor *out);
TFGEN_API size_t tfgen_plan_tensor_index(const tfgen_plan *plan, const char *name, tfgen_tensor_kind kind); /* (size_t)-1: none */

/* ---- devices. HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES are obeyed by the vendors' libraries, which are
 * opened at run time. HSA_OVERRIDE_GFX_VERSION is part of a kernel's key in the cache. */
typedef struct tfgen_device tfgen_device;

typedef struct tfgen_device_info {
    size_t size;
    char name[16];    /* "hip:0", "cuda:1", "host" */
    char label[96];   /* "NVIDIA H200" */
    char arch[64];    /* as its compiler is asked for: "gfx90a:sramecc+:xnack-", "sm_90a", "host" */
    char target[16];  /* for tfgen_plan_options.target; "" when tfgen has no target for it */
    int multiprocessors; /* compute units; on the host: processors */
    int64_t memory_bytes;
} tfgen_device_info;

/* Fills at most `room` entries (the first one's `size` says how large each is); returns how many there are. The host is always the
 * last. */
TFGEN_API size_t tfgen_device_list(tfgen_device_info *list, size_t room);
/* `name` as above, a kind alone ("hip"), or NULL: the first GPU that tfgen has a target for, else the host. A context that the calling
 * thread has current on a CUDA device is used, else the primary one is retained. */
TFGEN_API tfgen_status tfgen_device_open(const char *name, tfgen_device **device, tfgen_error *error);
TFGEN_API void tfgen_device_close(tfgen_device *device);
TFGEN_API const char *tfgen_device_target(const tfgen_device *device);
TFGEN_API tfgen_status tfgen_device_query(const tfgen_device *device, tfgen_device_info *out);

/* Memory, for programs that have no allocator of their own; any device pointer of the caller's does as well. */
typedef enum tfgen_copy_kind { TFGEN_TO_DEVICE = 0, TFGEN_FROM_DEVICE = 1, TFGEN_ON_DEVICE = 2 } tfgen_copy_kind;
TFGEN_API tfgen_status tfgen_device_alloc(tfgen_device *device, size_t bytes, void **memory, tfgen_error *error);
TFGEN_API void tfgen_device_free(tfgen_device *device, void *memory);
/* In stream order; from pageable host memory the call may wait. TFGEN_FROM_DEVICE has arrived when it returns. */
TFGEN_API tfgen_status tfgen_device_copy(tfgen_device *device, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream,
                                         tfgen_error *error);
TFGEN_API tfgen_status tfgen_device_synchronize(tfgen_device *device, void *stream, tfgen_error *error);

/* ---- modules */
typedef struct tfgen_module tfgen_module;

typedef struct tfgen_progress {
    size_t size;
    size_t done, total; /* kernels */
    const char *kernel; /* the one that is done now */
    int cached;
} tfgen_progress;

typedef struct tfgen_dim_list { const tfgen_dim *dims; size_t count; } tfgen_dim_list;

typedef struct tfgen_module_options {
    size_t size;
    int jobs;               /* compilers at once; 0: one a processor */
    double compile_seconds; /* limit of one kernel; 0: 300 */
    const char *cache_dir;  /* NULL: TFGEN_CACHE_DIR, XDG_CACHE_HOME/tfgen, ~/.cache/tfgen; "": no cache */
    void (*progress)(void *context, const tfgen_progress *progress); /* from any thread, never by two at once */
    void *context;
    const void *bundle;     /* code objects made ahead of time (`tfgen build`), looked up first; or NULL */
    size_t bundle_size;
    int bundle_only;        /* what the bundle lacks is TFGEN_UNSUPPORTED, no compiler is looked for */
    const tfgen_dim_list *variants; /* of tfgen_module_create(): each is prepared (tfgen_module_prepare) before it returns */
    size_t variant_count;
} tfgen_module_options;
#define TFGEN_MODULE_OPTIONS_INIT {sizeof(tfgen_module_options), 0, 0.0, NULL, NULL, NULL, NULL, 0, 0, NULL, 0}

/* Compiles what the cache lacks, in child processes, several at a time, and loads it. The plan's target must be the device's. */
TFGEN_API tfgen_status tfgen_module_create(const tfgen_plan *plan, tfgen_device *device, const tfgen_module_options *options,
                                           tfgen_module **module, tfgen_error *error);
/* Programs and tiles of a plan are chosen for its own dims; at other values of dynamic dims they are right, but may be slow (a module made
 * for 2048 rows that runs one). This plans the same spec for calls whose dynamic dims are at most these (those not given: the plan's own),
 * compiles it like tfgen_module_create() and adds it to the module as a variant. Each tfgen_execute() then runs, of the variants and the
 * module's own plan whose every dynamic dim is at least the call's, the one with the smallest product of dynamic dims (a variant ahead of
 * the module's own, an earlier one ahead of a later), or, where there is none, the module's own plan. tfgen_execute() never compiles.
 *
 * Weights of the module serve its variants; TFGEN_UNSUPPORTED where one would read other weights. Dims that are prepared already are left
 * alone. `options` as of tfgen_module_create(), or NULL. After an error the module is as it was. Others may execute meanwhile.
 *
 * A variant may need more workspace than the plan says: see tfgen_module_workspace_bytes() and tfgen_args.workspace_bytes. */
TFGEN_API tfgen_status tfgen_module_prepare(tfgen_module *module, const tfgen_dim *dims, size_t dim_count,
                                            const tfgen_module_options *options, tfgen_error *error);
/* Workspace for every call whose dynamic dims are at most these (NULL, 0: the plan's own), whichever variant runs it, of those that there
 * are now; -1: a value outside the spec's range. Without variants it is what tfgen_workspace_bytes() says, or less. */
TFGEN_API int64_t tfgen_module_workspace_bytes(const tfgen_module *module, const tfgen_dim *dims, size_t dim_count);
/* What the module runs: the plan's manifest, or, where kernels of that plan kept numbers in memory for want of registers, that of the plan
 * which was made again without their tiles ("spilled" in it says which); with variants, their manifests in "variants". Tensors, dims and
 * workspace are the plan's. Lives as long as module and plan; what variants add later is in what a later call returns. */
TFGEN_API const char *tfgen_module_manifest(const tfgen_module *module);
TFGEN_API void tfgen_module_free(tfgen_module *module);

/* ---- weights: memory on a device that holds one layer's params as kernels read them. Each packed weight in it has a signature, which says
 * which params it holds and how they lie, and is there once, whatever number of modules read it; so is a param that kernels read as it is,
 * by its name, dtype and shape. So one object serves every module that computes this layer (prefill and decode, other dims, another spec
 * with params of the same names), at the memory of one where they pack alike.
 *
 * tensors[i] is the device pointer of the plan's tensor i; only params are read. When a call returns, what it made is packed and copied:
 * the caller may free the originals. (A param whose shape has a dynamic dim is read by every execute instead.) */
typedef struct tfgen_weights tfgen_weights;
/* All that `module` reads. */
TFGEN_API tfgen_status tfgen_weights_create(tfgen_module *module, void *const *tensors, void *stream, tfgen_weights **weights,
                                            tfgen_error *error);
/* What another module of the same device reads and is not there yet, from the same layer's params: `tensors` are those of that module's
 * plan. Params of which nothing new is made may be NULL, and so may `tensors` when all is there. After an error the weights are as they
 * were. Others may execute with these weights meanwhile. */
TFGEN_API tfgen_status tfgen_weights_add(tfgen_weights *weights, tfgen_module *module, void *const *tensors, void *stream,
                                         tfgen_error *error);
TFGEN_API int64_t tfgen_weights_bytes(const tfgen_weights *weights); /* of device memory */
TFGEN_API void tfgen_weights_free(tfgen_weights *weights);

/* ---- execute */
typedef struct tfgen_args {
    size_t size;
    void *const *tensors;  /* tensors[i]: device pointer of the plan's tensor i; params of static shape may be NULL */
    const tfgen_dim *dims; /* dynamic dims that differ from the plan's own; NULL, 0: none */
    size_t dim_count;
    size_t workspace_bytes; /* how large the workspace is; 0: as tfgen_workspace_bytes() says for these dims */
} tfgen_args;
#define TFGEN_ARGS_INIT {sizeof(tfgen_args), NULL, NULL, 0, 0}

/* Launches every kernel of the plan on `stream` (hipStream_t, CUstream; NULL: the default one; the host runs at once). `workspace`:
 * device memory of tfgen_workspace_bytes(), aligned to 256 bytes, of this call alone until it is done; it needs no preparation and
 * holds nothing between calls. A variant (tfgen_module_prepare) whose workspace does not fit is not run; with args->workspace_bytes of
 * tfgen_module_workspace_bytes() all fit. `weights` must have what the module reads, else TFGEN_USAGE with the signature that they lack;
 * NULL where that is nothing. On the host a wrong pointer is a fault of the process, as anywhere in C. */
TFGEN_API tfgen_status tfgen_execute(const tfgen_module *module, const tfgen_weights *weights, const tfgen_args *args, void *workspace,
                                     void *stream, tfgen_error *error);

TFGEN_API const char *tfgen_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif
#endif
