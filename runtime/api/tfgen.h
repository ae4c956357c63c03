/* libtfgen: compiles a YAML op-graph into fused transformer kernels at run time, for the GPU and the shapes at hand.
 *
 *     device   where kernels run: "hip:0", "cuda:0", "host"
 *     plan     made from a spec, its dimensions and a target, without a device: the kernels, the ops fused into each, their HIP source
 *     module   a plan compiled (or taken from the kernel cache) and loaded on a device
 *     weights  one layer's packed parameters on a device, shared by all modules that compute that layer; many layers share a module
 *     execute  launches only: no allocation, no synchronisation, no lock; capturable in a HIP or CUDA graph
 *
 *     tfgen_device_open(NULL, &device, &error);
 *     options.target = tfgen_device_target(device);
 *     tfgen_plan_create(yaml, yaml_size, "ffn.yaml", &options, &plan, &error);
 *     tfgen_module_create(plan, device, NULL, &module, &error);
 *     tfgen_weights_create(module, tensors, stream, &weights, &error);
 *     tfgen_execute(module, weights, &args, workspace, stream, &error);
 *
 * Thread safety: every object may be used by several threads at once. Plans and devices are immutable; tfgen_weights_add() and
 * tfgen_module_prepare() may extend weights and modules while other threads use them. Concurrent executes need separate workspaces and
 * outputs. A plan must outlive its modules, a device its modules and weights; weights and modules may be freed in any order, once no call
 * that uses them is running. The library does not print, exit, install signal handlers or keep global state. A function that creates an
 * object sets *out to NULL on failure; `error` may be NULL everywhere. C99 and C++17. */
#ifndef TFGEN_H
#define TFGEN_H
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TFGEN_API
#else
#define TFGEN_API __attribute__((visibility("default")))
#endif

/* Version of this header; tfgen_version() returns that of the loaded library. NUMBER is for comparisons: 10203 for 1.2.3. */
#define TFGEN_VERSION_MAJOR 0
#define TFGEN_VERSION_MINOR 1
#define TFGEN_VERSION_PATCH 0
#define TFGEN_VERSION_NUMBER (TFGEN_VERSION_MAJOR * 10000 + TFGEN_VERSION_MINOR * 100 + TFGEN_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The values are also the exit codes of the tfgen command. */
typedef enum tfgen_status {
    TFGEN_OK = 0,
    TFGEN_USAGE = 2,       /* an argument is wrong, such as an unknown preset, dim or target */
    TFGEN_BAD_INPUT = 3,   /* the spec is wrong; the text has the place: "ffn.yaml:12:5: error: ..." */
    TFGEN_UNSUPPORTED = 4, /* valid, but not supported for this target or size, or this machine has no compiler for it */
    TFGEN_COMPILE_FAILED = 5, /* the compiler rejected the source, crashed or timed out; the text has the kernel and the start of its log */
    TFGEN_DEVICE_ERROR = 6,   /* a driver call failed; the text names the call and its error code */
    TFGEN_NO_MEMORY = TFGEN_DEVICE_ERROR, /* host or device memory ran out */
    TFGEN_IO = 7           /* a file could not be read or written */
} tfgen_status;

/* A short description of the status, such as "a bad spec or input file"; static, never NULL. Details of a failure are in tfgen_error. */
TFGEN_API const char *tfgen_status_text(tfgen_status status);

/* The error message, truncated to fit and always NUL-terminated, without a full stop or newline at its end. It begins with a position in
 * the spec ("ffn.yaml:12:5: error: "), with the function whose argument is wrong ("tfgen_execute: "), or with the message itself, in lower
 * case unless it starts with a name. */
typedef struct tfgen_error { char text[1024]; } tfgen_error;

typedef struct tfgen_plan tfgen_plan;

