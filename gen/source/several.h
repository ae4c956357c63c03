/* In: a launch of several phases, whose spec structs are written. Out: the struct of the launch over them. */
#ifndef TFGEN_GEN_SEVERAL_H
#define TFGEN_GEN_SEVERAL_H
#include "gen/emit/writer.h"
#include "gen/gen.h"

typedef struct side {
    const char *program, *args; /* rows<t_a_spec>; its argument struct */
    unsigned offset;            /* of that struct in the launch's arguments */
} side;

/* Phases that do not wait for each other (templates/rows/side_by_side.h). */
void several_write_sides(arena *a, const launch *l, const side *sides, const char *struct_name, writer *w);
/* Phases that do (templates/frame/frame_list.h), of a layer or of a stack (frame_stack.h). */
void write_ring(const launch *l, writer *w); /* the members of its ring, if it has one (templates/frame/frame_ring.h) */
void several_write_list(arena *a, const plan *p, const launch *l, const side *sides, const char *struct_name, writer *w);
#endif
