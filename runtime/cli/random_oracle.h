/* What else must hold of a spec that came out right. Each oracle turns a good report into a wrong one, and says what it saw. */
#ifndef TFGEN_CLI_RANDOM_ORACLE_H
#define TFGEN_CLI_RANDOM_ORACLE_H
#include "runtime/cli/random_case.h"

void random_oracles_ask(const random_case *c, const char *level, random_level_report *mine);
#endif
