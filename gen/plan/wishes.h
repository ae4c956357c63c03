/* In: a user's lines "PHASE: layer=mma m=128 ..." (`--tile`) and a program. Out: what each of its phases is to have. Refuses (code_usage)
 * what is no such line, and names and settings that there are not, with those that there are.
 * PHASE is the name of a phase (gate_up), of its kernel (k4, k4.gate_up, llama_gate_up), its signature (gen/base/signature.h), or a family
 * (gemm): then the line is for all phases of the family whose program can have it. */
#ifndef TFGEN_GEN_WISHES_H
#define TFGEN_GEN_WISHES_H
#include "gen/gen.h"

enum { most_wish_settings = 16 };

typedef struct wish_setting {
    const char *key;
    int value;
} wish_setting;

typedef struct wish {
    const char *line, *selector;
    int layer; /* -1: any */
    wish_setting settings[most_wish_settings];
    int count;
    bool of_family;      /* the selector is a family */
    const char **phases; /* else the names of its phases */
    int phase_count;
    bool taken;      /* by a phase */
    const char *why; /* the first phase of the family did not take it; */
    tfgen_code code; /* and what that is, where none does */
} wish;

typedef struct wishes {
    arena *a;
    wish *list;
    int count;
} wishes;

wishes *wishes_read(arena *a, const tuning *t); /* t may be NULL */
/* Whose they are. launches: the names of the program's kernels as functions, in order; final: a selector that names nothing is an error. */
void wishes_settle(wishes *w, const ir_program *p, const char *const *launches, bool final);
bool wish_is_for(const wish *w, const ir_phase *phase);
void wishes_end(const wishes *w); /* bails where all phases of a family refused a line */
void wish_passed_over(wish *w, tfgen_code code, const char *why);
_Noreturn void wish_refuse(const wishes *w, const wish *of, const char *why);
void wish_warn(const wishes *w, const wish *of, const char *hint); /* NULL: of nothing */
#endif
