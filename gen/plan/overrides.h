/* In: a user's lines "PHASE: layer=mma m=128 ..." (`--tile`) and a program. Out: what each of its phases is to have. Refuses (code_usage)
 * what is no such line, and names and settings that there are not, with those that there are.
 * PHASE is the name of a phase (gate_up), of its kernel (k4, k4.gate_up, llama_gate_up), its signature (gen/base/signature.h), or a family
 * (gemm): then the line is for all phases of the family whose program can have it. */
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
    const char *former; /* the family that the selector named, by a name that it had; or NULL */
    int layer; /* -1: any */
    override_setting settings[most_override_settings];
    int count;
    bool of_family;      /* the selector is a family */
    const char **phases; /* else the names of its phases */
    int phase_count;
    bool taken;      /* by a phase */
    const char *why; /* the first phase of the family did not take it; */
    tfgen_code code; /* and what that is, where none does */
} tile_override;

typedef struct overrides {
    arena *a;
    tile_override *list;
    int count;
} overrides;

overrides *overrides_read(arena *a, const tuning *t); /* t may be NULL */
/* Whose they are. launches: the names of the program's kernels as functions, in order; final: a selector that names nothing is an error. */
void overrides_settle(overrides *w, const ir_program *p, const char *const *launches, bool final);
bool override_is_for(const tile_override *w, const ir_phase *phase);
void overrides_end(const overrides *w); /* bails where all phases of a family refused a line */
void override_passed_over(tile_override *w, tfgen_code code, const char *why);
_Noreturn void override_refuse(const overrides *w, const tile_override *of, const char *why);
void override_warn(const overrides *w, const tile_override *of, const char *hint); /* NULL: of nothing */
#endif
