/* What else must hold of a spec that came out right. Each oracle turns a good report into a wrong one, and says what it saw. */
#ifndef TFGEN_CLI_RANDOM_ORACLE_H
#define TFGEN_CLI_RANDOM_ORACLE_H
#include "runtime/cli/random/random_results.h"

/* results: of the run that was good; empty when only planned. */
void random_oracles_ask(const random_case *c, const char *level, const random_results *results, random_level_report *mine);
/* Those that compile and run (random_oracle_run.c). */
void random_oracles_run(const random_case *c, const char *level, const random_results *results, random_level_report *mine);
#endif
