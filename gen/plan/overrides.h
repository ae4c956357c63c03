/* Reads a user's `--tile` lines, "PHASE: layer=mma m=128 ...": their settings, and the phases of a graph that they are for. Refuses
 * (code_usage) malformed lines and unknown names; the message lists the known names. PHASE is the name of a phase (gate_up) or of its
 * kernel (k4, k4.gate_up, llama_gate_up), a signature (gen/base/signature.h), or a family (gemm). With a family, the line applies to all
 * phases of that family whose program accepts it. */
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
    const char *former; /* the former name of a family, if the selector was written with one; else NULL */
    int layer; /* -1: any */
    override_setting settings[most_override_settings];
    int count;
    bool of_family;      /* the selector is a family */
    const char **phases; /* else the names of the phases it is for */
    int phase_count;
    bool taken;      /* at least one phase has these settings */
    const char *why; /* why the first phase of the family refused it; reported if all phases of the family do */
    tfgen_code code; /* the error code for `why` */
} tile_override;

typedef struct overrides {
    arena *a;
    tile_override *list;
    int count;
} overrides;

overrides *overrides_read(arena *a, const tuning *t); /* t may be NULL */
/* Finds the phases of each line. launches: names of the launches, by kernel. final: a selector that matches nothing is an error. */
void overrides_settle(overrides *w, const ir_graph *p, const char *const *launches, bool final);
bool override_is_for(const tile_override *w, const ir_phase *phase);
void overrides_end(const overrides *w); /* bails if all phases of a family refused a line */
/* Records why a phase of the family refuses a line. */
void override_passed_over(tile_override *w, tfgen_code code, const char *why);
_Noreturn void override_refuse(const overrides *w, const tile_override *of, const char *why);
void override_warn(const overrides *w, const tile_override *of, const char *hint); /* hint NULL: no warning */
#endif
