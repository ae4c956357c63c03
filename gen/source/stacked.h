/* Finds the arguments of a stack's launch that differ between layers, and writes the functions of the launch's spec struct that compute the
 * arguments of a phase for a layer (templates/frame/frame_stack.h). */
#ifndef TFGEN_GEN_STACKED_H
#define TFGEN_GEN_STACKED_H
#include "gen/emit/writer.h"
#include "gen/gen.h"

/* Sets by_layer and place of the launch's arguments, and its row_length. Pointers to packed weights, params and states differ from layer to
 * layer, and so does its kind; arguments that point to the same one share a place. */
void stacked_set_places(launch *l);
/* Writes the function that computes the arguments of phase `number` (from 1) for a layer. args: the name of their struct. */
void stacked_write_phase(arena *a, const plan *p, const launch *l, int number, const char *args, const char *struct_name, writer *w);
#endif
