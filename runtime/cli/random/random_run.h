/* `tfgen verify --random`: many drawn specs, added up. */
#ifndef TFGEN_CLI_RANDOM_RUN_H
#define TFGEN_CLI_RANDOM_RUN_H
#include "runtime/cli/cli.h"

int random_verify_main(const cli_options *o);
#endif
