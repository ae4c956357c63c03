/* Every type of the IR. A graph holds ops; a fused one also kernels, which hold phases, which hold the ops. Text form:
 * ir/text/print.c. Rules: ir/check/check.c. Memory: everything is in one arena. */
#ifndef TFGEN_IR_H
#define TFGEN_IR_H
#include "ir/base/extent.h"
#include "ir/graph/dtype.h"
#include "ir/graph/tile.h"

typedef enum op_kind {
#define OP(name, least, most, shape, class, help) op_##name,
#include "ir/op.def"
    op_count
} op_kind;

typedef enum op_class {
    class_ELEMENT,
    class_REDUCE,
    class_COLUMNS,
    class_COMPOSITE,
    class_PRODUCT,
    class_ATTENTION,
    class_ROPE,
    class_MOVE,
    class_APPEND,
    class_INTERNAL
} op_class;

typedef struct op_info {
    const char *name, *help, *shape_rule;
    int least_inputs, most_inputs;
    op_class class;
} op_info;
extern const op_info op_table[op_count];

typedef enum rope_pairing { pairing_half, pairing_interleaved } rope_pairing;
typedef enum weight_layout { layout_out_in, layout_in_out } weight_layout;
typedef enum rope_scaling_kind {
    scaling_none,
#define SCALING(type) scaling_##type,
#include "ir/op.def"
    scaling_count
} rope_scaling_kind;

typedef struct rope_scaling {
    rope_scaling_kind kind;
    double factor, low_freq, high_freq, original, length, beta_fast, beta_slow, truncate /* 0 or 1 */, share;
    const double *factors; /* longrope: one per rotated pair */
    int factor_count;
} rope_scaling;

typedef struct number_list {
    const double *at;
    int count;
} number_list;

typedef struct ir_value ir_value;
typedef struct ir_op ir_op;

/* Members are the ATTRIBUTE rows of ir/op.def; those that an op does not use are zero. The reader fills in the default of an attribute that
 * the spec leaves out, so later stages need not check for that (op_states() can tell). */
typedef struct ir_attributes {
#define TYPE_int long long
#define TYPE_float double
#define TYPE_bool bool
#define TYPE_dtype dtype
#define TYPE_pairing rope_pairing
#define TYPE_layout weight_layout
#define TYPE_scaling rope_scaling
#define TYPE_value ir_value *
#define TYPE_numbers number_list
#define ATTRIBUTE(type, name) TYPE_##type name;
#include "ir/op.def"
#undef TYPE_int
#undef TYPE_float
#undef TYPE_bool
#undef TYPE_dtype
#undef TYPE_pairing
#undef TYPE_layout
#undef TYPE_scaling
#undef TYPE_value
#undef TYPE_numbers
} ir_attributes;

/* The rows of a stored tensor that make up a param, counted after transposing: rows [first, end) of each group of `every` rows (0: one
 * group of all rows). Used where one tensor holds several params head by head, e.g. q, k and v of head 0, then those of head 1. */
typedef struct row_range {
    long long first, end, every;
} row_range;

typedef enum value_kind { value_input, value_param, value_state, value_constant, value_result } value_kind;

/* Hot fields come first, within two CPU cache lines: a graph has thousands of values of 1.2 KB each. */
struct ir_value {
    int id;           /* index in graph.values */
    value_kind kind;
    dtype type;
    int rank; /* 0: scalar constant */
    ir_op *def;         /* value_result: the op that makes it */
    const char *name;   /* without %; unique; [A-Za-z_][A-Za-z0-9_.]* ; a '.' only in names made by lowering: h.ss */
    const char *output; /* name in the spec's `outputs:`; NULL: not an output */
    /* A view (set by fusion) lives in `root`'s storage, from column root_offset on, with rows root_stride elements apart. root NULL: the
     * value owns its storage. Its rows are then dense, or root_stride elements apart if that is not 0: the spec gives a stride for an input
     * or output, planning for a result. The root of a kv_append's result is its state. */
    ir_value *root;
    long long root_offset, root_stride;
    const dim *step; /* a caller's value: the dim that each call sets to its row stride; plans assume root_stride (value_set_step()) */
    position at;
    extent shape[max_rank];
    double constant; /* value_constant */
    /* input: valid range of int32 data, both ends inclusive; random test data is drawn from it */
    extent range_low, range_high;
    bool has_range;
    /* param: its tensor in a safetensors file; from_transposed: stored [in,out] there, declared [out,in] here */
    const char *from;
    const row_range *from_rows; /* NULL: all rows */
    bool from_transposed;
};

