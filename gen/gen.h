/* Plans the kernels of a fused graph for a device model (plan_choose) and writes their HIP source (emit). A plan has kernels, tiles,
 * arguments, packed weights and workspace. Neither step uses a device or a file. What exceeds a limit of the target is refused
 * (code_unsupported, with the limit). */
#ifndef TFGEN_GEN_H
#define TFGEN_GEN_H
#include "ir/devices/device_model.h"
#include "ir/graph/format.h"

/* A source file in three pieces: `head` and `body` are the kernel's own; kernels with the same set of templates share `templates`. */
typedef struct source_text {
    const char *head, *templates, *body;
} source_text;
size_t source_size(const source_text *s);
bool source_same(const source_text *x, const source_text *y);
/* The whole file, NUL-terminated: source_join() allocates in an arena; source_whole() uses malloc (caller frees; NULL: out of memory). */
char *source_join(arena *a, const source_text *s);
char *source_whole(const source_text *s);

typedef enum argument_kind {
    argument_value,   /* pointer to a value's storage (input, param, state, output or workspace) */
    argument_packed,  /* pointer to a packed weight */
    argument_scratch, /* pointer to workspace that holds no value of the spec, such as split-K partials */
    argument_map,     /* a tensor map (TMA descriptor) by value, 128 bytes aligned to 128: the launcher encodes it from tensor_box */
    argument_dim,     /* int: a dynamic dim */
    argument_kind_of_layer, /* int: the layer's kind, in a stack whose layers are of several kinds (ir/graph/layer_kinds.h) */
    argument_table,   /* pointer to a stack's table: a row of launch.row_length words per layer */
    argument_layers,  /* int: the number of layers that a stack's launch computes */
    argument_next     /* by value: the weights that the next call reads first (weight_runs of templates/frame/next.h) */
} argument_kind;

/* A matrix in memory and the box of it that one tensor load (TMA) copies, with a 128-byte swizzle and zeros for what lies outside the
 * matrix. With `pieces`, the matrix is a packed weight and is loaded without swizzle. Its rows, columns and box are then counted in pieces
 * of 1 KB (docs/packing.md): `rows` along the packed columns, `columns` along K. */
typedef struct tensor_box {
    const ir_value *value; /* a root value; NULL: the packed weight of index `packed` */
    int packed;
    dtype type;
    long long start; /* bytes: offset of the first row in the storage; a multiple of 16 */
    extent stride;   /* bytes: distance between rows, a multiple of 16 */
    extent rows;     /* number of rows, over dynamic dims */
    long long columns;
    int box_rows, box_columns; /* box_columns elements are 128 bytes */
    bool pieces;
    /* heads > 0: the map has rank 4 (columns, heads, rows, batches), and a box lies in one batch. 0: the map is a matrix */
    long long heads;
    extent head_stride, batches, batch_stride; /* strides in bytes */
    int box_heads;
} tensor_box;

typedef struct argument {
    argument_kind kind;
    const char *name; /* of the field in the spec struct's args */
    const ir_value *value;
    int index;             /* of the packed weight, scratch or dim */
    const tensor_box *box; /* of argument_map */
    bool written;
    bool by_layer; /* in a stack: each layer finds its pointer or kind at index `place` of its row of the table; the argument is unused */
    int place;
    unsigned offset, size; /* bytes in args */
} argument;

enum { next_call_bytes = 24 }; /* size of weight_runs in templates/frame/next.h */
enum { pack_shared_bytes = 2 }; /* of every pack kernel, whose stage and scratch are empty structs: as no_shared_memory() */

typedef struct packed_weight {
    const char *name;        /* the pack kernel's: llama_qkv_pack */
    const ir_kernel *kernel; /* the kernel that reads the packed weight */
    const ir_phase *phase;
    const weight_format *format;
    long long columns, length, K; /* packed columns; numbers per column, padding included; elements per column, without padding */
    source_text source;        /* HIP source of the pack kernel */
    /* Identifies its contents, as one line: a hash of what the pack kernel computes, then the params that it reads. Equal signatures mean
     * equal bytes for equal params, in all plans for a target. */
    const char *signature;
    argument *arguments;
    int argument_count, threads;
    unsigned argument_bytes;
} packed_weight;

