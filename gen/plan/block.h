/* Gathers all phases of a graph at level block in one kernel, and chooses the number of threads per workgroup that they share. Refuses
 * (code_unsupported) graphs with more than most_block_phases phases, and phases that no program computes with any of the numbers of threads
 * tried. */
#ifndef TFGEN_GEN_BLOCK_H
#define TFGEN_GEN_BLOCK_H
#include "gen/plan/choice.h"

enum { most_block_phases = 127 }; /* late_wait() of templates/frame/workspace.h has 7 bits for a phase */

bool block_is_whole(const ir_graph *p); /* true at level block: all phases share a launch */
/* Gives each phase a kernel of its own, as the rewrites of planning require. block_gather() then puts all phases into one kernel,
 * in order. */
void block_spread(arena *a, ir_graph *p);
void block_gather(arena *a, ir_graph *p);
/* Sets p->threads (per workgroup) to the number that the plan's text or the user requests, else to the one for which the predicted times
 * of all phases add up to the least. */
void block_set_threads(arena *a, ir_graph *p, const device_model *device, const preferences *w);
#endif