typedef enum op_role { role_none, role_prologue, role_body, role_epilogue } op_role; /* none in a graph; pro body epi in text */

struct ir_op {
    op_kind kind;
    int input_count, output_count;
    ir_value **inputs, **outputs; /* linear: x, weight[, bias] */
    ir_attributes attributes;
    position at;
    unsigned long long stated; /* graph only: bit i: the spec gives attribute i of ir/op.def, else it is a default. Read by op_states() */
    int origin;      /* index of the graph op it was lowered from; level `none` makes one kernel per origin */
    op_role role;
};

/* Why planning rejected an MMA path of the phase's family: unsupported here, or estimated slower. */
typedef struct refusal {
    layer_kind layer;
    const char *why; /* one line */
} refusal;

/* A tile whose compiled kernel spilled registers; planning does not choose it again. */
typedef struct spilled_tile {
    ir_tile tile;
    int scratch, vectors; /* per thread: bytes of scratch memory, vector registers spilled */
} spilled_tile;

typedef struct ir_phase {
    const char *name;
    phase_family family;
    ir_op **ops; /* in executable order; values used outside the phase are stored, nothing else is */
    int op_count;
    struct ir_phase **after; /* phases whose stored values this one reads */
    int after_count;
    ir_tile tile;          /* before planning: empty, or the fields that IR text gives */
    position tile_at;      /* of the tile line, in the IR text */
    tile_source from;      /* who chose the tile */
    spilled_tile *spilled; /* tiles of earlier plans that spilled */
    int spilled_count;
    refusal *refused;
    int refused_count;
    struct choice *choice; /* during planning only: gen/plan/choice.h */
} ir_phase;

typedef struct ir_kernel {
    const char *name; /* k0, k1, ... */
    ir_phase **phases;
    int phase_count;
} ir_kernel;

/* Why an edge between two phases was not fused; printed with the edge. Codes and texts: ir/reason.def (ir/graph/reason.c). */
typedef struct fusion_note {
    const char *code; /* e.g. "value-has-other-users" */
    ir_value *value;
    ir_op *user;
} fusion_note;

/* Producer and consumer phase of each value of a graph with kernels, by value id (ir/graph/index.c). */
typedef struct graph_index {
    ir_phase **maker, **reader; /* reader: the one phase that reads the value or a view of it */
    bool *read_widely;          /* several phases read it */
    bool is_16_bit;             /* graph_is_16_bit() */
} graph_index;

typedef struct layer_kinds layer_kinds; /* ir/graph/layer_kinds.h */

typedef struct ir_graph {
    const char *name; /* block name, dashes kept */
    const char *prefix; /* of tensor names in a whole model's file, with {layer} for the layer number; NULL: none */
    dtype type;       /* the spec's dtype */
    dim_table dims;
    ir_value **values;
    int value_count;
    ir_op **ops; /* all ops in executable order; once fused, each is in exactly one phase */
    int op_count;
    ir_kernel **kernels;
    int kernel_count;
    fusion_level level;
    bool stacked;       /* level block: the kernel runs several layers, each on what the one before it stored (gen/plan/stack.h) */
    const layer_kinds *kinds; /* of a stack whose layers are of several kinds: what they differ in; NULL: all are of one kind */
    bool streams;       /* plan of a stack: products of few rows load weights through a ring (layer ring, gen/plan/block.c) */
    bool feeds;         /* plan, level block: a warp of each workgroup loads for programs on wgmma (templates/frame/frame_fed.h) */
    bool input_sums;    /* fusion input_sums: planning may let GEMMs accumulate row sums of squares of A */
    const char *device; /* plan: the device model its tiles were chosen for; else NULL */
    int threads;        /* plan, level block: threads per workgroup of the one launch of all phases; 0: each phase has its own number */
    bool no_slices;     /* plan, level block, made again after a spill: no split-K, as the caller's workspace may lack room for slices */
    fusion_note *notes;
    int note_count;
    const graph_index *index; /* speeds up queries about phases; NULL while kernels may change: queries then walk the graph */
} ir_graph;

