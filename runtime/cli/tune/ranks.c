/* See ranks.h. The work runs in a child process, which is restarted when a signal ends it. */
#define _GNU_SOURCE
#include "runtime/cli/tune/ranks.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/tune/database.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_deaths = 8, step_us = 100000, steps_a_beat = 5 };

/* ---- the launcher */
static int number_of(const char *name, int otherwise)
{
    const char *given = secure_getenv(name);
    char *end;
    const long x = given ? strtol(given, &end, 10) : 0;
    return given && end != given && !*end && x >= 0 && x < 1 << 20 ? (int)x : otherwise;
}

/* The parent's start time, which with its process number identifies it. */
static unsigned long long parent_start(void)
{
    char path[64], line[1024] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    FILE *f = fopen(path, "r");
    if (f && !fgets(line, sizeof line, f)) *line = 0;
    if (f) fclose(f);
    const char *at = strrchr(line, ')'); /* after the name, which may have blanks */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

ranks ranks_of(arena *a)
{
    static const struct {
        /* Names of variables. job: the job's id, which a later job may have again; launcher: the launcher's address. */
        const char *rank, *size, *local, *locals, *job, *launcher;
    } launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
                      "PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri"},
                     {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID", ""}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        ranks r = {.rank = number_of(launchers[i].rank, -1), .size = number_of(launchers[i].size, 0)};
        if (r.rank < 0 || r.size < 2 || r.rank >= r.size) continue;
        r.local = number_of(launchers[i].local, r.rank);
        r.many_hosts = number_of(launchers[i].locals, r.size) < r.size;
        const char *job = secure_getenv(launchers[i].job), *launcher = secure_getenv(launchers[i].launcher);
        r.sweep = job ? text_harmless(a, arena_printf(a, "%s %s", job, launcher ? launcher : ""))
                      : arena_printf(a, "%d %llu", (int)getppid(), parent_start());
        return r;
    }
    return (ranks){.size = 1, .sweep = ""};
}

/* ---- the process that the launcher sees */
static volatile sig_atomic_t child;
static volatile sig_atomic_t told; /* 1: SIGTERM has asked this process to end */
static void hand_on(int signal)
{
    told = 1;
    if (child > 0) kill((pid_t)child, signal);
}

static void begin(const ranks_work *w)
{
    const pid_t parent = getpid();
    fflush(stdout);
    child = fork();
    if (child) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL), signal(SIGINT, SIG_DFL);
    if (getppid() != parent) _exit(1); /* the parent ended before PR_SET_PDEATHSIG */
    const int code = w->run(w->context);
    fflush(stdout);
    _exit(code);
}

typedef struct watch {
    arena *a;
    const ranks *r;
    const ranks_work *w;
    database *d;
    int code, deaths;
} watch;

static void tell_death(watch *s, int signal)
{
    fprintf(stderr, "tfgen: rank %d was ended by signal %d (%s)%s\n", s->r->rank, signal, strsignal(signal),
            s->deaths < most_deaths ? "; it begins again" : "; the others go on");
}

/* Watches the child until its work has ended. When a child ends, other ranks may take over the tiles that it had not finished. A child that
 * a signal killed is started again, unless SIGTERM asked for the end or it was killed most_deaths times: then the work has failed. */
static void watch_child(watch *s)
{
    for (long long step = 0;; step++) {
        int status;
        const pid_t ended = waitpid((pid_t)child, &status, WNOHANG);
        if (s->d && step % steps_a_beat == 0) database_beat(s->d, s->r->sweep, s->r->rank, step + 1);
        if (ended == 0 || (ended < 0 && errno == EINTR)) {
            usleep(step_us);
            continue;
        }
        if (s->d) database_give_back(s->d, s->r->sweep, s->r->rank);
        if (ended > 0 && WIFSIGNALED(status) && !told) {
            s->deaths++;
            tell_death(s, WTERMSIG(status));
            if (s->deaths < most_deaths) {
                begin(s->w);
                continue;
            }
        }
        s->code = ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : told ? code_ok : code_device;
        return;
    }
}

static void note_worst(void *context, int rank, long long beat)
{
    (void)rank;
    int *worst = context;
    if (beat < 0) *worst = cli_worse(*worst, (int)(-1 - beat));
}

static void count_running(void *context, int rank, long long beat)
{
    (void)rank;
    *(long long *)context += beat > 0 ? beat : 0; /* changes while any rank is alive */
}

/* Rank 0 waits for the other ranks and takes the worst of their exit codes. */
static void wait_for_all(watch *s)
{
    enum { quiet_steps = 50 };
    long long before = -1;
    for (int quiet = 0; quiet < quiet_steps; quiet++) {
        long long beats = 0;
        database_beats(s->d, s->r->sweep, count_running, &beats);
        if (!beats) break;
        if (beats != before) quiet = 0, before = beats;
        usleep(step_us);
    }
    database_beats(s->d, s->r->sweep, note_worst, &s->code);
    database_forget(s->d, s->r->sweep);
}

static void supervise(void *argument)
{
    watch *s = argument;
    if (s->w->database) s->d = database_open(s->a, s->w->database, s->r->many_hosts);
    begin(s->w);
    watch_child(s);
    if (s->d) database_beat(s->d, s->r->sweep, s->r->rank, -1 - s->code);
    if (s->d && s->r->rank == 0) wait_for_all(s);
    if (s->r->rank > 0) s->code = 0;
}

int ranks_supervise(const ranks *r, const ranks_work *w)
{
    watch s = {.a = arena_new(), .r = r, .w = w};
    signal(SIGTERM, hand_on);
    signal(SIGINT, SIG_IGN); /* terminals send it to the child as well */
    const int code = arena_run(s.a, supervise, &s);
    if (code) fputs(arena_diagnostics(s.a), stderr);
    arena_free(s.a);
    return code ? code : s.code;
}
