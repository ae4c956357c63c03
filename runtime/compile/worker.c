/* In: what to compile and for how long. Out: the worker's files, its log and a status. Refuses to wait beyond the
 * limit: the worker's whole process group is killed, and its directory removed in every case. */
#define _GNU_SOURCE
#include "runtime/compile/worker.h"
#include "runtime/system/environment.h"
#include "runtime/system/input.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_log = 1 << 20, most_written = 16 << 20, most_data = worker_most_file, poll_ms = 3, look_ms = 50 };

/* ---- files ---- */

const char system_libraries[] =
    "/usr/local/lib:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:/usr/lib:/lib64:/lib";

char *path_search(const char *const *lists, size_t count, const char *file)
{
    for (size_t i = 0; i < count; i++)
        for (const char *at = lists[i]; at && *at; at += strspn(at, ":")) {
            const int n = (int)strcspn(at, ":");
            char *path = n ? printed("%.*s/%s", n, at, file) : NULL;
            if (path && access(path, R_OK) == 0 && !input_refusal(path)) return path;
            free(path);
            at += n;
        }
    return NULL;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        const ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static int create(const temporary_folder *t, const char *name, int flags)
{
    return openat(t->handle, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600);
}

static bool write_source(const temporary_folder *t, const worker_call *c)
{
    char line[512];
    int n = 0;
    if (c->line_directive && strncmp(c->source, "#line", 5))
        n = snprintf(line, sizeof line, "#line 1 \"%s\"\n", c->name);
    const int fd = n < (int)sizeof line ? create(t, "source", 0) : -1;
    bool ok = fd >= 0 && write_all(fd, line, (size_t)n) && write_all(fd, c->source, c->size);
    if (fd >= 0 && close(fd)) ok = false;
    return ok;
}

/* ---- the worker program ---- */

static bool is_program(const char *path) { return access(path, X_OK) == 0 && !input_refusal(path); }

/* Searches next to the library or executable with this code, in the build tree, and where `make install` puts it. */
char *worker_path(void)
{
    static const char *const places[] = {"", "/../libexec/tfgen", "/../../libexec/tfgen", "/.."};
    const char *given = secure_getenv("TFGEN_WORKER");
    char self[4096];
    Dl_info info;
    if (given && *given) return is_program(given) ? strdup(given) : NULL;
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    const char *const homes[] = {dladdr(system_libraries, &info) ? info.dli_fname : NULL, self};
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 0; homes[h] && strrchr(homes[h], '/') && i < sizeof places / sizeof *places; i++) {
            char *path = printed("%.*s%s/tfgen-worker", (int)(strrchr(homes[h], '/') - homes[h]), homes[h], places[i]);
            if (path && is_program(path)) return path;
            free(path);
        }
    return NULL;
}

/* New process group, default signals, nothing on stdin, all output in the open file `log`. */
static int spawn(pid_t *pid, const char *program, char *const *arguments, char **environment, int log)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files)) return ENOMEM;
    if (posix_spawnattr_init(&how)) return posix_spawn_file_actions_destroy(&files), ENOMEM;
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &none);
    int bad = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!bad) bad = posix_spawn_file_actions_adddup2(&files, log, 1);
    if (!bad) bad = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (!bad) bad = posix_spawn(pid, program, &files, &how, arguments, environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return bad;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef enum worker_end { end_by_itself, end_by_time, end_by_flood } worker_end;

static bool flooded(int log)
{
    struct stat st;
    return fstat(log, &st) == 0 && st.st_size > most_written;
}

/* How the process ended: by itself, or stopped after `limit` seconds or for too long messages. Kills its group and reaps it. *known: the
 * wait status is valid (it is lost if the application ignores SIGCHLD). */
static worker_end wait_for(pid_t pid, int log, double limit, int *status, bool *known)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    const double until = now() + limit;
    worker_end end_kind = end_by_itself;
    for (;;) {
        siginfo_t info = {0};
        const int r = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if ((r == 0 && info.si_pid == pid) || (r < 0 && errno != EINTR)) break;
        const double left = until - now();
        end_kind = left <= 0 ? end_by_time : flooded(log) ? end_by_flood : end_by_itself;
        if (end_kind) break;
        const double ms = left * 1000 + 1, most = end.fd < 0 ? poll_ms : look_ms;
        poll(&end, 1, (int)(ms > most ? most : ms));
    }
    kill(-pid, SIGKILL); /* before reaping, while the number cannot belong to anyone else */
    pid_t reaped;
    while ((reaped = waitpid(pid, status, 0)) < 0 && errno == EINTR) continue;
    *known = reaped == pid;
    if (end.fd >= 0) close(end.fd);
    return end_kind;
}

/* ---- one call ---- */

static void append(char **log, const char *line)
{
    char *longer = printed("%s%s%s", *log ? *log : "", *log && **log && (*log)[strlen(*log) - 1] != '\n' ? "\n" : "",
                           line ? line : "");
    if (!longer) return;
    free(*log);
    *log = longer;
}

/* Removes every occurrence of `what` from s. */
static void erase(char *s, const char *what)
{
    const size_t n = strlen(what);
    char *out = s;
    while (*s)
        if (*s == *what && !strncmp(s, what, n)) s += n;
        else *out++ = *s++;
    *out = 0;
}

