/* In: the tables of options.def. Out: the overview, a page for each command, the man page. */
#ifndef TFGEN_CLI_HELP_H
#define TFGEN_CLI_HELP_H
#include <stdio.h>
#include "runtime/cli/options.h"

void help_overview(FILE *out);
void help_command(FILE *out, command_kind command);
void help_environment(FILE *out);
void help_man(FILE *out);
#endif
