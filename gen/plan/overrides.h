/* In: a user's `--tile` lines ("PHASE: layer=mma m=128 ...") and a graph. Out: the settings of each line and the phases it is for.
 * Refuses (code_usage) malformed lines, and unknown names and settings with a list of the known ones.
 * PHASE is the name of a phase (gate_up), of its kernel (k4, k4.gate_up, llama_gate_up), a signature (gen/base/signature.h), or a family
 * (gemm): the line then applies to all phases of the family whose program accepts it. */
#ifndef TFGEN_GEN_OVERRIDES_H
#define TFGEN_GEN_OVERRIDES_H
#include "gen/gen.h"

enum { most_override_settings = 16 };

typedef struct override_setting {
    const char *key;
    int value;
} override_setting;

typedef struct tile_override {
    const char *line, *selector;
    const char *former; /* the former name of a family that the selector was written with; or NULL */
    int layer; /* -1: any */
    override_setting settings[most_override_settings];
    int count;
    bool of_family;      /* the selector is a family */
    const char **phases; /* else the names of the phases it is for */
    int phase_count;
    bool taken;      /* by at least one phase */
    const char *why; /* why the first phase of the family refused it, */
    tfgen_code code; /* and the error code: both are reported if all phases refuse it */
} tile_override;

typedef struct overrides {
    arena *a;
    tile_override *list;
    int count;
} overrides;

overrides *overrides_read(arena *a, const tuning *t); /* t may be NULL */
/* Finds the phases of each line. launches: function names of the graph's kernels, in order. final: a selector that matches nothing is an
 * error. */
void overrides_settle(overrides *w, const ir_graph *p, const char *const *launches, bool final);
bool override_is_for(const tile_override *w, const ir_phase *phase);
void overrides_end(const overrides *w); /* bails if all phases of a family refused a line */
void override_passed_over(tile_override *w, tfgen_code code, const char *why);
_Noreturn void override_refuse(const overrides *w, const tile_override *of, const char *why);
void override_warn(const overrides *w, const tile_override *of, const char *hint); /* hint NULL: no warning */
#endif
