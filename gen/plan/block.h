/* In: a graph at level block, while it is planned. Out: one kernel with all its phases, and the threads per workgroup that they share.
 * Refuses (code_unsupported) graphs with more than most_block_phases phases, and phases that no program computes with that many
 * threads. */
#ifndef TFGEN_GEN_BLOCK_H
#define TFGEN_GEN_BLOCK_H
#include "gen/plan/choice.h"

enum { most_block_phases = 127 }; /* late_wait() of templates/frame/workspace.h has 7 bits for a phase */

bool block_is_whole(const ir_graph *p); /* level block: all phases share a launch */
/* Gives each phase a kernel of its own, which rewrites require; block_gather() puts all phases back into one kernel, in order. */
void block_spread(arena *a, ir_graph *p);
void block_gather(arena *a, ir_graph *p);
/* Sets p->threads (per workgroup) to the number that the plan's text or the user requests, else to the one for which the predicted times
 * of all phases add up to the least. */
void block_set_threads(arena *a, ir_graph *p, const device_model *device, const preferences *w);
#endif
