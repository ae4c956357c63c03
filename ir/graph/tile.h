/* The tile of a phase: the program that computes it and that program's parameters. Types and tables only; gen/program decides what is
 * legal and what is fastest. */
#ifndef TFGEN_IR_TILE_H
#define TFGEN_IR_TILE_H
#include "ir/base/arena.h"
#include "ir/graph/kinds.h"

typedef enum program_kind {
    program_none, /* not planned yet */
#define PROGRAM(id, family, layer, frame, tile, help) program_##id,
#include "ir/tile.def"
    program_count
} program_kind;

/* Structs of the fields of tiles, all int: rows_tile, gemm_registers_tile, ... */
#define TILE(name, ...)          \
    typedef struct name##_tile { \
        int __VA_ARGS__;         \
    } name##_tile;
#include "ir/tile.def"

enum { most_tile_fields = 13 };

typedef struct ir_tile {
    program_kind program;
    unsigned given; /* bit i: field i has a value; in a plan all fields of the program but FIXED ones have */
    union {
        int at[most_tile_fields]; /* by index of the program's fields */
#define TILE(name, ...) name##_tile name;
#include "ir/tile.def"
    };
} ir_tile;

typedef struct tile_field {
    const char *name;
    int least, most;
    const char *help; /* NULL: fixed, never printed or read */
} tile_field;

typedef struct program_info {
    const char *name, *help; /* gemm_wgmma */
    phase_family family;
    layer_kind layer;
    frame_kind frame;
    const tile_field *fields;
    int field_count, threads; /* threads: index of the field `threads`, which every program has */
} program_info;
extern const program_info program_table[program_count]; /* program_none has no fields */

program_kind program_find(phase_family family, layer_kind layer); /* program_none: no such program */
int family_programs(phase_family family);                          /* programs in a family; IR text names the layer if there are several */
program_kind program_named(const char *name); /* e.g. "gemm_simt"; program_none: unknown */
ir_tile tile_of_program(program_kind program); /* only fixed fields have values */
unsigned program_fields(program_kind program); /* `given` of a complete tile */
int tile_field_find(program_kind program, const char *name); /* index; accepts former names; -1: unknown or fixed */
/* Parses a setting such as "m=128" into t. NULL: ok; else the error text. */
const char *tile_read_setting(arena *a, const char *word, ir_tile *t);
/* For tiles that an older version wrote: fields that were added since then (NEW_FIELD of ir/former.def) and have no value get the value
 * with which kernels compute as in that version. */
void tile_add_new_fields(ir_tile *t);
bool tile_is_whole(const ir_tile *t);               /* every field has a value */
bool tile_same(const ir_tile *x, const ir_tile *y); /* both must be whole */
int tile_threads(const ir_tile *t);
#endif
