/* In: a phase, its space, a target, a user's lines. Out: the program that computes the phase, and its tile: the cheapest program that
 * nothing is in the way of, its defaults, changed by what the program's text or the user says. Refuses (code_unsupported) programs and
 * settings that the phase, the template or the target cannot have, with the reason; settings that there are not are bad usage. */
#ifndef TFGEN_GEN_TILE_H
#define TFGEN_GEN_TILE_H
#include "gen/program/program.h"
#include "ir/program/build.h"

/* How columns lie; false: there is no arrangement of them for the epilogue. */
bool request_segments(const tile_request *r, segment_list *list);
/* Why a tile with all of its fields is none that the phase can have, program and all; NULL: it can. Of any request. */
const char *tile_illegal(const tile_request *r, const ir_tile *t);
/* A phase of a plan, to ask such things of. */
tile_request tile_request_of(arena *a, const plan *p, const ir_phase *phase);
/* The program's own choice; false: something is in its way, *why. */
bool tile_default(const tile_request *r, program_kind kind, ir_tile *t, const char **why);
/* The program, by the text, a user's line "gate_up: layer=simt", or else by cost; phase->refused is what the others were refused for. */
const program *program_choose(const tile_request *r, ir_phase *phase);
/* By kernel, of one phase of which `asks` is true: the program that it would have; else NULL. Passes that change phases ask before they
 * change the first, while an index knows who reads what. */
const program *const *programs_choose(const builder *b, const device_model *device, struct wishes *w, const tuning *t,
                                      bool (*asks)(const ir_phase *phase));
/* The cheapest that the phase can have of those that are not in `tried`, by kind; NULL: there is none left. */
const program *program_next(const tile_request *r, const bool tried[program_count]);
/* False: p needs rows of A at multiples of 16 bytes, and they are not. While r->segments is NULL they may still become so
 * (gen/plan/align.h). */
bool rows_lie_right(const tile_request *r, const program *p);
/* Fills phase->tile of the copy that is being planned; of a product r->packed_n and r->segments are known. False: all tiles of the program
 * that come into question have spilled (phase->spilled), or *rule says why phase->tile, which text or user ask for, is illegal. */
bool tile_choose(const tile_request *r, const program *p, ir_phase *phase, const char **rule);
#endif
