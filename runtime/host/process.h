/* In: a command and a time limit. Out: what it printed and how it ended. At the limit its whole process group is killed. */
#ifndef TFGEN_HOST_PROCESS_H
#define TFGEN_HOST_PROCESS_H

#include "runtime/host/host.h"

typedef enum process_end { PROCESS_OK, PROCESS_FAILED, PROCESS_KILLED, PROCESS_TIMEOUT, PROCESS_NOT_STARTED } process_end;

/* argv[0] is a path. `input` becomes standard input (-1: empty); stdout and stderr are appended to `output`. folder: a temporary folder,
 * removed with its content if this process dies meanwhile; or NULL. */
process_end process_run(char *const argv[], int input, const char *folder, unsigned limit_ms, host_log *output);

#endif
