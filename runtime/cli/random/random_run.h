/* `tfgen verify --random`: runs many drawn specs and sums up their outcomes. */
#ifndef TFGEN_CLI_RANDOM_RUN_H
#define TFGEN_CLI_RANDOM_RUN_H
#include "runtime/cli/cli.h"

int random_verify_main(const cli_options *o);
#endif
