/* In: a case. Out: its report, which the child writes into memory that both share. Refuses nothing. */
#define _GNU_SOURCE
#include "runtime/cli/random/random_child.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/trial.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct random_child {
    random_report *report; /* shared */
    pid_t pid;
    int handle; /* readable when the process has ended */
    double started;
    random_limits limits;
};

static void free_child(void *p)
{
    random_child *child = p;
    random_child_kill(child);
    munmap(child->report, sizeof *child->report);
}

random_child *random_child_new(arena *a)
{
    random_child *child = arena_alloc(a, sizeof *child);
    child->report = mmap(NULL, sizeof *child->report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (child->report == MAP_FAILED) bail(a, code_device, (position){0}, "not enough memory");
    arena_defer(a, free_child, child);
    return child;
}

/* A process group of its own, so that its compilers end with it; what it prints goes nowhere. */
static void be_child(const random_case *c, const random_limits *limits, random_report *report)
{
    const struct rlimit cpu = {limits->cpu_seconds, limits->cpu_seconds + 2}, core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    random_case_run(c, report);
    _exit(0);
}

bool random_child_start(random_child *child, const random_case *c, const random_limits *limits)
{
    memset(child->report, 0, sizeof *child->report);
    child->limits = *limits;
    child->started = seconds_now();
    fflush(NULL);
    child->pid = fork();
    if (child->pid == 0) be_child(c, limits, child->report);
    if (child->pid < 0) return false;
    setpgid(child->pid, child->pid); /* whichever of both is first */
    child->handle = (int)syscall(SYS_pidfd_open, child->pid, 0);
    return true;
}

static void blame(random_child *child, random_outcome outcome, const char *format, int number)
{
    random_level_report *l = &child->report->levels[child->report->current];
    if (child->report->done) return;
    l->outcome = outcome;
    snprintf(l->message, sizeof l->message, format, number);
    child->report->done = true;
}

static void collect(random_child *child, int status)
{
    if (child->handle >= 0) close(child->handle);
    child->pid = 0;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        blame(child, random_hung, "error: more than %d s of processor time", (int)child->limits.cpu_seconds);
    else if (WIFSIGNALED(status)) blame(child, random_crashed, "error: signal %d", WTERMSIG(status));
    else blame(child, random_crashed, "error: ended with code %d", WEXITSTATUS(status));
}

void random_child_kill(random_child *child)
{
    int status;
    if (child->pid <= 0) return;
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
    collect(child, status);
}

bool random_child_ended(random_child *child, int wait_ms)
{
    int status;
    struct pollfd p = {.fd = child->handle, .events = POLLIN};
    if (child->pid <= 0) return true;
    if (wait_ms > 0) (void)poll(&p, 1, wait_ms);
    if (waitpid(child->pid, &status, WNOHANG) == child->pid) {
        collect(child, status);
        return true;
    }
    if (seconds_now() - child->started < child->limits.seconds) return false;
    blame(child, random_hung, "error: more than %d s", (int)child->limits.seconds);
    random_child_kill(child);
    return true;
}

const random_report *random_child_report(const random_child *child) { return child->report; }

const random_report *random_child_run(random_child *child, const random_case *c, const random_limits *limits)
{
    if (!random_child_start(child, c, limits)) blame(child, random_device_error, "error: no process to be had%.0d", 0);
    while (!random_child_ended(child, 1000)) {}
    return child->report;
}

/* ---- the device */
typedef struct device_question {
    arena *a;
    const char *device, *target;
    struct device_answer { tfgen_code code; char target[64], said[1024]; } *answer; /* shared */
} device_question;

static void ask_device(void *argument)
{
    device_question *q = argument;
    (void)trial_device(q->a, q->device, false, &q->target);
    snprintf(q->answer->target, sizeof q->answer->target, "%s", q->target ? q->target : "");
}

static void answer_and_end(device_question *q)
{
    q->a = arena_new();
    q->answer->code = arena_run(q->a, ask_device, q);
    snprintf(q->answer->said, sizeof q->answer->said, "%s", arena_diagnostics(q->a));
    _exit(0);
}

static void free_answer(void *p) { munmap(p, sizeof(struct device_answer)); }

const char *random_device_target(arena *a, const char *device, const char *target)
{
    device_question q = {.device = device, .target = target};
    if (!device || strcmp(device, "host") == 0) return target;
    q.answer = mmap(NULL, sizeof *q.answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (q.answer == MAP_FAILED) bail(a, code_device, (position){0}, "not enough memory");
    arena_defer(a, free_answer, q.answer);
    q.answer->code = code_device;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) answer_and_end(&q);
    if (pid > 0) (void)waitpid(pid, NULL, 0);
    if (q.answer->code != code_ok) bail(a, q.answer->code, (position){0}, "%s", q.answer->said[0] ? q.answer->said : "--device: it cannot be opened");
    return q.answer->target;
}