typedef struct scratch {
    const char *name;
    extent floats;              /* size in floats, over dynamic dims */
    enum {
        scratch_of_floats,
        scratch_of_counters, /* each call sets them to zero, and each launch leaves zeros (templates/frame/workspace.h) */
        scratch_of_marks     /* workgroups initialise them (templates/frame/marks.h) */
    } kind;
    const struct launch *trace; /* the launch whose timing records it holds (templates/frame/trace.h); NULL: it holds no records */
} scratch;

/* The tiles of a phase, and what it requires of its launch. It has ceil(rows / tile_rows) * column_tiles * multiple tiles, where `multiple`
 * counts batches or heads. */
typedef struct tile_extents {
    extent rows, multiple;
    int tile_rows, column_tiles;
    int cluster;         /* workgroups per cluster: the grid is a multiple of it */
    int resident;        /* launch at most this many workgroups per multiprocessor; each then computes several tiles. 0: no limit */
    long long in_flight; /* bytes of prefetch that a workgroup keeps in flight; 0: unknown */
} tile_extents;
long long extents_tiles(const tile_extents *x, const dim_table *dims);

/* A phase as its launch computes it. */
typedef struct launch_phase {
    const ir_phase *phase;
    const struct program *program; /* gen/program/program.h */
    const ir_tile *tile;           /* the phase's */
    tile_extents extents;
    int pack, scratch; /* indices into the plan's packs and scratches; -1: none */
    const int *awaits; /* indices of earlier phases of the launch, for all of whose tiles this phase's tiles wait (gen/plan/order.h) */
    int await_count;
    const int *awaits_before; /* in a stack: the same, for phases of the previous layer */
    int await_before_count;
} launch_phase;

typedef struct launch {
    const ir_kernel *kernel;
    launch_phase *work; /* the kernel's phases: one, or rows phases side by side, or at level block phases that wait for each other */
    int work_count;
    const char *name; /* llama_qkv; its __global__ function is llama_qkv_ (gen/base/names.h) */
    source_text source;
    const char *file;        /* llama_qkv.hip */
    const char *spec_header; /* llama_qkv.spec.h: only the spec structs */
    argument *arguments;
    int argument_count;
    unsigned argument_bytes, argument_end; /* argument_end: while a launch of several phases is emitted, the end of its structs so far */
    int threads, shared_bytes; /* of a workgroup: enough for every phase, plus the ring and the warp that fills it */
    bool feeds; /* its last warpgroup loads for the others (templates/frame/frame_fed.h) */
    int ring_pages, pages_in_flight; /* pages of the ring; how many may be loading at once (templates/frame/frame_ring.h); 0: no ring */
    int dynamic_bytes; /* part of shared_bytes that the launch allocates; 0: all of it is static */
    bool overlap;      /* may start before the previous launch has ended (PDL): the kernel itself waits for that launch */
    int cluster, resident; /* the largest cluster and the smallest `resident` (not 0) of its phases */
    int grid_limit;        /* most workgroups, which then compute several tiles each; 0: no limit */
    bool together;         /* its phases wait for each other: a cooperative launch, or one that overlaps (templates/frame/census.h) */
    int marks;             /* index of the scratch with the marks that phases wait for (if `together`); -1: none */
    int schedule_at, schedule_bytes; /* with `words`: shared memory for an attention's schedule, made ahead of the phase */
    bool words;            /* its phases pass rows on in words, and none waits for a whole phase (gen/plan/words.h) */
    int trace;             /* index of the scratch for timing records of its tiles; -1: none */
    int row_length;        /* of a stack: words in a layer's row of the table; else 0 */
} launch;

enum { mark_head = 16, mark_pitch = 16 }; /* in words of 8 bytes: `head` and `pitch` of templates/frame/marks.h */
enum { seat_bytes = 32 };                 /* size of a seat (templates/frame/census.h), in shared memory */
enum { most_marked = 1024 };              /* most workgroups of a launch whose phases wait by marks */
enum { trace_record_bytes = 48 }; /* one timing record, of a workgroup or a tile */

/* A value kept in the workspace. Each row has `partials` partial sums or partial results; 1: the values themselves. */
typedef struct storage {
    const ir_value *value;
    int partials;
} storage;

