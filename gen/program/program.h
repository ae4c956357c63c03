/* A program is one way for a kernel to compute a phase: a family on a layer. Each is a constant that a file of this folder exports.
 * gen/program/program.def lists them, ir/tile.def the fields of their tiles. The planner (gen/plan/choice.c) asks each program of a phase's
 * family whether it can compute the phase and how long that takes, and chooses the fastest. */
#ifndef TFGEN_GEN_PROGRAM_H
#define TFGEN_GEN_PROGRAM_H
#include "gen/base/cost.h"
#include "gen/emit/emit.h"
#include "gen/program/problem.h"
#include "gen/program/weights.h"

/* A range of problems in which the program is chosen only on request or for lack of others, whatever its predicted time: another program
 * was timed there and is faster or more accurate, or the device was never timed. The range applies if all circumstances of `where` hold and
 * rows and length are within its limits. Rows and length: of a product M and K, of attention its queries and keys. */
typedef enum circumstance {
    where_guessed = 1,         /* predicted times are guesses: times_are_guesses() */
    where_16_bits = 2,         /* both operands have 16 bits and rows that can be copied as stored, so register_fed can multiply them */
    where_not_16_bits = 4,     /* all other products */
    where_f32_on_units = 8,    /* matrix units of the target multiply f32 */
    where_warpgroups = 16,     /* only warpgroup instructions reach the full rate of the matrix units */
    where_8_rows = 32,         /* matrix instructions take 8 rows (target_info.matrix_rows) */
    where_16_rows = 64,        /* matrix instructions take 16 rows */
    where_few_at_cache = 128,  /* attention over a cache, with at most 16 query rows per KV head (queries times heads of a GQA group) */
    where_many_at_cache = 256, /* attention over a cache, with more query rows */
    where_queries_vary = 512,  /* a call may have more queries than the plan was made for */
    where_both_in_terms = 1024, /* matrix units multiply A and B as sums of bf16 numbers, in 6 passes along K */
    where_in_list = 2048,       /* a launch of several phases */
    where_streams = 4096,       /* a launch whose products stream their weights through a ring */
    where_not_rounded = 8192    /* a product without the costs of gen/program/bits16.h, or whose epilogue does more than round */
} circumstance;
typedef struct worse_range {
    unsigned where;                                             /* a set of circumstances; 0: always */
    long long least_rows, most_rows, least_length, most_length; /* 0: no limit */
    const char *why;                                            /* the reason as a clause; NULL ends the list */
    program_kind than; /* in a launch of several phases the range applies only if this program can compute the phase; 0: never there */
} worse_range;
#define few_at_cache_why "flash-decoding is the default up to 16 query rows a KV head"
#define many_at_cache_why "flash-decoding is the default up to 16 query rows a KV head only"

typedef struct program {
    program_kind kind;
    const char *device;   /* the class template that computes it, such as gemm_ws */
    const char *template; /* the file that has it: templates/gemm/gemm_ws.h */
    /* Headers of templates/isa, each included if the target has its layer; the first NULL ends the list. */
    struct {
        layer_kind layer;
        const char *header;
    } isa[5];
    /* The device, template and isa to use for a product whose rows and weight differ in dtype. NULL: the same as for equal dtypes. */
    const struct program *of_two_dtypes;
    /* Why the program cannot compute the phase on this target, as a clause; NULL if it can. The target has the program's layer. */
    const char *(*obstacle)(const problem *p);
    const char *on_request; /* why only a request by the user chooses it, as a clause; NULL: its predicted time may, too */
    bool alone;             /* never in a launch of several phases, though other programs of its frame are */
    bool for_some;          /* plans do not list it among the programs that were not chosen where it has an obstacle */
    bool streams;           /* where ir_graph.streams is set, its predicted time may choose it despite on_request */
    const worse_range *worse; /* where other programs are preferred, a list; NULL: nowhere */
    /* Describes a launch with a legal tile to the cost model, by whose time planning chooses programs, and programs choose tiles. */
    void (*describe_cost)(const problem *p, const ir_tile *t, cost_descriptor *d);
    /* Predicted seconds by costs that are less accurate for the phase, but have chosen well for long; 0: it has no others. The function is
     * NULL if the program has no others for any phase. */
    double (*usual_seconds)(const problem *p);
    void (*defaults)(const problem *p, ir_tile *t); /* sets every field of t */
    /* Changes defaults that the fields which a user gave exclude; given: bits of these fields. NULL: there are none. */
    void (*make_room)(const problem *p, unsigned given, ir_tile *t);
    /* A message if t breaks a rule although each field is in its range, else NULL. The function is NULL if there are no such rules. */
    const char *(*illegal)(const problem *p, const ir_tile *t);
    long long (*shared_bytes)(const problem *p, const ir_tile *t); /* of a legal tile, per workgroup */
    /* After a compiler spilled: changes t to the next tile with fewer registers per thread. False: there is none. NULL: there never is. */
    bool (*smaller)(const problem *p, ir_tile *t);
    void (*geometry)(const problem *p, const ir_tile *t, tile_extents *to); /* sets the members of *to that differ from extents_start() */
    void (*members)(emission *e, writer *w);                                /* writes all members of the spec struct but args */
    /* ---- programs with partial results; NULL: it has none */
    int (*partials)(const problem *p, const ir_tile *t);   /* partial sums that it stores for each row */
    extent (*scratch)(const problem *p, const ir_tile *t); /* floats of workspace for slices of partial results; 0: none */
    bool one_tile;  /* a workgroup computes one tile: the grid has as many workgroups as tiles */
    bool prefetches_next; /* its template prefetches the weights of the next launch into L2 (templates/frame/next.h) */
    bool prefetched_across; /* it has no weights, so the launch before it prefetches those of the launch after it */
    /* ---- products */
    weight_numbers weights;
    bool several_passes; /* walks K once for each term of a packed weight (`passes` of ir/format.def) */
    bool rolls;                              /* emits a long epilogue as the body of a loop instead of calling functions */
    bool takes_sums;                         /* can sum the squares of A's rows while it loads them (gen/plan/sums.c) */
    bool takes_sums_of_all;                  /* the same in a launch with a loading warp, at no cost, whatever the number of rows */
    bool finishes_apart;                     /* results may be dropped after compute() (begins_alone of templates/frame/frame_fed.h) */
    bool multiplies_squares;                 /* sums those squares with one more MMA, if MMAs take 8 rows (templates/isa/mma_pieces.h) */
    bool begins_with_weights;                /* loads weights before the previous launch has ended; that launch may prefetch them */
    bool reads_columns_of_a;                 /* A of a matmul may be [K, M]; for others gen/plan/align.c copies it as [M, K] */
    bool aligned_rows;                       /* needs 16-byte aligned rows of A, which gen/plan/align.c provides */
    int row_bytes;                           /* needs rows at multiples of so many bytes only; 0: of 16 */
} program;

