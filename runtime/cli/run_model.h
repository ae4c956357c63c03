/* `tfgen run FOLDER`. In: a HuggingFace model's folder in place of a SPEC, and activations (x in --input). Out: the result of the layers
 * that --layers names, run in turn. */
#ifndef TFGEN_CLI_RUN_MODEL_H
#define TFGEN_CLI_RUN_MODEL_H
#include "runtime/cli/cli.h"

void run_model(arena *a, const cli_options *o, const char *folder);
#endif
