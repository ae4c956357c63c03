/* In: a command line (process.h).
 * Out: its output and its end; nothing of it is left running.
 * Refuses: to inherit signal masks, and to wait beyond the limit. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/host/engine.h"
#include "runtime/host/process.h"

extern char **environ;

static bool spawn(char *const argv[], int input, int output, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
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
    const bool ok = !posix_spawn(pid, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

/* False when the time is over before the other end closed. */
static bool drain(int from, uint64_t deadline_ms, host_log *output)
{
    for (;;) {
        char bytes[4096];
        const uint64_t now = watchdog_now();
        struct pollfd p = {.fd = from, .events = POLLIN};
        if (now >= deadline_ms) return false;
        if (poll(&p, 1, (int)(deadline_ms - now)) < 0 && errno != EINTR) return true;
        if (!p.revents) continue;
        const ssize_t n = read(from, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR)) return true;
        if (n > 0) log_bytes(output, bytes, (size_t)n);
    }
}

/* Not before the deadline is certain that it ends by itself: it may have closed its outputs and go on. */
static process_end reap(pid_t pid, uint64_t deadline_ms)
{
    int status = 0;
    for (;;) {
        const pid_t r = waitpid(pid, &status, WNOHANG);
        if (r == pid) break;
        if (r < 0 && errno != EINTR) return PROCESS_OK; /* the program ignores its children: the output file will tell */
        if (watchdog_now() >= deadline_ms) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
            return PROCESS_TIMEOUT;
        }
        usleep(200);
    }
    if (WIFSIGNALED(status)) return PROCESS_KILLED;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PROCESS_OK : PROCESS_FAILED;
}

process_end process_run(char *const argv[], int input, unsigned limit_ms, host_log *output)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC)) return PROCESS_NOT_STARTED;
    const bool started = spawn(argv, input, ends[1], &pid);
    close(ends[1]);
    process_end end = PROCESS_NOT_STARTED;
    if (started) {
        const uint64_t deadline = watchdog_now() + limit_ms;
        const bool closed = drain(ends[0], deadline, output);
        end = reap(pid, closed ? deadline : 0);
    }
    close(ends[0]);
    return end;
}
