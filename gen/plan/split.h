/* In: the program of a plan whose phases have their choices. Out: the same, with attention of few queries over a cache split in two kernels
 * where its program leaves parts of the keys: these, and what adds them up. */
#ifndef TFGEN_GEN_SPLIT_H
#define TFGEN_GEN_SPLIT_H
#include "gen/program/program.h"
#include "ir/program/edit.h"

void split_keys(editor *e);
/* `of` leaves parts of what the phase still is to make whole. */
bool split_is_wanted(const problem *p, const program *of);
#endif