/* Fusion levels (docs/fusion.md). NONE: one kernel per op. OPS: elementwise ops join products' epilogues, linears of one input are
 * concatenated. TILE: also norms, RoPE and cache appends. BLOCK: as TILE, but all of it is one launch. AUTO: TILE or BLOCK,
 * whichever is predicted to be faster; the choice depends only on the spec, its dims, the device model, wisdom and tiles, and is "fusion"
 * in the manifest. */
typedef enum tfgen_fusion {
    TFGEN_FUSION_NONE = 0,
    TFGEN_FUSION_OPS = 1,
    TFGEN_FUSION_TILE = 2,
    TFGEN_FUSION_BLOCK = 3,
    TFGEN_FUSION_AUTO = 4
} tfgen_fusion;

typedef struct tfgen_dim { const char *name; int64_t value; } tfgen_dim;

/* Set `size` to sizeof(tfgen_plan_options): fields added by later versions of the library then default to zero. tfgen_plan_create() copies
 * everything that it needs. */
typedef struct tfgen_plan_options {
    size_t size;
    const char *target;      /* "host", "gfx942", "sm_90a", ...: `tfgen help emit` lists them; NULL: host */
    const char *preset;      /* name of a preset in the spec; NULL: none */
    const char *dtype;       /* "f32", "f16" or "bf16"; NULL: the spec's */
    const tfgen_dim *dims;   /* override the spec's and the preset's values */
    size_t dim_count;
    tfgen_fusion fusion;
    const char *const *no_fuse; /* names of fusions to disable */
    size_t no_fuse_count;
    /* The device model that tiles are chosen for (multiprocessors, chiplets, ...): a name that `tfgen devices --models` lists, or the text
     * of a device file (recognised by its newline). It must belong to `target`; NULL: the target's default. */
    const char *device_model;
    /* Tile overrides in the syntax of --tile: "gate_up: layer=wgmma m=128 n=192" (docs/planning.md). An unknown phase or setting is
     * TFGEN_USAGE; a tile that the program, the target or the sizes do not allow is TFGEN_UNSUPPORTED. The error lists what is legal. */
    const char *const *tiles;
    size_t tile_count;
    /* Tuning results for phases without an override: path of a file (docs/tuning.md), or "none". NULL: $TFGEN_WISDOM, else
     * ~/.local/share/tfgen/wisdom if it exists; its entries take precedence over those built into libtfgen. Wisdom affects speed only;
     * entries made for other code or other shapes are ignored. */
    const char *wisdom;
    /* Not 0: the spec is a layer, and one launch runs a stack of them (tfgen_stack_create()); `fusion` must be TFGEN_FUSION_BLOCK. The spec
     * must have one output and exactly one input of the same shape and dtype, through which a layer gets the output of the layer before it.
     * Any other spec, or one whose block is a single phase, is TFGEN_UNSUPPORTED. */
    int stack;
    int followed; /* not 0: calls may give the hint tfgen_args.next, which the last launch uses */
    /* With `stack`: specs (YAML, NUL-terminated) of other kinds of layers that share the launch, for models whose layers alternate, such as
     * local and global ones. The spec itself is kind 0, kinds[n] is kind n + 1; tfgen_stack_create_of_kinds() takes the kind of each layer.
     * The specs may differ in `theta`, `scaling` and `attention_factor` of ropes and in `window` of attentions; anything else that
     * differs, and more than 16 kinds, is TFGEN_UNSUPPORTED, with the op or value. Packed weights serve all kinds. */
    const char *const *kinds;
    size_t kind_count;
} tfgen_plan_options;
#define TFGEN_PLAN_OPTIONS_INIT                                                                                               \
    {                                                                                                                         \
        sizeof(tfgen_plan_options), NULL, NULL, NULL, NULL, 0, TFGEN_FUSION_TILE, NULL, 0, NULL, NULL, 0, NULL, 0, 0, NULL, 0 \
    }

/* Parses `spec` (YAML, `size` bytes; the caller may free it afterwards) and plans it. `name` is the spec's name in messages and emitted
 * sources. On failure *plan is NULL. `options` NULL: the defaults; `error` may be NULL. Free with tfgen_plan_free(). */
