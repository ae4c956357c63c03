/* In: this process's environment. Out: what of it this library may listen to, what its children get, and what of it changes compilers.
 * Refuses to hear or hand on anything where the environment is another user's: in a program that runs with more rights than who started it
 * (setuid, setgid, capabilities). Variables themselves are read by secure_getenv() everywhere, for the same reason. */
#ifndef TFGEN_ENVIRONMENT_H
#define TFGEN_ENVIRONMENT_H

/* For a child: this environment with TMPDIR as given ("TMPDIR=/x"; NULL: as it is), or nothing of it but a PATH of the system's. The caller
 * frees the list, not its strings. NULL without memory. */
char **environment_for_child(char *temporary);
/* Variables that change what a compiler makes and that its command line does not show, a NULL behind them. They belong into every cache
 * key. */
extern const char *const environment_of_compilers[];
#endif