static code_status judge(const worker_call *c, worker_end end, int status, bool known, worker_answer *out)
{
    static const code_status meaning[] = {[code_ok] = build_ok,
                                          [1] = build_failed,
                                          [code_unsupported] = build_unsupported,
                                          [code_compile_failed] = build_failed,
                                          [code_io] = build_io};
    const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    char *line = NULL;
    code_status result = build_crashed;
    if (end == end_by_flood) {
        line = printed("%s: %s wrote more than %d MB of messages for %s and was stopped\n", c->name, c->mode, most_written >> 20, c->arch);
    } else if (end == end_by_time) {
        result = build_timed_out;
        line = printed("%s: %s did not finish within %g seconds for %s and was stopped\n", c->name, c->mode,
                       c->time_limit, c->arch);
    } else if (!known) {
        result = out->data ? build_ok : build_failed;
    } else if (WIFSIGNALED(status)) {
        const int s = WTERMSIG(status);
        line = printed("%s: %s was killed by signal %d (%s) while it compiled for %s\n", c->name, c->mode, s,
                       strsignal(s), c->arch);
    } else if (exit_code == code_ok && !out->data) {
        line = printed("%s: %s ended without a result for %s\n", c->name, c->mode, c->arch);
    } else if (exit_code >= 0 && exit_code < (int)(sizeof meaning / sizeof *meaning) &&
               (meaning[exit_code] || !exit_code)) {
        return meaning[exit_code];
    } else {
        line = printed("%s: %s ended with exit status %d for %s\n", c->name, c->mode, exit_code, c->arch);
    }
    if (line) append(&out->log, line);
    free(line);
    return result;
}

/* A compiler that failed for lack of disk space does not mean that the source is wrong: such failures become I/O errors. */
static code_status judge_room(const temporary_folder *t, const worker_call *c, code_status result, int status, worker_answer *out)
{
    const bool too_large = WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;
    const char *why = result == build_ok || result == build_unsupported ? NULL
                      : too_large                                       ? error_in_english(EFBIG)
                                                                        : temporary_shortage(t, out->log);
    char *line = NULL;
    if (why) line = printed("%s: %s cannot write to %s: %s; set TMPDIR to another folder\n", c->name, c->mode, temporary_base(), why);
    if (line) append(&out->log, line);
    free(line);
    return why ? build_io : result;
}

static code_status run_in(const temporary_folder *t, const char *program, const worker_call *c, worker_answer *out)
{
    char *tmpdir = printed("TMPDIR=%s", t->path), *slash = printed("%s/", t->path);
    /* files that compilers leave in TMPDIR are removed with the directory */
    char **environment = tmpdir ? environment_for_child(tmpdir) : NULL;
    char parent[16];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    char *const arguments[] = {(char *)program, t->path, (char *)c->mode, (char *)c->tool, (char *)c->arch,
                               (char *)c->name, parent, NULL};
    code_status result = build_io;
    pid_t pid;
    size_t size;
    int log = -1;
    if (!slash || !environment) {
        out->log = printed("not enough memory\n");
    } else if (!write_source(t, c) || (log = create(t, "log", O_APPEND)) < 0) {
        out->log = printed("%s: cannot write to %s: %s; set TMPDIR to another folder\n", c->name, temporary_base(), strerror(errno));
    } else {
        const int bad = spawn(&pid, program, arguments, environment, log);
        int status = 0;
        bool known = false;
        const worker_end end = bad ? end_by_itself : wait_for(pid, log, c->time_limit, &status, &known);
        out->log = (char *)temporary_read(t, "log", most_log, &size);
        out->compiler = (char *)temporary_read(t, "compiler", 128, &size);
        out->data = temporary_read(t, "code", most_data, &out->size);
        if (out->log) erase(out->log, slash);
        if (!out->log) out->log = strdup("");
        if (bad)
            append(&out->log, strerror(bad));
        else
            result = judge_room(t, c, judge(c, end, status, known, out), known ? status : 0, out);
    }
    if (log >= 0) close(log);
    free(environment);
    free(slash);
    free(tmpdir);
    return result;
}

code_status worker_run(const worker_call *c, worker_answer *out)
{
    *out = (worker_answer){0};
    char *program = worker_path();
    temporary_folder t;
    code_status result = build_io;
    if (!program)
        out->log =
            printed("tfgen-worker is not beside the library or the program, and TFGEN_WORKER names no program\n");
    else if (!temporary_open(&t))
        out->log = printed("%s: cannot make a folder in %s: %s; set TMPDIR to another folder\n", c->name, temporary_base(),
                           strerror(errno));
    else {
        result = run_in(&t, program, c, out);
        temporary_close(&t);
    }
    free(program);
    return result;
}

char *worker_fault(void)
{
    const worker_call call = {.mode = "version", .tool = "", .arch = "", .name = "tfgen-worker", .source = "", .time_limit = 10};
    worker_answer answer;
    const code_status status = worker_run(&call, &answer);
    const bool good = status == build_ok && answer.data && strcmp((const char *)answer.data, TFGEN_VERSION) == 0;
    char *path = worker_path(), *fault = NULL;
    if (!good && status == build_io) fault = answer.log, answer.log = NULL;
    else if (!good) fault = printed("%s is not the worker of tfgen %s", path ? path : "tfgen-worker", TFGEN_VERSION);
    worker_answer_free(&answer);
    free(path);
    return fault;
}

void worker_answer_free(worker_answer *a)
{
    free(a->data);
    free(a->log);
    free(a->compiler);
    *a = (worker_answer){0};
}
