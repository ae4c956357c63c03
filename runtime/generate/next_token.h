/* In: a generator's device, head and embedding tables. Out: the kernel that chooses each sequence's next token and prepares the next decode
 * step (templates/rows/next_token.h); memory for the tables and for the tokens that it chose. Bails with errors of the device. */
#ifndef TFGEN_GENERATE_NEXT_TOKEN_H
#define TFGEN_GENERATE_NEXT_TOKEN_H
#include "runtime/generate/inside.h"

/* Loads the kernel and copies the tables, in g->type, to the device. */
void next_token_open(generator *g);
void next_token_close(generator *g);
/* The next launch's tokens are the first ones that next_token_read() copies. */
void next_token_restart(generator *g);
/* Launches the kernel for rows 0 to rows-1: it reads g->logits and g->peaks, and writes the tokens, their embeddings to g->x[0] and the
 * positions after g->pos to g->pos. */
void next_token_launch(generator *g, size_t rows);
/* Waits; copies the tokens of the first `count` launches since next_token_restart(), [count][rows]; -1 where a logit was NaN. */
void next_token_read(generator *g, size_t count, size_t rows, int *tokens);
#endif
