/* Decides whether the phases of a launch pass their rows on in words (templates/frame/words.h), without waits for whole phases, and proves
 * that this is right. */
#ifndef TFGEN_GEN_WORDS_H
#define TFGEN_GEN_WORDS_H
#include "gen/gen.h"

/* If every value that phases of the launch read from each other can be passed on in words, sets l->words, and adds a scratch with the words
 * of each such value to the plan (plan.words). The programs of its phases are known. */
void words_find(arena *a, plan *p, launch *l);
/* What is wrong with the words of a launch; NULL: nothing. The proof uses what the ops read and write. It shows
 * - that whatever a phase reads and another phase of the launch writes has words, or consists of old rows of a cache, and that the writer
 *   comes earlier or, in a stack, in the layer before: so all waits end;
 * - that no two phases write the same memory;
 * - in a stack, that words are overwritten only by what depends on all of their readers: a phase that stores a word of the next layer has
 *   read words that in turn depend on all tiles of each reader. */
const char *words_fault(arena *a, const plan *p, const launch *l);
#endif
