/* In: HIP source and an AMD architecture. Out: a linked code object, by the newest clang on the PATH, or TFGEN_CLANG. Refuses what clang
 * refuses; warnings are errors. Needs the lld of the same version. */
#define _GNU_SOURCE
#include "gen/source/by_hand.h"
#include "runtime/compile/worker.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { newest_clang = 40, oldest_clang = 14 };

/* Versioned names first, from the newest: a plain `clang` may have any version. */
char *clang_find(void)
{
    const char *given = secure_getenv("TFGEN_CLANG");
    const char *const lists[] = {secure_getenv("PATH"), "/usr/local/bin:/usr/bin", "/opt/rocm/llvm/bin"};
    if (given && *given) return strchr(given, '/') ? strdup(given) : path_search(lists, 1, given);
    for (int v = newest_clang; v >= oldest_clang; v--) {
        char name[32], *path;
        snprintf(name, sizeof name, "clang-%d", v);
        if ((path = path_search(lists, 2, name))) return path;
    }
    return path_search(lists, 3, "clang");
}

/* The version from the name (clang-22), else from clang's output; 0: unknown. */
static int version_of(const char *tool)
{
    const char *dash = strrchr(tool, '-');
    int version = dash && !strchr(dash, '/') ? atoi(dash + 1) : 0, fds[2];
    char text[16] = "";
    if (version > 0 || pipe(fds)) return version;
    const pid_t child = fork();
    if (child == 0) {
        dup2(fds[1], 1);
        execl(tool, tool, "-dumpversion", (char *)NULL);
        _exit(code_unsupported);
    }
    close(fds[1]);
    if (child > 0 && read(fds[0], text, sizeof text - 1) > 0) version = atoi(text);
    close(fds[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return version;
}

int clang_work(const worker_job *job)
{
    char *source = printed("%s/source", job->directory), *code = printed("%s/code", job->directory);
    char *arch = printed("--offload-arch=%s", job->arch);
    const int in = source ? open(source, O_RDONLY | O_CLOEXEC) : -1;
    if (in < 0 || dup2(in, 0) < 0 || !code || !arch) return code_io;
    /* The source comes on stdin, so that messages and the code object have no path of this machine. Code object version 5 loads on ROCm 5.7
     * to 7; clang 22 writes 6 by default, which needs ROCm 6.3, and clang before 17 only knows 4. */
    const char *line[40] = {job->tool};
    int n = 1;
    for (const char *const *f = clang_flags; *f; f++) line[n++] = *f;
    for (const char *const *f = (const char *const[]){arch, "-o", code, "-", NULL}; *f; f++) line[n++] = *f;
    if (version_of(job->tool) >= 17) line[n++] = "-mcode-object-version=5";
    execv(job->tool, (char *const *)line);
    perror(job->tool);
    return code_unsupported;
}

bool clang_log_says_unsupported(const char *log)
{
    static const char *const marks[] = {
        "unsupported HIP gpu architecture",  "invalid target ID",
        "unsupported CUDA gpu architecture", "unknown target CPU",
        "unable to execute command",       /* no lld */
        "unknown emulation: elf64_amdgpu", /* an lld of another, older LLVM */
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(log, marks[i])) return true;
    return false;
}