TFGEN_API tfgen_status tfgen_plan_create(const char *spec, size_t size, const char *name, const tfgen_plan_options *options,
                                         tfgen_plan **plan, tfgen_error *error);
TFGEN_API void tfgen_plan_free(tfgen_plan *plan); /* NULL is fine */

/* Kernels in launch order. The plan owns the strings; NULL if index is out of range. */
TFGEN_API size_t tfgen_plan_kernel_count(const tfgen_plan *plan);
TFGEN_API const char *tfgen_plan_kernel_name(const tfgen_plan *plan, size_t index);
TFGEN_API const char *tfgen_plan_kernel_source(const tfgen_plan *plan, size_t index); /* one self-contained HIP file */

TFGEN_API const char *tfgen_plan_text(const tfgen_plan *plan);     /* the plan as IR text, as --dump=plan prints it */
TFGEN_API const char *tfgen_plan_manifest(const tfgen_plan *plan); /* JSON: kernels, arguments, grids, packed weights, workspace */

/* Warnings: accepted, but possibly unintended, such as a position that may exceed a cache's last row. One line each,
 * "ffn.yaml:12:5: warning: ..."; NULL if index is out of range. The plan owns the strings. */
TFGEN_API size_t tfgen_plan_warning_count(const tfgen_plan *plan);
TFGEN_API const char *tfgen_plan_warning(const tfgen_plan *plan, size_t index);

TFGEN_API int64_t tfgen_plan_workspace_bytes(const tfgen_plan *plan); /* at the plan's own dims */

/* Workspace bytes of a call with these values of dynamic dims (NULL, 0: the plan's own); -1: an unknown or static dim, or a value outside
 * the spec's range. */
TFGEN_API int64_t tfgen_workspace_bytes(const tfgen_plan *plan, const tfgen_dim *dims, size_t dim_count);

/* ---- tensors: the caller's memory that a plan reads and writes. tfgen_weights_create() and tfgen_execute() use the same indices. */
typedef enum tfgen_tensor_kind { TFGEN_INPUT = 0, TFGEN_PARAM = 1, TFGEN_STATE = 2, TFGEN_OUTPUT = 3 } tfgen_tensor_kind;

/* Set `size` to sizeof(tfgen_tensor) before the call. Data is row-major, and dense unless row_stride differs from the last size; pointers
 * must be aligned to 16 bytes. The plan owns the strings. */
typedef struct tfgen_tensor {
    size_t size;
    const char *name; /* as in the spec; an output's name is that in `outputs:` */
    tfgen_tensor_kind kind;
    const char *dtype; /* "f32", "f16", "bf16", "i32" */
    int rank;
    int64_t shape[8];  /* at the plan's own dims */
    int64_t bytes;     /* at the plan's own dims */
    const char *from;  /* param: its name in a safetensors file, or NULL */
    int from_transposed; /* not 0: that tensor is the param's transpose */
    /* from_row_end != 0: the param is a slice of that tensor's rows (after transposition): rows [from_row_first, from_row_end) of each
     * group of from_row_group rows (0: one group of all rows). */
    int64_t from_row_first, from_row_end, from_row_group;
    /* Elements between the starts of consecutive rows (a row: the last axis): the last size of the shape, or the spec's `stride:` of an
     * input or output, at the plan's own dims. `bytes` has no padding after the last row. */
    int64_t row_stride;
    /* The dynamic dim that the spec's `stride:` names: each call gives the row stride with tfgen_args.dims, as a multiple of 16 bytes.
     * NULL: the stride is always row_stride. */
    const char *row_stride_dim;
} tfgen_tensor;

TFGEN_API size_t tfgen_plan_tensor_count(const tfgen_plan *plan);
TFGEN_API tfgen_status tfgen_plan_tensor(const tfgen_plan *plan, size_t index, tfgen_tensor *out);
TFGEN_API size_t tfgen_plan_tensor_index(const tfgen_plan *plan, const char *name, tfgen_tensor_kind kind); /* (size_t)-1: none */

