/* In: a kind of program, or a phase with a tile. Out: the program. */
#include "gen/program/program.h"

#define PROGRAM_FILE(id) extern const program id##_program;
#include "gen/program/program.def"

static const program *const programs[program_count] = {
#define PROGRAM_FILE(id) [program_##id] = &id##_program,
#include "gen/program/program.def"
};

const program *program_at(program_kind kind) { return programs[kind]; }

const program *program_of(const ir_phase *phase) { return programs[phase->tile.program]; }

const program *program_in_source(const ir_phase *phase)
{
    const program *p = program_of(phase);
    const ir_op *linear = p->of_two_dtypes ? phase_op(phase, op_linear) : NULL;
    return linear && has_two_dtypes(linear) ? p->of_two_dtypes : p;
}

bool program_takes_sums(const problem *p, const program *of) { return of->takes_sums || (of->takes_sums_of_all && p->ir->feeds); }

tile_extents program_extents(const problem *p, const ir_tile *t)
{
    tile_extents x = extents_start(p);
    programs[t->program]->geometry(p, t, &x);
    return x;
}
