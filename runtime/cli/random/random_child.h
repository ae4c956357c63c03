/* In: a case. Out: its report, from a child process, so that a crash or a hang of the host engine, the compiler or the planner affects only
 * that case. Several run at once. */
#ifndef TFGEN_CLI_RANDOM_CHILD_H
#define TFGEN_CLI_RANDOM_CHILD_H
#include <signal.h>
#include "runtime/cli/random/random_case.h"

enum { random_most_children = 256 };

/* CPU time and wall-clock time after which a case counts as hung. */
typedef struct random_limits { unsigned cpu_seconds, seconds; } random_limits;

/* The signal that stops the run, or 0. */
extern volatile sig_atomic_t random_stop;
/* From here on SIGINT and SIGTERM set it; a second one ends the process. */
void random_stop_listen(void);

typedef struct random_child random_child; /* runs one case at a time */
random_child *random_child_new(arena *a);
/* False: fork failed. */
bool random_child_start(random_child *child, const random_case *c, const random_limits *limits);
/* Waits up to `wait_ms` for the case to end; kills it if it is over its limits. True: it has ended. */
bool random_child_ended(random_child *child, int wait_ms);
const random_report *random_child_report(const random_child *child);
void random_child_kill(random_child *child);
/* The target of --device, found in a child process, as an initialised driver does not survive fork(). Bails with the child's message. */
const char *random_device_target(arena *a, const char *device, const char *target);
/* Starts a case and waits for its end; once random_stop is set, the case is killed and counts as hung. */
const random_report *random_child_run(random_child *child, const random_case *c, const random_limits *limits);
#endif
