/* In: a case. Out: its report, from a child process, so that a crash or a hang of the host engine, the compiler or the planner costs that
 * case alone. Several run at once. */
#ifndef TFGEN_CLI_RANDOM_CHILD_H
#define TFGEN_CLI_RANDOM_CHILD_H
#include "runtime/cli/random/random_case.h"

enum { random_most_children = 256 };

/* Processor time and time on the clock after which a case counts as hung. */
typedef struct random_limits { unsigned cpu_seconds, seconds; } random_limits;

typedef struct random_child random_child; /* a place for one case at a time */
random_child *random_child_new(arena *a);
/* False: no process to be had. */
bool random_child_start(random_child *child, const random_case *c, const random_limits *limits);
/* Whether its case has ended; kills what is over its time. Waits for at most `wait_ms`. */
bool random_child_ended(random_child *child, int wait_ms);
const random_report *random_child_report(const random_child *child);
void random_child_kill(random_child *child);
/* --device: what its target is, asked in a process of its own, as drivers do not outlive a fork. Bails with what that process said. */
const char *random_device_target(arena *a, const char *device, const char *target);
/* One case from start to end. */
const random_report *random_child_run(random_child *child, const random_case *c, const random_limits *limits);
#endif