typedef enum target_vendor {
#define VENDOR(name, ...) vendor_##name,
#include "ir/target.def"
} target_vendor;

typedef struct vendor_words { /* fields are described in ir/target.def */
    const char *macro, *wave, *unit, *simd, *compiler;
    bool clang;
    const char *arch, *object;
} vendor_words;

typedef enum lds_reads { lds_reads_NEIGHBOURS, lds_reads_CDNA, lds_reads_CDNA4 } lds_reads;

typedef struct target_info { /* fields are described in ir/target.def */
    const char *name, *family;
    target_vendor vendor;
    int wave;
    unsigned layers; /* bit i: layer_kind i */
    bool serial, timed;
    int lds_bytes, static_bytes, max_threads, width;
    int matrix_rows, matrix_columns;
    bool by_waves;
    double matrix_share;
    int operand_bytes, lds_banks;
    lds_reads reads;
    int sector_bytes, line_bytes;
    bool overlaps, copies_to_lds, bulk_copies, inlines;
    int cluster, registers, lane_registers;
    long long grid, items; /* limits of a launch: workgroups, threads */
    const char *device; /* default device model of a plan: ir/devices/device_model.h */
} target_info;
const target_info *target_find(const char *name);       /* NULL when unknown */
bool target_has(const target_info *target, layer_kind layer);
const vendor_words *target_words(const target_info *target);
const target_info *target_of_machine(const char *arch); /* arch without feature suffixes; NULL: no target runs there */
const target_info *target_list(size_t *count);
bool frame_asks(frame_kind frame, const target_info *target); /* true: shared memory is dynamic, sized at launch; false: a static array */
extern const char *const target_names; /* comma-separated: "host,gfx90a,..." */

/* Queries (ir/graph/query.c) */
extent value_rows(arena *a, const ir_value *v);                  /* product of all axes but the last; 1 for rank 0 and 1 */
/* Whether the range can select exactly `rows` rows in total. */
bool row_range_makes(const row_range *range, long long rows);
bool value_same_leading(const ir_value *x, const ir_value *y, int but); /* same rank, and equal except perhaps in the last `but` axes */
bool value_same_shape(const ir_value *x, const ir_value *y);
long long value_columns(const ir_value *v);                      /* last axis (static by rule); 1 for rank 0 */
extent value_batches(arena *a, const ir_value *v);               /* product of all axes but the last two */
long long product_depth(const ir_op *product);                   /* K, the axis that a linear or matmul sums (static by rule) */
long long value_count(const ir_value *v, const dim_table *dims); /* elements */
long long value_stride(const ir_value *v);                       /* the row stride of its storage, in elements, for which plans are made */
long long value_stride_at(const ir_value *v, const dim_table *dims); /* row stride of its storage, in elements, at these dims */
/* Makes the dynamic dim d the row stride of a caller's value, whose shape is known: each call gives one. Plans are then made for the worst
 * alignment that a call may have: rows an odd multiple of 16 bytes apart, and never dense. */
void value_set_step(ir_value *v, dim *d);
const char *value_step_fault(arena *a, const ir_value *v, const dim *d); /* why d cannot be v's row stride, as a phrase; NULL: it can */
/* Elements of memory from the first to the last element of the caller's tensor: with the gaps between rows, without one after the last. */
long long value_span(const ir_value *v, const dim_table *dims);
const ir_value *value_root(const ir_value *v);                   /* follows `root` to the value that owns the storage */
/* Activations are [B, S, H*hd] or [B, S, H, hd]. A KV cache (a state, or the result of kv_append) is [B, KV, L, hd], indexed by cache_axis.
 * Row addresses are computed in gen/emit/cache.h only; the verifier and the reference compute their own, as an independent check. */
