/* Reads wisdom files, which have a line for each tuned kernel, and finds the tiles that were tuned at the sizes nearest to a phase's. A
 * line that is damaged, or whose program has changed since, becomes an entry that is not used, with the reason.
 *
 *   wisdom 1
 *   gemm_wgmma@9f31c0de sm_90a h200 rows=2048 gemm(linear(...)...!): m=128 n=192 ... # us=41.2 default_us=44 date=2026-11-22
 *
 * A line has the program and its version (a hash of its templates and fields), the target, the device model (or, if no model matches the
 * device, the device's own name), rows and keys of the phase, the phase's signature (gen/base/signature.h), and every field of the tile.
 * The measurements follow after #. */
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
    double seconds, default_seconds; /* measured with this tile, and with the default tile; 0: not in the line */
    const char *date;                /* "": not in the line */
    int line;
    const char *text;           /* the line, through text_harmless() */
    const char *stale;          /* why it is not used; NULL: it is used */
    bool former;                /* the line has another version than today's program; if it is used, it may have former names, too */
    struct wisdom_entry *other; /* the next entry with this signature */
} wisdom_entry;

typedef struct wisdom {
    wisdom_entry *list;
    int count;
    name_map signatures; /* to the first wisdom_entry of each signature */
    const char *refused; /* why a file that is not empty is not a wisdom file; NULL: it is one */
} wisdom;

wisdom *wisdom_read(arena *a, const char *data, size_t size);
void wisdom_put(text *t, const wisdom_entry *e); /* appends the entry's line */
extern const char wisdom_head[];                 /* the first line of a wisdom file */
/* The key of an entry is its signature, device, target and size. */
bool wisdom_same_key(const wisdom_entry *x, const wisdom_entry *y);
/* The better of two entries with the same key: the one that is not stale, else the newer, else the faster. */
const wisdom_entry *wisdom_better(const wisdom_entry *x, const wisdom_entry *y);

/* An entry for a phase and its tile, without measurements. device: a name from wisdom_device(). */
wisdom_entry wisdom_of(arena *a, const ir_graph *p, const target_info *target, const char *device, const ir_phase *phase);

/* The name that wisdom lines give to a device which calls itself `label` and is planned for as model `d`. label NULL: only the model is
 * known. */
const char *wisdom_device(arena *a, const device_model *d, const char *label);
/* Eight hex digits: a hash of the program's name, its fields, and its templates without comments and blanks. Computed once per process. */
const char *program_version(program_kind kind);
/* The program that has this name or once had it (gen/plan/former.def); program_none: there is none. */
program_kind program_recalled(const char *name);
/* True if lines of `version` are valid for the program, whose version today is `now`: the versions are equal, or gen/plan/former.def says
 * so. */
bool version_serves(program_kind kind, const char *now, const char *version);

/* The entries of this signature within wisdom_reach of the size, at most 8, nearest first. *count: their number. */
const wisdom_entry **wisdom_find(arena *a, const wisdom *w, const target_info *target, const char *device, const char *signature,
                                 phase_size size, int *count);
#endif
