/* In: a fused program, a device model, a user's tiles. Out: a plan (which kernels, tiles, arguments, packed weights, workspace) and the
 * HIP source of each kernel. Pure: no device, no file. Refuses what the target cannot hold (code_unsupported, with the limit). */
#ifndef TFGEN_GEN_H
#define TFGEN_GEN_H
#include "ir/devices/device_model.h"
#include "ir/program/format.h"

/* A source file: what is the kernel's own before and behind the templates, whose text all kernels share that need the same ones. */
typedef struct source_text {
    const char *head, *templates, *body;
} source_text;
size_t source_size(const source_text *s);
bool source_same(const source_text *x, const source_text *y);
/* The whole file, with a NUL behind it, in an arena or for the caller to free (NULL without memory): made when it is written, hashed or
 * compiled. */
char *source_join(arena *a, const source_text *s);
char *source_whole(const source_text *s);

typedef enum argument_kind {
    argument_value,   /* pointer to a value's storage (input, param, state, output or workspace) */
    argument_packed,  /* pointer to a packed weight */
    argument_scratch, /* pointer to workspace of the plan that is no value: sums of parts of a product */
    argument_map,     /* a tensor map, 128 bytes aligned to 128, by value: whoever launches encodes it from tensor_box */
    argument_dim      /* int: a dynamic dim */
} argument_kind;

/* A matrix in memory and the box of it that one tensor load takes: a 128-byte swizzle, zeros outside the matrix. Or pieces of a packed
 * weight (docs/packing.md), without swizzle: `rows` of them along its columns, `stride` bytes apart, by `columns` of them along k, and so
 * the box. */
typedef struct tensor_box {
    const ir_value *value; /* root, or NULL: the packed weight `packed` */
    int packed;
    dtype type;
    long long start, stride; /* bytes: of the first row in the storage, from row to row; multiples of 16 */
    extent rows;             /* over dynamic dims */
    long long columns;
    int box_rows, box_columns; /* box_columns elements are 128 bytes */
    bool pieces;
    /* heads > 0: a map of rank 4 (columns, heads, rows, batches), boxes of one batch; else a matrix */
    long long heads;
    extent head_stride, batches, batch_stride; /* strides in bytes */
    int box_heads;
} tensor_box;

typedef struct argument {
    argument_kind kind;
    const char *name; /* field of args */
    const ir_value *value;
    int index;             /* packed weight, scratch or dim index */
    const tensor_box *box; /* of a map */
    bool written;
    unsigned offset, size; /* bytes in args */
} argument;

enum { pack_shared_bytes = 2 }; /* of every pack kernel */

typedef struct packed_weight {
    const char *name;        /* of the pack kernel: llama_qkv_pack */
    const ir_kernel *kernel; /* whose product it is for */
    const ir_phase *phase;
    const weight_format *format;
    long long columns, length, K; /* packed_n, packed_k: numbers of a column; its elements, without padding */
    source_text source;        /* HIP source of the pack kernel */
    /* What lies in it, as one line: a hash of what the kernel computes, then the params that it reads. Of one signature are the same bytes
     * for the same params, in whatever plan for a target. */
    const char *signature;
    argument *arguments;
    int argument_count, threads;
    unsigned argument_bytes;
} packed_weight;

typedef struct scratch {
    const char *name;
    extent floats;              /* over dynamic dims */
    bool zeroed; /* zero before the first launch, and after each: counters (templates/frame/workspace.h) */
    const struct launch *trace; /* records of when this one computes its tiles (templates/frame/trace.h); NULL: it is of floats */
} scratch;

/* The tiles of a phase, and what its workgroups need of their launch.
 * tiles = ceil(rows/tile_rows) * column_tiles * multiple; multiple covers batches or heads */
typedef struct tile_extents {
    extent rows, multiple;
    int tile_rows, column_tiles;
    int cluster;         /* workgroups that start together: the grid is a multiple of it */
    int resident;        /* at most so many workgroups a multiprocessor, which share out the tiles; 0: any number */
    long long in_flight; /* bytes that a workgroup asks memory for ahead, where its program knows; 0: it does not */
} tile_extents;
long long extents_tiles(const tile_extents *x, const dim_table *dims);

/* A phase as its launch computes it. */
typedef struct launch_phase {
    const ir_phase *phase;
    const struct program *program; /* gen/program/program.h */
    const ir_tile *tile;           /* the phase's */
    tile_extents extents;
    int pack, scratch; /* the phase's among the plan's; -1: it has none */
} launch_phase;

