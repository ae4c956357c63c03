/* In: a case. Out: its report, which a child process writes into shared memory. */
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
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_words = 512 << 10 };

/* Memory shared by parent and child, at the same address. A child with a device goes on with the next case, which the parent writes here,
 * because drivers take longer to open a device than most cases take, and open those of several processes one by one. */
typedef struct room {
    random_report report;
    random_limits limits;
    random_case c;
    random_spec spec;
    const char *levels[random_most_levels];
    char words[most_words];
    size_t used;
} room;

struct random_child {
    room *shared;
    pid_t pid;
    int handle; /* readable when the process has ended */
    int talk;   /* socket to a child that goes on: a byte begins a case, a byte back ends it; -1: the process ends with its case */
    bool busy;
    double started;
};

volatile sig_atomic_t random_stop;

static void stop(int number) { random_stop = number; }

void random_stop_listen(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void free_child(void *p)
{
    random_child *child = p;
    random_child_kill(child);
    munmap(child->shared, sizeof *child->shared);
}

random_child *random_child_new(arena *a)
{
    random_child *child = arena_alloc(a, sizeof *child);
    child->shared = mmap(NULL, sizeof *child->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (child->shared == MAP_FAILED) bail(a, code_device, (position){0}, "not enough memory");
    child->talk = -1;
    arena_defer(a, free_child, child);
    return child;
}

/* ---- in the child */
static void limit_processor_time(const random_limits *limits)
{
    struct rusage used;
    struct rlimit cpu;
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &cpu);
    cpu.rlim_cur = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + limits->cpu_seconds;
    if (cpu.rlim_cur > cpu.rlim_max) cpu.rlim_cur = cpu.rlim_max;
    setrlimit(RLIMIT_CPU, &cpu);
}

static bool wait_for_another(int talk)
{
    char byte = 0;
    return talk >= 0 && write(talk, &byte, 1) == 1 && read(talk, &byte, 1) == 1;
}

/* Runs cases in its own process group, so that its compilers end with it; its output is discarded. */
static void be_child(const random_case *first, room *shared, int talk)
{
    const struct rlimit core = {0, 0};
    tfgen_device *device = NULL;
    random_case c = *first;
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL), signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &core);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    for (;;) {
        limit_processor_time(&shared->limits);
        c.open = &device;
        random_case_run(&c, &shared->report);
        if (!wait_for_another(talk)) _exit(0);
        c = shared->c;
    }
}

/* ---- in the parent */
/* Copies a string to shared memory; false: no room, or no string. */
static bool share(room *shared, const char **word)
{
    const size_t size = *word ? strlen(*word) + 1 : 0;
    if (!size || size > sizeof shared->words - shared->used) return false;
    *word = memcpy(shared->words + shared->used, *word, size);
    shared->used += size;
    return true;
}

/* Copies the case to shared memory. Its other pointers are to string literals, which the child has at the same addresses. */
static bool share_case(room *shared, const random_case *c)
{
    random_case *to = &shared->c;
    *to = *c, shared->used = 0;
    bool ok = share(shared, &to->yaml) && share(shared, &to->comment) && share(shared, &to->name) && share(shared, &to->target) &&
              share(shared, &to->device);
    for (int i = 0; ok && i < c->level_count; i++) shared->levels[i] = c->levels[i], ok = share(shared, &shared->levels[i]);
    if (c->other_target) ok = ok && share(shared, &to->other_target);
    if (c->spec) shared->spec = *c->spec, to->spec = &shared->spec;
    to->levels = shared->levels;
    return ok;
}

/* Gives the next case to the last case's child, if that has a device and did well; after a failure the device's state is unknown. */
static bool hand_over(random_child *child, const random_case *c, bool did_well)
{
    const char byte = 0;
    return child->pid > 0 && child->talk >= 0 && c->device && did_well && share_case(child->shared, c) &&
           send(child->talk, &byte, 1, MSG_NOSIGNAL) == 1;
}

static bool begin(random_child *child, const random_case *c)
{
    int ends[2] = {-1, -1};
    if (c->device && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    fflush(NULL);
    child->pid = fork();
    if (child->pid == 0) {
        if (ends[0] >= 0) close(ends[0]);
        be_child(c, child->shared, ends[1]);
    }
    if (ends[1] >= 0) close(ends[1]);
    child->talk = ends[0];
    if (child->pid < 0) {
        if (child->talk >= 0) close(child->talk);
        return child->talk = -1, false;
    }
    setpgid(child->pid, child->pid); /* parent and child both set it: either may be first */
    child->handle = (int)syscall(SYS_pidfd_open, child->pid, 0);
    return true;
}

bool random_child_start(random_child *child, const random_case *c, const random_limits *limits)
{
    const bool did_well = random_report_failure(&child->shared->report, random_most_levels) < 0;
    memset(&child->shared->report, 0, sizeof child->shared->report);
    child->shared->limits = *limits;
    child->started = seconds_now();
    child->busy = hand_over(child, c, did_well);
    if (child->busy) return true;
    random_child_kill(child);
    memset(&child->shared->report, 0, sizeof child->shared->report);
    return child->busy = begin(child, c);
}

static void blame(random_child *child, random_outcome outcome, const char *format, int number)
{
    random_report *report = &child->shared->report;
    random_level_report *l = &report->levels[report->current];
    if (report->done) return;
    l->outcome = outcome;
    snprintf(l->message, sizeof l->message, format, number);
    report->done = true;
}

static void collect(random_child *child, int status)
{
    if (child->handle >= 0) close(child->handle);
    if (child->talk >= 0) close(child->talk);
    child->pid = 0, child->talk = -1, child->busy = false;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        blame(child, random_hung, "error: more than %d s of processor time", (int)child->shared->limits.cpu_seconds);
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
    char byte;
    struct pollfd p[] = {{.fd = child->handle, .events = POLLIN}, {.fd = child->talk, .events = POLLIN}}; /* -1 is ignored */
    if (!child->busy) return true;
    if (wait_ms > 0) (void)poll(p, 2, wait_ms);
    if (child->talk >= 0 && recv(child->talk, &byte, 1, MSG_DONTWAIT) == 1) {
        child->busy = false;
        return true;
    }
    if (waitpid(child->pid, &status, WNOHANG) == child->pid) {
        collect(child, status);
        return true;
    }
    if (seconds_now() - child->started < child->shared->limits.seconds) return false;
    blame(child, random_hung, "error: more than %d s", (int)child->shared->limits.seconds);
    random_child_kill(child);
    return true;
}

const random_report *random_child_report(const random_child *child) { return &child->shared->report; }

const random_report *random_child_run(random_child *child, const random_case *c, const random_limits *limits)
{
    if (!random_child_start(child, c, limits)) blame(child, random_device_error, "error: could not start a process%.0d", 0);
    while (!random_stop && !random_child_ended(child, 1000)) {}
    if (random_stop) random_child_kill(child);
    return random_child_report(child);
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
    if (!device) return target;
    q.answer = mmap(NULL, sizeof *q.answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (q.answer == MAP_FAILED) bail(a, code_device, (position){0}, "not enough memory");
    arena_defer(a, free_answer, q.answer);
    q.answer->code = code_device;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) answer_and_end(&q);
    if (pid > 0) (void)waitpid(pid, NULL, 0);
    if (q.answer->code != code_ok)
        bail(a, q.answer->code, (position){0}, "%s", q.answer->said[0] ? q.answer->said : "--device: it cannot be opened");
    return q.answer->target;
}
