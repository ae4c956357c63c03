/* Writes the spec struct of a launch of several phases, which refers to the spec structs of the phases. */
#ifndef TFGEN_GEN_SEVERAL_H
#define TFGEN_GEN_SEVERAL_H
#include "gen/emit/writer.h"
#include "gen/gen.h"

typedef struct side {
    const char *program, *args; /* names in C++: rows<t_a_spec>, and its argument struct */
    unsigned offset;            /* of that struct in the launch's arguments */
} side;

/* Writes the struct of phases that do not wait for each other (templates/rows/side_by_side.h). */
void several_write_sides(arena *a, const launch *l, const side *sides, const char *struct_name, writer *w);
void write_ring(const launch *l, writer *w); /* writes the members of the launch's ring, if it has one (templates/frame/frame_ring.h) */
/* Writes the struct of phases that wait for each other, of a block (templates/frame/frame_list.h) or a stack (frame_stack.h). */
void several_write_list(arena *a, const plan *p, const launch *l, const side *sides, const char *struct_name, writer *w);
#endif
