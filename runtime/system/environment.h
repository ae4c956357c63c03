/* In: this process's environment. Out: the environment for child processes, and the variables that affect compilers. In a process with more
 * privileges than its caller (setuid, setgid, capabilities) the environment is untrusted and not passed on; for the same reason, variables
 * are read with secure_getenv() everywhere. */
#ifndef TFGEN_ENVIRONMENT_H
#define TFGEN_ENVIRONMENT_H

/* For a child: this environment with TMPDIR replaced ("TMPDIR=/x"; NULL: unchanged); with raised privileges only the system's PATH. The
 * caller frees the list, not its strings. NULL without memory. */
char **environment_for_child(char *temporary);
/* Variables that change a compiler's output without appearing on its command line, NULL-terminated. Part of every cache key. */
extern const char *const environment_of_compilers[];
#endif