typedef struct launch {
    const ir_kernel *kernel;
    launch_phase *work; /* of the kernel's phases, in their order: at each level that there is, of one */
    int work_count;
    const char *name; /* of the __global__ function: llama_qkv */
    source_text source;
    const char *file;        /* llama_qkv.hip */
    const char *spec_header; /* llama_qkv.spec.h: only the spec structs */
    argument *arguments;
    int argument_count;
    unsigned argument_bytes;
    int threads, shared_bytes;
    int dynamic_bytes; /* what of shared_bytes a launch asks for; 0: all of it is in the kernel */
    bool overlap;      /* may be launched so that it begins before the launch ahead of it has ended: it waits itself */
    int cluster, resident; /* as its work needs it (tile_extents) */
    int grid_limit;        /* largest useful grid; the frame strides over the rest. 0: none */
    bool together;         /* its workgroups wait for each other's tiles: all are resident, in a cooperative launch */
    int trace;             /* among the plan's scratches: records of when it computes its tiles; -1: none */
} launch;
/* Its only work. Whoever asks for it serves launches of one phase, and is to change for the first level that puts several into a launch. */
const launch_phase *launch_only(const launch *l);

enum { trace_record_bytes = 48 }; /* of a workgroup, or of a tile */

/* A value kept in the workspace. floats-per-row partial sums have parts > 1. */
typedef struct storage {
    const ir_value *value;
    int parts;
} storage;

typedef struct plan {
    const ir_program *program; /* with frames and tiles filled in: ir_print(program) is the plan's text */
    const device_model *device;
    const target_info *target; /* its */
    launch *launches;
    int launch_count;
    packed_weight *packs;
    int pack_count;
    storage *stored; /* values in the workspace, in order of first write; not inputs, params, states, outputs */
    int stored_count;
    int *parts; /* by value id: of what is stored; else 0 */
    scratch *scratches;
    int scratch_count;
    /* What it was made of, to make it again: plan_again() */
    const ir_program *fused;
    const struct tuning *tuning;
    const char *spec; /* its name */
} plan;

/* A tile that is forbidden: phase `phase` was compiled with it and had too few registers. */
typedef struct forbidden_tile {
    const char *phase;
    spilled_tile tile;
} forbidden_tile;

/* What tiles phases are to have, and which they are not to have; NULL: the choice of gen/plan/tile.c, and no trace. */
typedef struct tuning {
    const char *const *lines; /* a user's: "gate_up: layer=wgmma m=128 n=192" (gen/plan/overrides.h) */
    size_t count;
    const struct wisdom *wisdom; /* for phases that no line is for; or NULL */
    const char *device;          /* by what name it is looked up there; NULL: the device model's */
    const forbidden_tile *forbidden;
    size_t forbidden_count;
    bool trace; /* kernels say when they compute each tile, in a scratch of theirs (docs/insight.md) */
} tuning;

plan *plan_choose(arena *a, const ir_program *fused, const device_model *device, const tuning *tuning);
/* The plan once more, with sources, where phase i of the plan's launches is not to have the tile that it has: spilled[i] says how much
 * memory that took (scratch or vectors above 0; else the phase keeps its tile). NULL: no phase of those has a tile left that was not tried,
 * or one was tried most_spilled times. Lives in `a`, and needs what `p` is made of. */
enum { most_spilled = 6 };
plan *plan_again(arena *a, const plan *p, const spilled_tile *spilled);
void emit(arena *a, plan *p); /* fills source, spec_header, arguments of every launch and pack */
enum { manifest_version = 1 }; /* "manifest": one higher where who reads the last would be misled */
char *manifest_json(arena *a, const plan *p);
/* The plan's manifest with those of `count` variants of it in "variants". */
char *manifest_with(arena *a, const plan *p, const plan *const *variants, int count);

/* Its tiles, each of which is one workgroup's. */
long long launch_tiles(const launch *l, const dim_table *dims);
/* Workgroups of a launch; with `resident`, tiles: a device starts at most resident * multiprocessors of them. */
long long launch_grid(const launch *l, const dim_table *dims);
long long pack_grid(const packed_weight *w); /* workgroups of the pack kernel */
long long pack_bytes(const packed_weight *w);
long long storage_bytes(const storage *s, const dim_table *dims);
long long scratch_bytes(const scratch *s, const dim_table *dims);
/* Bytes of workspace for the given dims; offsets[i] of stored values, then of scratches (256-byte aligned), when not NULL. */
long long workspace_layout(const plan *p, const dim_table *dims, long long *offsets);
#endif
