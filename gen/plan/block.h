/* In: a graph at level block that is being planned. Out: its phases as one kernel, with a number of threads that all have. Refuses
 * (code_unsupported) graphs of more phases than a launch can count, and phases that no program computes with as many threads. */
#ifndef TFGEN_GEN_BLOCK_H
#define TFGEN_GEN_BLOCK_H
#include "gen/plan/choice.h"

enum { most_block_phases = 127 }; /* late_wait() of templates/frame/workspace.h has 7 bits for a phase */

bool block_is_whole(const ir_graph *p); /* all phases share a launch: level block */
/* Gives each phase a kernel of its own, as rewrites expect it, and back: all phases to one kernel, in their order. */
void block_spread(arena *a, ir_graph *p);
void block_gather(arena *a, ir_graph *p);
/* Sets p->threads to the number that the text or the user asks for, else to that with the least predicted time of all phases together. */
void block_set_threads(arena *a, ir_graph *p, const device_model *device, const preferences *w);
#endif
