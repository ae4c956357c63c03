/* Further properties of a spec whose results are within bounds. An oracle that finds a violation turns the good report into a wrong one. */
#ifndef TFGEN_CLI_RANDOM_ORACLE_H
#define TFGEN_CLI_RANDOM_ORACLE_H
#include "runtime/cli/random/random_results.h"

/* Checks the oracles that the case drew, and writes a violation into *mine. results: of the good run; empty with plan_only. */
void random_oracles_ask(const random_case *c, const char *level, const random_results *results, random_level_report *mine);
/* The part of random_oracles_ask() that compiles and runs kernels (random_oracle_run.c). */
void random_oracles_run(const random_case *c, const char *level, const random_results *results, random_level_report *mine);
#endif
