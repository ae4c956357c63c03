/* In: an address in a module's code, or a word that names a place where lanes wait.
 * Out: the place; file, line and function as text, as well as symbolisers can tell.
 * Refuses: nothing; what no symboliser knows is told as an offset. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/host/engine.h"
#include "runtime/host/process.h"

enum { SYMBOLISE_LIMIT_MS = 5000 };

const hs_place *module_at(const host_module *m, hs_u32 word)
{
    const uintptr_t offset = (uintptr_t)(intptr_t)(int32_t)((word & ~HS_FLAGS) - (hs_u32)m->anchor);
    return (const hs_place *)(m->anchor + offset);
}

/* clang-22 may have llvm-symbolizer-22 beside it; binutils, which every linker comes with, has addr2line. */
static char *symboliser_of(const host_module *m)
{
    const char *base = strrchr(m->compiler, '/');
    const char *version = base ? strstr(base, "clang") : NULL;
    char *path = NULL;
    if (!version) return NULL;
    if (asprintf(&path, "%.*s/llvm-symbolizer%s", (int)(base - m->compiler), m->compiler, version + 5) < 0) return NULL;
    if (!access(path, X_OK)) return path;
    free(path);
    if (!access("/usr/bin/llvm-symbolizer", X_OK)) return strdup("/usr/bin/llvm-symbolizer");
    return access("/usr/bin/addr2line", X_OK) ? NULL : strdup("/usr/bin/addr2line");
}

/* The symboliser's answer is "function, newline, file:line (and column), newline" for each inlined call, innermost first. */
static bool tell_lines(const char *answer, host_log *log)
{
    enum { MOST = 4 };
    unsigned told = 0;
    for (const char *p = answer; *p && *p != '\n' && told < MOST; told++) {
        const char *place = strchr(p, '\n'), *end = place ? strchr(place + 1, '\n') : NULL;
        if (!end || place[1] == '?') break;
        log_add(log, "%s%.*s (%.*s)", told ? ", in " : "", (int)(end - place - 1), place + 1, (int)(place - p), p);
        p = end + 1;
    }
    return told > 0;
}

bool module_has_lines(const host_module *m) { return m->lines; }

void module_place(const host_module *m, uintptr_t pc, host_log *log)
{
    Dl_info info = {0};
    if (pc < m->low || pc >= m->high) {
        dladdr((void *)pc, &info);
        log_add(log, "%s in %s", info.dli_sname ? info.dli_sname : "?", info.dli_fname ? info.dli_fname : "unknown code");
        return;
    }
    char *tool = m->file >= 0 ? symboliser_of(m) : NULL;
    bool told = false;
    if (tool) {
        char object[64], address[40];
        host_log answer = {0};
        const bool binutils = strstr(tool, "addr2line") != NULL;
        snprintf(object, sizeof object, "--%s=/proc/%ld/fd/%d", binutils ? "exe" : "obj", (long)getpid(), m->file);
        snprintf(address, sizeof address, "0x%lx", (unsigned long)(pc - m->low));
        char *argv[] = {tool, object, binutils ? "-ifC" : "--functions=short", address, NULL};
        told = process_run(argv, -1, SYMBOLISE_LIMIT_MS, &answer) == PROCESS_OK && answer.text && tell_lines(answer.text, log);
        host_log_free(&answer);
    }
    free(tool);
    if (told) return;
    dladdr((void *)pc, &info);
    if (info.dli_sname) log_add(log, "%s+%#lx", info.dli_sname, (unsigned long)(pc - (uintptr_t)info.dli_saddr));
    else log_add(log, "the module's code +%#lx", (unsigned long)(pc - m->low));
}
