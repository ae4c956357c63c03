/* In: a HuggingFace model's folder in place of run's SPEC, rows of tokens. Out: the outputs of its layers, run in turn. */
#ifndef TFGEN_CLI_RUN_MODEL_H
#define TFGEN_CLI_RUN_MODEL_H
#include "runtime/cli/cli.h"

void run_model(arena *a, const cli_options *o, const char *folder);
#endif