typedef enum cache_axis { cache_batch, cache_head, cache_token, cache_column } cache_axis;
bool value_is_cache(const ir_value *v);
const extent *value_tokens(const ir_value *v);                    /* S or L */
/* Length of an aligned run of a head's tokens that lie one stride apart; 0: all tokens of the head do. */
long long value_run_length(const ir_value *v);
long long value_heads_in_row(const ir_value *v, long long heads); /* heads in one row; 1 if heads have their own axis */
long long value_head_size(const ir_value *v, long long heads);    /* hd */
long long attention_value_size(const ir_op *op);                  /* of an attention: head size of its operand v and of its result */
bool op_states(const ir_op *op, const char *key);                 /* the spec gives this attribute explicitly; IR text: always true */
bool op_in_spec(op_kind kind);                                    /* false: internal, created by lowering, fusion or planning */
bool op_is_elementwise(const ir_op *op);                          /* class ELEMENT or INTERNAL */
/* Writes the op's inputs, then lengths, first, bias, at, state, fold and continued, if set, to `out`, which has room for `most` (asserted).
 * Returns their number. */
int op_operands(const ir_op *op, ir_value **out, int most);
ir_phase *phase_of(const ir_graph *p, const ir_op *op);
ir_value *graph_value(const ir_graph *p, const char *name);
long long column_terms(const ir_op *op); /* of a class COLUMNS op: how many elements it reduces to one */
const graph_index *graph_index_make(arena *a, const ir_graph *p); /* of its current kernels */
bool graph_is_16_bit(const ir_graph *p); /* no input, param, state or output is f32, and the spec's dtype is not */
int phase_index(const ir_phase *phase, const ir_op *op); /* index in phase->ops; -1: absent. Both may be NULL */
bool phase_has(const ir_phase *phase, const ir_op *op);
const ir_op *phase_first(const ir_phase *phase, op_class class);        /* first op of that class, or NULL */
ir_op *phase_op(const ir_phase *phase, op_kind kind);                   /* first op of that kind, or NULL */
layer_kind phase_layer(const ir_phase *phase);                          /* its MMA path; simt before planning */
frame_kind kernel_frame(const ir_graph *p, const ir_kernel *k);         /* of a kernel whose phases have tiles */

/* Compiler stages: pure functions of their arguments. Errors go through the arena (bail, complain). */
typedef struct dim_override {
    const char *name;
    long long value;
} dim_override;
typedef struct graph_options {
    const char *preset;            /* or NULL */
    const dim_override *overrides; /* take precedence over the preset */
    size_t override_count;
    const char *dtype; /* replaces the spec's dtype, or NULL */
} graph_options;
ir_graph *graph_read(arena *a, const char *yaml, size_t size, const char *name, const graph_options *options);
ir_graph *lower(arena *a, const ir_graph *graph); /* composites become ELEMENT and REDUCE ops; the graph is not changed */
typedef struct fuse_options {
    fusion_level level;
    bool stacked; /* ir_graph.stacked */
    const char *const *disabled; /* fusions turned off, by the names in ir/reason.def */
    size_t disabled_count;
    bool check_once; /* build kernels and verify after the last pass only, not after each */
} fuse_options;
ir_graph *fuse(arena *a, const ir_graph *lowered, const fuse_options *options); /* builds kernels of phases */
const char *const *fusion_names(size_t *count);
void ir_check(arena *a, const ir_graph *p, const char *after_pass); /* bails "internal: after PASS: rule: ..." */
char *ir_print(arena *a, const ir_graph *p);
char *ir_print_ops(arena *a, const ir_graph *p, const ir_phase *phase); /* the phase's lines of that text */
ir_graph *ir_read(arena *a, const char *ir_text, size_t size, const char *name); /* ir_print(ir_read(t)) == t, byte for byte */
#endif
