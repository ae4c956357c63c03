/* In: a command line (process.h).
 * Out: its output and how it ended; no process of its group is left running. The child starts with default signal handlers and an empty
 * mask, and is killed at the time limit. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/system/environment.h"
#include "runtime/host/engine.h"
#include "runtime/host/process.h"
#include "runtime/compile/worker.h"

enum { LOOK_MS = 50, POLL_MS = 1, MAX_WORDS = 160 };

/* Runs the program under the compile worker's guard, which kills it if this process dies in any way; directly if there is no worker. */
static bool guarded(char *const argv[], char *worker, char parent[16], const char *folder, char *out[MAX_WORDS])
{
    size_t n = 0;
    if (worker) out[n++] = worker, out[n++] = (char *)"guard", out[n++] = parent, out[n++] = (char *)(folder ? folder : "");
    snprintf(parent, 16, "%ld", (long)getpid());
    for (size_t i = 0; argv[i]; i++) {
        if (n + 1 == MAX_WORDS) return false;
        out[n++] = argv[i];
    }
    out[n] = NULL;
    return true;
}

static bool spawn(char *const argv[], int input, int output, const char *folder, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *worker = worker_path(), parent[16], *words[MAX_WORDS], **environment = environment_for_child(NULL);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    if (input >= 0) posix_spawn_file_actions_adddup2(&files, input, 0);
    else posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, 1);
    posix_spawn_file_actions_adddup2(&files, output, 2);
    const bool ok =
        environment && guarded(argv, worker, parent, folder, words) && !posix_spawn(pid, words[0], &files, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    free(worker);
    return ok;
}

/* Reads what is available. False: end of output. */
static bool take(int from, host_log *output)
{
    char bytes[4096];
    for (;;) {
        const ssize_t n = read(from, bytes, sizeof bytes);
        if (n > 0) log_bytes(output, bytes, (size_t)n);
        else if (n == 0 || (errno != EINTR && errno != EAGAIN)) return false;
        else if (errno == EAGAIN) return true;
    }
}

/* Waits for the process to end, even if its descendants hold its outputs open. False: the deadline passed first. */
static bool wait_for(pid_t pid, int from, uint64_t deadline_ms, host_log *output)
{
    struct pollfd ends[] = {{.fd = from, .events = POLLIN}, {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN}};
    bool ended = false;
    while (!ended) {
        siginfo_t info = {0};
        const int r = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        const uint64_t now = watchdog_now(), most = ends[1].fd < 0 ? POLL_MS : LOOK_MS;
        ended = (r == 0 && info.si_pid == pid) || (r < 0 && errno != EINTR);
        if (!ended && now >= deadline_ms) break;
        if (!ended && poll(ends, 2, (int)(deadline_ms - now < most ? deadline_ms - now : most)) > 0 && ends[0].revents &&
            !take(from, output))
            ends[0].fd = -1;
    }
    if (ends[1].fd >= 0) close(ends[1].fd);
    return ended;
}

/* Kills the rest of the process group before waitpid() releases its id for reuse. */
static process_end reap(pid_t pid, bool ended)
{
    int status = 0;
    pid_t r;
    kill(-pid, SIGKILL);
    while ((r = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {}
    if (!ended) return PROCESS_TIMEOUT;
    if (r < 0) return PROCESS_OK; /* the application ignores SIGCHLD, so there is no status: the output file decides */
    if (WIFSIGNALED(status)) return PROCESS_KILLED;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PROCESS_OK : PROCESS_FAILED;
}

process_end process_run(char *const argv[], int input, const char *folder, unsigned limit_ms, host_log *output)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC)) return PROCESS_NOT_STARTED;
    const bool started = spawn(argv, input, ends[1], folder, &pid);
    close(ends[1]);
    process_end end = PROCESS_NOT_STARTED;
    if (started) {
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        const bool ended = wait_for(pid, ends[0], watchdog_now() + limit_ms, output);
        end = reap(pid, ended);
        take(ends[0], output);
    }
    close(ends[0]);
    return end;
}
