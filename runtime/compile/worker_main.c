/* In: DIRECTORY MODE TOOL ARCH NAME PARENT, with DIRECTORY/source. Out: DIRECTORY/code, DIRECTORY/compiler, messages on stderr, and a
 * tfgen_code as exit status (1: clang's own). Or: guard PARENT DIRECTORY PROGRAM ARGUMENT..., which runs that program and returns its exit
 * status; DIRECTORY may be empty. Ends with its parent, whose process number is given: then kills the compiler and removes the
 * directory. */
#define _GNU_SOURCE
#include "runtime/compile/worker.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct mode {
    const char *name;
    int (*work)(const worker_job *);
} mode;

static const mode modes[] = {
    {"clang", clang_work},
    {"hiprtc", hiprtc_work},
    {"nvrtc", nvrtc_work},
    {"check", libclang_check_work},
    {"requires", libclang_requires_work},
    {"version", worker_version_work},
};

static bool read_source(worker_job *job)
{
    char *path = printed("%s/source", job->directory);
    FILE *f = path ? fopen(path, "rbe") : NULL;
    struct stat st;
    free(path);
    if (!f || fstat(fileno(f), &st)) return false;
    job->source = malloc((size_t)st.st_size + 1);
    if (!job->source) return false;
    job->size = fread(job->source, 1, (size_t)st.st_size, f);
    job->source[job->size] = 0;
    fclose(f);
    return true;
}

/* The compiling process: an abort in it must leave no core file behind. */
static int work(char **arguments)
{
    const struct rlimit none = {0, 0}, file = {worker_most_file, worker_most_file};
    worker_job job = {.directory = arguments[1], .tool = arguments[3], .arch = arguments[4], .name = arguments[5]};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &file); /* bounds the disk space of a faulty compiler */
    if (!read_source(&job)) {
        perror("tfgen-worker: source");
        return code_io;
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(modes[i].name, arguments[2])) return modes[i].work(&job);
    fprintf(stderr, "tfgen-worker: unknown mode '%s'\n", arguments[2]);
    return code_usage;
}

static int run(char **arguments)
{
    execv(arguments[4], arguments + 4);
    perror(arguments[4]);
    return code_unsupported;
}

/* Waits for the child; a SIGTERM (sent by the kernel when the parent dies) ends everything. */
static int supervise(pid_t child, const sigset_t *set, const char *directory)
{
    int status = 0;
    for (;;) {
        const int s = sigwaitinfo(set, NULL);
        if (s == SIGCHLD && waitpid(child, &status, WNOHANG) == child) return status;
        if (s < 0 || s == SIGCHLD) continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (*directory) directory_remove(directory);
        if (getpgrp() == getpid()) kill(0, SIGKILL); /* not if started by hand from a shell */
        exit(code_io);
    }
}

/* False: the parent has already ended, so the signal would never come. */
static bool die_with(pid_t parent, int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
    return getppid() == parent;
}

int main(int count, char **arguments)
{
    sigset_t set, before;
    int status;
    const bool runs = count >= 5 && !strcmp(arguments[1], "guard");
    if (count != 7 && !runs)
        return fputs("usage: tfgen-worker DIRECTORY MODE TOOL ARCH NAME PARENT (tfgen starts it)\n", stderr), code_usage;
    sigemptyset(&set);
    for (const int *s = (const int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0}; *s; s++) sigaddset(&set, *s);
    sigprocmask(SIG_BLOCK, &set, &before);
    if (!die_with((pid_t)atol(arguments[runs ? 2 : 6]), SIGTERM)) return code_io;
    syscall(SYS_close_range, 3, ~0u, 0); /* compilers do not inherit the application's files; glibc 2.28 has no function for it */
    const pid_t self = getpid(), child = fork();
    if (child < 0) return perror("tfgen-worker: fork"), code_io;
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        const int code = !die_with(self, SIGKILL) ? code_io : runs ? run(arguments) : work(arguments);
        fflush(NULL);
        _exit(code); /* skips destructors: the compiler may be in any state */
    }
    status = supervise(child, &set, arguments[runs ? 3 : 1]);
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status)); /* so that the parent sees what happened */
    return 128 + WTERMSIG(status);
}