/* ---- devices. Vendor libraries are opened at run time and obey HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES.
 * HSA_OVERRIDE_GFX_VERSION is part of a kernel's cache key. */
typedef struct tfgen_device tfgen_device;

typedef struct tfgen_device_info {
    size_t size;
    char name[16];    /* "hip:0", "cuda:1", "host" */
    char label[96];   /* "NVIDIA H200" */
    char arch[64];    /* as passed to the compiler: "gfx90a:sramecc+:xnack-", "sm_90a", "host" */
    char target[16];  /* for tfgen_plan_options.target; "" if tfgen has no target for the device */
    int multiprocessors; /* compute units; on the host: processors */
    int64_t memory_bytes;
} tfgen_device_info;

/* Fills at most `room` entries and returns the number of devices, which may be larger. list[0].size is the size of each entry. The host
 * comes last. */
TFGEN_API size_t tfgen_device_list(tfgen_device_info *list, size_t room);
/* `name`: as in tfgen_device_info, or a kind alone ("hip": its first device); NULL: the first GPU that tfgen has a target for, else the
 * host. A CUDA device uses the calling thread's current context if that context is on the device, else retains the primary context. An
 * unknown name is TFGEN_USAGE, a kind without devices TFGEN_UNSUPPORTED. */
TFGEN_API tfgen_status tfgen_device_open(const char *name, tfgen_device **device, tfgen_error *error);
TFGEN_API void tfgen_device_close(tfgen_device *device); /* NULL is fine */
TFGEN_API const char *tfgen_device_target(const tfgen_device *device); /* tfgen_device_info.target; the device owns it */
TFGEN_API tfgen_status tfgen_device_query(const tfgen_device *device, tfgen_device_info *out);

/* Device memory, for applications without an allocator of their own; any device pointer works as well. */
typedef enum tfgen_copy_kind { TFGEN_TO_DEVICE = 0, TFGEN_FROM_DEVICE = 1, TFGEN_ON_DEVICE = 2 } tfgen_copy_kind;
TFGEN_API tfgen_status tfgen_device_alloc(tfgen_device *device, size_t bytes, void **memory, tfgen_error *error);
TFGEN_API void tfgen_device_free(tfgen_device *device, void *memory);
/* Copies in stream order; may block if the source is pageable host memory. TFGEN_FROM_DEVICE returns once the data has arrived. */
TFGEN_API tfgen_status tfgen_device_copy(tfgen_device *device, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream,
                                         tfgen_error *error);
TFGEN_API tfgen_status tfgen_device_synchronize(tfgen_device *device, void *stream, tfgen_error *error);

/* ---- modules */
typedef struct tfgen_module tfgen_module;

typedef struct tfgen_progress {
    size_t size;
    size_t done, total; /* kernels */
    const char *kernel; /* the one just finished */
    int cached;         /* it came from the cache */
} tfgen_progress;

/* A compiler's messages for one kernel. */
typedef struct tfgen_log {
    size_t size;
    const char *kernel;
    const char *text; /* the whole log, with positions in the spec; NUL-terminated, lines end in newlines; valid during the call only */
    int failed;       /* not 0: there is no code; 0: warnings */
} tfgen_log;

typedef struct tfgen_dim_list { const tfgen_dim *dims; size_t count; } tfgen_dim_list;

