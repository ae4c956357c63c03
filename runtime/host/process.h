/* In: a command and a time limit. Out: what it printed and how it ended. At the limit its whole process group is killed. */
#ifndef TFGEN_HOST_PROCESS_H
#define TFGEN_HOST_PROCESS_H

#include "runtime/host/host.h"

typedef enum process_end { PROCESS_OK, PROCESS_FAILED, PROCESS_KILLED, PROCESS_TIMEOUT, PROCESS_NOT_STARTED } process_end;

/* argv[0] is a path. Standard input is the descriptor `input`, or nothing when it is -1; both outputs go to `output`. folder: a temporary
 * one that is removed with its content if this process dies meanwhile; or NULL. */
process_end process_run(char *const argv[], int input, const char *folder, unsigned limit_ms, host_log *output);

#endif