/* The tensors between the layers of a stack. The next layer reads a layer's output `out` as its input `in`. Layer n stores it in scratch
 * turns[n % 2], and the last layer stores it in the caller's tensor. in NULL: the plan is for a single block. */
typedef struct stack_values {
    const ir_value *in, *out;
    int turns[2];
} stack_values;

typedef struct plan {
    const ir_graph *ir; /* with frames and tiles filled in: ir_print(ir) is the plan's text */
    const device_model *device;
    const target_info *target; /* the device's */
    launch *launches;
    int launch_count;
    packed_weight *packs;
    int pack_count;
    storage *stored; /* values in the workspace, in order of first write; not inputs, params, states, outputs */
    int stored_count;
    int *partials; /* by value id: storage.partials; 0: not in the workspace */
    int *words;    /* by value id: one more than the index of the scratch with the value's words (launch.words); 0: it has none */
    scratch *scratches;
    int scratch_count;
    stack_values stack;
    bool followed; /* the caller may say what the next call reads first, and the last launch prefetches that (gen/source/next.h) */
    struct level_choice { /* how level auto chose between levels tile and block */
        bool made;
        double tile, block;  /* predicted seconds; infinite: no plan, or the device model has no bandwidth */
        const char *refused; /* why there is no plan at level block; NULL: there is one */
    } choice;
    /* inputs of plan_choose(), for plan_again() */
    const ir_graph *fused;
    const struct tuning *tuning;
    const char *spec; /* the spec's name */
} plan;

/* A tile that phase `phase` must not have: its code spilled registers. */
typedef struct forbidden_tile {
    const char *phase;
    spilled_tile tile;
} forbidden_tile;

/* Tiles that phases must or must not have. A NULL tuning: gen/plan/tile.c chooses all tiles, and kernels write no trace. */
typedef struct tuning {
    const char *const *lines; /* a user's: "gate_up: layer=wgmma m=128 n=192" (gen/plan/overrides.h) */
    size_t count;
    const struct wisdom *wisdom; /* for phases without a line; or NULL */
    const char *device;          /* the device's name in wisdom; NULL: the device model's name */
    const forbidden_tile *forbidden;
    size_t forbidden_count;
    bool without_words; /* rows do not pass between phases in words: a launch in which they did spilled registers */
    bool trace; /* kernels write timing records of their tiles to a scratch (docs/tracing.md) */
} tuning;

plan *plan_choose(arena *a, const ir_graph *fused, const device_model *device, const tuning *tuning);
/* Plans again without the tiles of launches that spilled registers, and emits the sources. spilled[i] says what launch i spilled; if its
 * scratch and vectors are 0, the launch did not spill. Returns NULL if no launch that spilled gets a tile not tried before, or if all their
 * phases have spilled most_spilled times. The result lives in `a` and refers to the fused graph, device model and tuning of `p`. */
enum { most_spilled = 6 };
plan *plan_again(arena *a, const plan *p, const spilled_tile *spilled);
void emit(arena *a, plan *p); /* fills source, spec_header, arguments of every launch and pack */
enum { manifest_version = 1 }; /* "manifest": raise it when a change would mislead readers of the previous version */
char *manifest_json(arena *a, const plan *p);
/* The plan's manifest, with the manifests of its `count` variants in "variants". */
char *manifest_with(arena *a, const plan *p, const plan *const *variants, int count);

/* The number of tiles of all phases of a launch together. */
long long launch_tiles(const launch *l, const dim_table *dims);
/* Workgroups of a launch if any number could be resident. If launch.resident is not 0, a runtime launches at most resident *
 * multiprocessors of them. */
long long launch_grid(const launch *l, const dim_table *dims);
/* The entry of the phase in its launch, which is *of; NULL: the plan does not have the phase, and *of stays. */
const launch_phase *plan_work_of(const plan *p, const ir_phase *phase, const launch **of);
long long pack_grid(const packed_weight *w); /* workgroups of the pack kernel */
long long pack_bytes(const packed_weight *w);
long long storage_bytes(const storage *s, const dim_table *dims);
long long scratch_bytes(const scratch *s, const dim_table *dims);
/* Bytes of workspace for the given dims. Unless it is NULL, `offsets` receives the offset of each stored value, then of each scratch, all
 * multiples of 256 bytes. */
long long workspace_layout(const plan *p, const dim_table *dims, long long *offsets);
#endif