typedef struct tfgen_module_options {
    size_t size;
    int jobs;               /* concurrent compilers; 0: one per processor */
    double compile_seconds; /* time limit per kernel; 0: 300 */
    const char *cache_dir;  /* NULL: TFGEN_CACHE_DIR, XDG_CACHE_HOME/tfgen, ~/.cache/tfgen; "": no cache */
    void (*progress)(void *context, const tfgen_progress *progress); /* called from any thread, never concurrently */
    void *context;
    const void *bundle;     /* code objects compiled ahead of time (`tfgen build`), searched first; or NULL */
    size_t bundle_size;
    int bundle_only;        /* never compile: a kernel that the bundle lacks is TFGEN_UNSUPPORTED */
    const tfgen_dim_list *variants; /* tfgen_module_create() prepares each (see tfgen_module_prepare) before it returns */
    size_t variant_count;
    /* Called with `context` for each kernel whose compiler wrote messages (tfgen_error holds only the start of the first failure), from any
     * thread, never concurrently with itself or `progress`. Kernels from the cache or the bundle have no log. NULL: none. */
    void (*log)(void *context, const tfgen_log *log);
} tfgen_module_options;
#define TFGEN_MODULE_OPTIONS_INIT {sizeof(tfgen_module_options), 0, 0.0, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, NULL}

/* Loads the plan's kernels onto the device; compiles those that neither bundle nor cache has, several at a time, in child processes. A plan
 * for another target than the device's is TFGEN_UNSUPPORTED. `options` NULL: the defaults. */
TFGEN_API tfgen_status tfgen_module_create(const tfgen_plan *plan, tfgen_device *device, const tfgen_module_options *options,
                                           tfgen_module **module, tfgen_error *error);
/* Adds a variant: the same spec planned for calls whose dynamic dims are at most `dims` (those not given: the plan's own), and compiled
 * like tfgen_module_create() does. The module's own plan computes such calls correctly, but its programs and tiles were chosen for its own
 * dims and may be slow (planned for 2048 rows, run with one). tfgen_execute() considers the variants and the own plan whose dynamic dims
 * are all at least the call's, and runs the one with the smallest product of dynamic dims (ties: variants first, in order of preparation);
 * if none qualifies, the own plan. tfgen_execute() never compiles.
 *
 * Variants use the module's weights; a variant that would need others is TFGEN_UNSUPPORTED. Dims already prepared are a no-op. `options` as
 * for tfgen_module_create(), without variants, or NULL. On failure the module is unchanged. Other threads may execute meanwhile.
 *
 * A variant may need more workspace than the plan: see tfgen_module_workspace_bytes() and tfgen_args.workspace_bytes. */
TFGEN_API tfgen_status tfgen_module_prepare(tfgen_module *module, const tfgen_dim *dims, size_t dim_count,
                                            const tfgen_module_options *options, tfgen_error *error);
/* Workspace bytes that suffice for every call whose dynamic dims are at most these (NULL, 0: the plan's own), with any variant prepared so
 * far; -1: an unknown or static dim, or a value outside the spec's range. Without variants at most tfgen_workspace_bytes(). */
TFGEN_API int64_t tfgen_module_workspace_bytes(const tfgen_module *module, const tfgen_dim *dims, size_t dim_count);
/* Manifest (JSON) of what the module runs. It differs from the plan's if kernels spilled registers and were planned again with other tiles
 * ("spilled" lists them), and has the variants' manifests in "variants". Tensors, dims and workspace are the plan's. The string is valid as
 * long as module and plan; call again to see variants prepared later. */
TFGEN_API const char *tfgen_module_manifest(const tfgen_module *module);
TFGEN_API void tfgen_module_free(tfgen_module *module); /* NULL is fine */

/* ---- checkpoints: tensors of a .safetensors file, of the index of a sharded one, or of a model folder as on the HuggingFace Hub. Tensor
 * data is read on demand. Nothing is executed: a pickle is TFGEN_BAD_INPUT. A missing tensor or a wrong shape is TFGEN_BAD_INPUT; the text
 * has the nearest name or both shapes. Thread-safe; concurrent reads of one checkpoint are serialised. */
typedef struct tfgen_checkpoint tfgen_checkpoint;
typedef struct tfgen_checkpoint_entry {
    size_t size;
    char dtype[16]; /* as in the file: "F32", "BF16", "I64", ... */
    int rank;
    int64_t shape[16];
    int64_t bytes;
} tfgen_checkpoint_entry;

