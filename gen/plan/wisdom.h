/* In: a wisdom file: what tunings found, a line a kernel. Out: the tile of the nearest phase that was tuned. A line that
 * is damaged, or about a program that has changed since, is an entry that is not used and says why.
 *
 *   wisdom 1
 *   gemm_wgmma@9f31c0de sm_90a h200 rows=2048 gemm(linear(...)...!): m=128 n=192 ... # us=41.2 default_us=44 date=2026-11-22
 *
 * Program and its version (of templates and fields), target, device model (of a device that has none: what it calls itself), rows and keys
 * of the phase, its signature (gen/base/signature.h), every field of the tile; behind # what was measured. */
#ifndef TFGEN_GEN_WISDOM_H
#define TFGEN_GEN_WISDOM_H
#include "gen/base/signature.h"
#include "gen/gen.h"
#include "ir/base/names.h"

enum { most_wisdom_bytes = 4 << 20, most_wisdom_lines = 16384 };
enum { wisdom_reach = 2 }; /* a tile serves up to this ratio of rows, and of keys, to those it was tuned at */

typedef struct wisdom_entry {
    const char *target, *device, *signature, *version;
    phase_size size;
    ir_tile tile;
    double seconds, default_seconds; /* 0: the line does not say */
    const char *date;                /* or "" */
    int line;
    const char *text;           /* the line, harmless */
    const char *stale;          /* why it is not used; NULL: it is */
    bool former;                /* used, and written in a former version: its names may be former ones, too */
    struct wisdom_entry *other; /* of the same signature */
} wisdom_entry;

typedef struct wisdom {
    wisdom_entry *list;
    int count;
    name_map signatures; /* -> wisdom_entry */
    const char *refused; /* why a file that is not empty is no wisdom file; or NULL */
} wisdom;

wisdom *wisdom_read(arena *a, const char *data, size_t size);
void wisdom_put(text *t, const wisdom_entry *e); /* its line */
extern const char wisdom_head[];                 /* the first line */
bool wisdom_same_key(const wisdom_entry *x, const wisdom_entry *y);
/* The better of two entries of one key: one that is not stale, then the newer, then the faster. */
const wisdom_entry *wisdom_better(const wisdom_entry *x, const wisdom_entry *y);

/* The line of a phase with the tile that it has; device: as wisdom_device() has it. Not measured. */
wisdom_entry wisdom_of(arena *a, const ir_program *p, const target_info *target, const char *device, const ir_phase *phase);

/* How a line names a device that calls itself `label` (NULL: only the model is known) and is planned for by this model. */
const char *wisdom_device(arena *a, const device_model *d, const char *label);
/* Eight digits that follow from the program's templates, comments and blanks left out, and its fields: counted once a process. */
const char *program_version(program_kind kind);
/* The program of this name, or that was once called so (gen/plan/former.def); program_none: there is none. */
program_kind program_recalled(const char *name);
/* True if lines of `version` hold for the program at version `now`: equal, or known to make the same kernels (gen/plan/former.def). */
bool version_serves(program_kind kind, const char *now, const char *version);

/* Entries of this signature within reach of the size, nearest first; *count of them, in the arena. */
const wisdom_entry **wisdom_find(arena *a, const wisdom *w, const target_info *target, const char *device, const char *signature,
                                 phase_size size, int *count);
#endif