enum { slice_head = 4 }; /* floats ahead of the data of a slice in the workspace: slices<...>::head of templates/frame/workspace.h */

const program *program_of(const ir_phase *phase); /* the program of the phase's tile */
const program *program_in_source(const ir_phase *phase); /* whose template the phase's source has: program_of(), or its of_two_dtypes */
const program *program_at(program_kind kind);
tile_extents program_extents(const problem *p, const ir_tile *t); /* the geometry that the tile's program gives the phase */

bool program_takes_sums(const problem *p, const program *of); /* whether it can sum the squares of A's rows in this launch */

/* Rows, columns and threads of a tile on matrix units. */
typedef struct tile_shape {
    int m, n, threads;
} tile_shape;

/* The first of the program's ranges that applies (gen/program/worse.c); NULL: none. in_list: only ranges with `than` are considered. */
const worse_range *program_worse_range(const problem *p, const program *of, bool in_list);

/* ---- what several programs share (gen/program/problem.c) */
/* The cost of what describe_cost() described, in the problem's launch. */
cost program_cost(const problem *p, const program *by, const cost_descriptor *d);
/* Seconds of a launch of the program with the tile. */
double program_seconds(const problem *p, const program *by, const ir_tile *t);
tile_extents extents_start(const problem *p); /* one tile per row of the phase's space */
/* The cost descriptor of a memory-bound program, which reads and writes its phase's tensors once. */
void bytes_cost(const problem *p, const ir_tile *t, void (*geometry)(const problem *p, const ir_tile *t, tile_extents *to),
                cost_descriptor *d);
/* Whether predicted times are guesses: the cost model was not fitted to the target, or the device was never measured. */
bool times_are_guesses(const problem *p);
/* Workgroups of this many threads that a unit holds, going by its limit on threads alone: at least 1. */
int groups_by_threads(const target_info *target, int threads);
/* Workgroups of threads with this many registers each that a unit holds, going by its limits on registers and threads: at least 1. */
int groups_by_registers(const target_info *target, int threads, int registers);
/* Bytes of shared memory per workgroup if `groups` share a unit. */
long long shared_room(const target_info *target, int groups);
bool phase_makes(const ir_phase *phase, const ir_value *v); /* whether an op of the phase, not a view, computes v */
bool is_power_of_two(long long n);
long long power_of_two_up(long long n);
int ceil_log2(long long n); /* steps of a butterfly over n lanes */
/* Largest power of two up to `most` that divides n. */
long long power_of_two_in(long long n, long long most);
/* The widest vector up to `most` columns at whose multiples every row of the phase's tensors begins. */
long long aligned_vector(const problem *p, long long most);
/* sizeof(mixed_memory<...>) of templates/frame/frame_mixed.h: stages of `stage` bytes, then scratch, aligned to `align`. */
long long mixed_memory(long long stages, long long stage, long long scratch, long long align);
/* shared_bytes of programs that use none: 2, as mixed_memory<...> then has an empty stage and an empty scratch, of a byte each. */
long long no_shared_memory(const problem *p, const ir_tile *t);
/* ---- what programs that copy an operand share */
/* A tile of a transposing copy is transposed_run elements of each of transposed_columns * align.each rows of the copy. */
enum { transposed_run = 64, transposed_columns = 32 };
bool copy_smaller(const problem *p, ir_tile *t); /* program.smaller: halves align.each */
/* The geometry of a copy [..., N, K] that transposes its operand. */
void transposing_geometry(const problem *p, const ir_tile *t, const ir_value *copy, tile_extents *to);
#endif