TFGEN_API tfgen_status tfgen_checkpoint_open(const char *path, tfgen_checkpoint **checkpoint, tfgen_error *error);
TFGEN_API void tfgen_checkpoint_close(tfgen_checkpoint *checkpoint); /* NULL is fine */
/* Names of the tensors, in unspecified order; NULL if index is out of range. The checkpoint owns the strings. */
TFGEN_API size_t tfgen_checkpoint_count(const tfgen_checkpoint *checkpoint);
TFGEN_API const char *tfgen_checkpoint_name(const tfgen_checkpoint *checkpoint, size_t index);
/* Set out->size before the call. */
TFGEN_API tfgen_status tfgen_checkpoint_find(tfgen_checkpoint *checkpoint, const char *name, tfgen_checkpoint_entry *out,
                                             tfgen_error *error);
/* Copies a tensor's data, as in the file, to host memory; `bytes` must be its size. */
TFGEN_API tfgen_status tfgen_checkpoint_read(tfgen_checkpoint *checkpoint, const char *name, void *to, size_t bytes, tfgen_error *error);
/* Copies the data of the plan's tensor `index`, a param, to host memory of tfgen_tensor.bytes, sliced, transposed and converted to the
 * plan's dtype as the spec says. Its name in the checkpoint is the param's `from`, else its own name, as it is or after the spec's prefix.
 * `layer` replaces {layer} in the prefix; -1: none. */
TFGEN_API tfgen_status tfgen_checkpoint_param(tfgen_checkpoint *checkpoint, const tfgen_plan *plan, size_t index, int64_t layer, void *to,
                                              size_t bytes, tfgen_error *error);

/* ---- weights: device memory with one layer's params in the layouts that kernels read. A packed weight is identified by a signature (its
 * params and their layout), an unpacked param by name, dtype and shape; each is stored once, however many modules read it. One object thus
 * serves every module that computes this layer (prefill and decode, other dims, another spec with the same param names); modules with the
 * same packed layout share memory.
 *
 * tensors[i] is the device pointer of the plan's tensor i; only params are read. Packing and copying are complete when a call returns, so
 * the caller may free the originals. (A param whose shape has a dynamic dim is not copied: every execute reads the caller's.) */
typedef struct tfgen_weights tfgen_weights;
/* Packs all weights that `module` reads, on `stream`, and synchronises it. A NULL or misaligned param is TFGEN_USAGE. */
TFGEN_API tfgen_status tfgen_weights_create(tfgen_module *module, void *const *tensors, void *stream, tfgen_weights **weights,
                                            tfgen_error *error);
/* Adds the weights that another module on the same device reads and that are still missing. `tensors` has the same layer's params, by that
 * plan's indices; a param that no missing weight is made from may be NULL, and so may `tensors` if none is missing. On failure the weights
 * are unchanged. Other threads may execute with these weights meanwhile. */
TFGEN_API tfgen_status tfgen_weights_add(tfgen_weights *weights, tfgen_module *module, void *const *tensors, void *stream,
                                         tfgen_error *error);
TFGEN_API int64_t tfgen_weights_bytes(const tfgen_weights *weights); /* device memory in bytes */
TFGEN_API void tfgen_weights_free(tfgen_weights *weights); /* NULL is fine */

/* ---- execute */
typedef struct tfgen_args {
    size_t size;
    void *const *tensors;  /* tensors[i]: device pointer of the plan's tensor i; params of static shape may be NULL */
    const tfgen_dim *dims; /* dynamic dims that differ from the plan's own; NULL, 0: none */
    size_t dim_count;
    size_t workspace_bytes; /* size of the workspace; 0: tfgen_workspace_bytes() for these dims */
    /* A hint, for plans with options.followed: the module and the weights of the call that follows on this stream. The call's last launch
     * prefetches the weights that it reads first, if the target overlaps launches; results are the same. NULL: nothing. Both must live as
     * long as this call, also where it is captured in a graph. */
    const tfgen_module *next;
    const tfgen_weights *next_weights;
    size_t next_bytes; /* most bytes to prefetch; 0: 4 MB. Gains time only if that call is launched right behind this one */
} tfgen_args;
#define TFGEN_ARGS_INIT {sizeof(tfgen_args), NULL, NULL, 0, 0, NULL, NULL, 0}

