/* A program is one way for a kernel to compute a phase: a family on a layer. Each is a constant that a file of this folder exports;
 * gen/program/program.def lists them, ir/tile.def has the fields of their tiles. The planner (gen/plan/choice.c) asks each program of a
 * phase's family what is in its way and what it costs, takes the cheapest, and asks that one for everything else. */
#ifndef TFGEN_GEN_PROGRAM_H
#define TFGEN_GEN_PROGRAM_H
#include "gen/base/cost.h"
#include "gen/emit/emit.h"
#include "gen/program/problem.h"
#include "gen/program/weights.h"

/* Where a program is left to others, whatever the model of time says of it: others were timed there and are faster, or more accurate, or
 * nobody has timed the device. A row is for phases of which all that `where` names holds. Rows of attention are its queries. */
typedef enum circumstance {
    where_guessed = 1,         /* times_are_guesses() */
    where_16_bits = 2,         /* both operands have 16 bits, and the rows of both can be copied as they lie: register-fed products */
    where_not_16_bits = 4,     /* the other products */
    where_f32_on_units = 8,    /* matrix units of the target multiply f32 */
    where_warpgroups = 16,     /* a wave's instructions reach a part of the rate of the matrix units */
    where_8_rows = 32,         /* target_info.matrix_rows */
    where_16_rows = 64
} circumstance;
typedef struct worse_range {
    unsigned where;                                             /* a set of circumstances */
    long long least_rows, most_rows, least_length, most_length; /* of a product; 0: no bound */
    const char *why;                                            /* as a clause; NULL: the list ends */
} worse_range;

typedef struct program {
    program_kind kind;
    const char *device;   /* the class template that computes it: gemm_ws */
    const char *template; /* what a person should read beside its spec struct: templates/gemm/gemm_ws.h */
    /* Headers of templates/isa for which the template leaves the choice to the program: each on targets that have the layer. Up to the
     * first NULL. */
    struct {
        layer_kind layer;
        const char *header;
    } isa[5];
    /* NULL: nothing is in the way of the phase on this target; else what, as a clause. The target has the program's layer. */
    const char *(*obstacle)(const problem *p);
    const worse_range *worse; /* in these, planning takes it only where somebody asks for it or there is no other; NULL: nowhere */
    /* What a launch with a legal tile asks of the device: planning takes the program, and programs the tile, whose cost is least. */
    void (*describe_cost)(const problem *p, const ir_tile *t, cost_descriptor *d);
    void (*defaults)(const problem *p, ir_tile *t); /* every field of t */
    /* The rule of the template that t breaks, though each field is in its range; NULL: none. No function: there are no such rules. */
    const char *(*illegal)(const problem *p, const ir_tile *t);
    long long (*shared_bytes)(const problem *p, const ir_tile *t); /* of a legal tile */
    /* Changes t to the next tile of which a thread needs fewer registers, for when a compiler spilled; false: there is none. NULL: never
     * is. */
    bool (*smaller)(const problem *p, ir_tile *t);
    void (*geometry)(const problem *p, const ir_tile *t, tile_extents *to); /* what differs from extents_start() */
    void (*members)(emission *e, writer *w);                                /* what it writes into the spec struct, args left out */
    /* ---- of programs that keep something for others; NULL: they do not */
    int (*parts)(const problem *p, const ir_tile *t);      /* partial sums that a row of what it stores has */
    extent (*scratch)(const problem *p, const ir_tile *t); /* floats that its workgroups hand to each other; 0: none */
    bool one_tile;  /* a workgroup has one tile and ends: a launch has as many workgroups as tiles */
    bool asks_next; /* its template asks for what the next launch loads first (templates/frame/next.h) */
    /* ---- of products */
    weight_numbers weights;
    bool takes_sums;                         /* it can take sums of squares of A's rows while it reads them (gen/plan/sums.c) */
    bool begins_with_weights;                /* pieces along their length, before the launch ahead has ended: that one may ask for them */
    bool aligned_rows;                       /* rows of A begin at multiples of 16 bytes, which gen/plan/align.c sees to */
} program;

const program *program_of(const ir_phase *phase); /* that its tile is of */
const program *program_at(program_kind kind);
tile_extents program_extents(const problem *p, const ir_tile *t); /* of the tile's program */

/* Results and threads of a tile on matrix units. */
typedef struct tile_shape {
    int m, n, threads;
} tile_shape;

/* Why the program is left to others here (gen/program/worse.c); NULL: it is not. */
const char *program_is_worse(const problem *p, const program *of);

/* ---- what several programs share (gen/program/problem.c) */
/* Seconds of a launch of the program with the tile. */
double program_seconds(const problem *p, const program *by, const ir_tile *t);
tile_extents extents_start(const problem *p); /* a tile a row of the phase's space */
/* The cost descriptor of a program of this geometry that moves what its phase reads and writes and does little else. */
void bytes_cost(const problem *p, const ir_tile *t, void (*geometry)(const problem *p, const ir_tile *t, tile_extents *to),
                cost_descriptor *d);
/* What the model of time says of two programs on a target that it was not fitted to, or a device that nobody has measured, is a guess. */
bool times_are_guesses(const problem *p);
/* Workgroups of so many threads that a unit holds, as far as places for threads go; a processor of the host runs one at a time. */
int groups_by_threads(const target_info *target, int threads);
bool phase_makes(const ir_phase *phase, const ir_value *v); /* by an op with code */
bool is_power_of_two(long long n);
long long power_of_two_up(long long n);
int ceil_log2(long long n); /* steps of a butterfly over n lanes */
/* Largest power of two up to `most` that divides n. */
long long power_of_two_in(long long n, long long most);
/* sizeof(mixed_memory<...>) of templates/frame/frame_mixed.h: stages of `stage` bytes, then scratch, aligned to `align`. */
long long mixed_memory(long long stages, long long stage, long long scratch, long long align);
long long no_shared_memory(const problem *p, const ir_tile *t); /* a program that shares none: of a mixed_memory with nothing in it */
#endif
