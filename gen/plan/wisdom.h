/* In: a wisdom file: results of tuning, a line per kernel. Out: the tile of the tuned phase nearest in size. A line that is damaged, or
 * whose program has changed since, becomes an entry that is not used, with the reason.
 *
 *   wisdom 1
 *   gemm_wgmma@9f31c0de sm_90a h200 rows=2048 gemm(linear(...)...!): m=128 n=192 ... # us=41.2 default_us=44 date=2026-11-22
 *
 * Program and its version (of templates and fields), target, device model (without one: the device's own name), rows and keys of the phase,
 * its signature (gen/base/signature.h), every field of the tile; after # the measurements. */
#ifndef TFGEN_GEN_WISDOM_H
#define TFGEN_GEN_WISDOM_H
#include "gen/base/signature.h"
#include "gen/gen.h"
#include "ir/base/names.h"

enum { most_wisdom_bytes = 4 << 20, most_wisdom_lines = 16384 };
enum { wisdom_reach = 2 }; /* an entry is used if rows and keys are each within this ratio of those it was tuned at */

typedef struct wisdom_entry {
    const char *target, *device, *signature, *version;
    phase_size size;
    ir_tile tile;
    double seconds, default_seconds; /* 0: not in the line */
    const char *date;                /* "": not in the line */
    int line;
    const char *text;           /* the line, through text_harmless() */
    const char *stale;          /* why it is not used; NULL: it is used */
    bool former;                /* used, though the line has a former version: it may have former names of the program and its fields */
    struct wisdom_entry *other; /* the next entry with this signature */
} wisdom_entry;

typedef struct wisdom {
    wisdom_entry *list;
    int count;
    name_map signatures; /* -> wisdom_entry */
    const char *refused; /* why a file that is not empty is not a wisdom file; or NULL */
} wisdom;

wisdom *wisdom_read(arena *a, const char *data, size_t size);
void wisdom_put(text *t, const wisdom_entry *e); /* its line */
extern const char wisdom_head[];                 /* the first line */
bool wisdom_same_key(const wisdom_entry *x, const wisdom_entry *y);
/* The better of two entries with the same key: one that is not stale, then the newer, then the faster. */
const wisdom_entry *wisdom_better(const wisdom_entry *x, const wisdom_entry *y);

/* An entry for a phase and its tile, without measurements. device: from wisdom_device(). */
wisdom_entry wisdom_of(arena *a, const ir_graph *p, const target_info *target, const char *device, const ir_phase *phase);

/* The name in wisdom lines of a device planned for by model `d` that calls itself `label` (NULL: only the model is known). */
const char *wisdom_device(arena *a, const device_model *d, const char *label);
/* Eight hex digits: a hash of the program's templates, without comments and blanks, and of its fields. Computed once per process. */
const char *program_version(program_kind kind);
/* The program of this current or former name (gen/plan/former.def); program_none: there is none. */
program_kind program_recalled(const char *name);
/* True if lines of `version` are valid for the program at version `now`: equal, or known to make the same kernels (gen/plan/former.def). */
bool version_serves(program_kind kind, const char *now, const char *version);

/* Entries of this signature within wisdom_reach of the size, nearest first (8 at most); *count of them, in the arena. */
const wisdom_entry **wisdom_find(arena *a, const wisdom *w, const target_info *target, const char *device, const char *signature,
                                 phase_size size, int *count);
#endif