/* Launches the kernels of the plan, or of a variant, on `stream` (hipStream_t, CUstream; NULL: the default stream) and returns without
 * waiting; on the host it returns when they are done. `workspace`: device memory of tfgen_workspace_bytes() bytes, aligned to 256, used by
 * no other call until this one has finished on the device; it needs no initialisation and keeps nothing between calls except the record of
 * a wait that timed out (tfgen_execute_check()). A variant whose workspace does not fit is skipped; all fit if args->workspace_bytes is
 * tfgen_module_workspace_bytes(). `weights` must hold all weights that the module reads, else TFGEN_USAGE with the missing signature; NULL
 * if the module reads none. Arguments are checked before the first launch. On the host an invalid pointer crashes the process, as anywhere
 * in C. */
TFGEN_API tfgen_status tfgen_execute(const tfgen_module *module, const tfgen_weights *weights, const tfgen_args *args, void *workspace,
                                     void *stream, tfgen_error *error);
/* Checks the last call with these arguments, workspace and stream for timeouts, where workgroups wait for each other's tiles within a
 * launch; synchronises the stream if the plan has such launches. TFGEN_DEVICE_ERROR, with the launch, phase and counter: a wait timed out,
 * and the results are wrong, by a bug of tfgen or because another program kept workgroups off the device. At level BLOCK it reports the
 * first timeout of all calls in that workspace since the last check; calls without a timeout are correct. On the host tfgen_execute()
 * returns this error itself. */
TFGEN_API tfgen_status tfgen_execute_check(const tfgen_module *module, const tfgen_args *args, void *workspace, void *stream,
                                           tfgen_error *error);

/* ---- stacks: layers of a model, computed by one launch. */
typedef struct tfgen_stack tfgen_stack;
/* A stack of `layers` layers of a module whose plan has options.stack. weights[n] holds the weights of layer n, and tensors[n][i] is the
 * device pointer of its tensor i; only states are read. NULL: the module reads no weights, or the plan has no states. The pointers are
 * copied into a table on the device; what they point to must live as long as the stack is used, and the module as long as the stack. A
 * module of another plan, or a layer that lacks a weight or a state, is TFGEN_USAGE; more layers than a launch can count is
 * TFGEN_UNSUPPORTED, with the limit (496 on 132 multiprocessors). */
TFGEN_API tfgen_status tfgen_stack_create(const tfgen_module *module, const tfgen_weights *const *weights, void *const *const *tensors,
                                          size_t layers, tfgen_stack **stack, tfgen_error *error);
/* The same for layers of several kinds (tfgen_plan_options.kinds): kinds[n] is the kind of layer n, in any order; NULL: all are of kind 0.
 * A kind that the plan does not have is TFGEN_USAGE. */
TFGEN_API tfgen_status tfgen_stack_create_of_kinds(const tfgen_module *module, const int *kinds, const tfgen_weights *const *weights,
                                                   void *const *const *tensors, size_t layers, tfgen_stack **stack, tfgen_error *error);
TFGEN_API void tfgen_stack_free(tfgen_stack *stack); /* NULL is fine */
/* Runs layers first, first + 1, ... of the stack, `count` of them, as tfgen_execute() runs one: the first reads args->tensors' input, the
 * last stores to its output, and all read the other inputs. States in args->tensors may be NULL. The workspace is that of the plan, however
 * many layers run. tfgen_execute_check() with the stack's module checks the call. */
TFGEN_API tfgen_status tfgen_stack_execute(const tfgen_stack *stack, size_t first, size_t count, const tfgen_args *args, void *workspace,
                                           void *stream, tfgen_error *error);

TFGEN_API const char *tfgen_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif
#endif
