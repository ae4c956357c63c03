/* In: an address in a module's code, or the word by which waiting lanes name their place.
 * Out: the place; file, line and function as text, as far as a symboliser knows them, else an offset. */
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

/* clang-22 may have llvm-symbolizer-22 in its folder; binutils, which come with every ld, have addr2line. */
static char *symboliser_of(const host_module *m)
{
    const char *base = strrchr(m->compiler, '/');
    const char *version = base ? strstr(base, "clang") : NULL;
    char *path = NULL;
    if (version && asprintf(&path, "%.*s/llvm-symbolizer%s", (int)(base - m->compiler), m->compiler, version + 5) < 0) return NULL;
    if (path && !access(path, X_OK)) return path;
    free(path);
    if (!access("/usr/bin/llvm-symbolizer", X_OK)) return strdup("/usr/bin/llvm-symbolizer");
    return access("/usr/bin/addr2line", X_OK) ? NULL : strdup("/usr/bin/addr2line");
}

bool module_has_lines(const host_module *m) { return m->lines; }

/* answer: the symboliser's output for `count` addresses, each address followed by its places. False: there is no symboliser, or it failed.
 * file: the module's object. *binutils: it is addr2line, which names the enclosing symbol instead of the innermost inlined function. */
static bool ask_symboliser(const host_module *m, int file, const uintptr_t *codes, size_t count, host_log *answer, bool *binutils)
{
    enum { TEXT = 24 };
    char *tool = file >= 0 ? symboliser_of(m) : NULL, object[64];
    char **argv = calloc(count + 5, sizeof *argv), *text = malloc(count * TEXT + 1);
    bool told = false;
    if (tool && argv && text) {
        *binutils = strstr(tool, "addr2line") != NULL;
        snprintf(object, sizeof object, "--%s=/proc/%ld/fd/%d", *binutils ? "exe" : "obj", (long)getpid(), file);
        size_t n = 0;
        argv[n++] = tool, argv[n++] = object, argv[n++] = *binutils ? "-ifCa" : "--functions=short";
        if (!*binutils) argv[n++] = "--addresses";
        for (size_t i = 0; i < count; i++) {
            argv[n + i] = text + i * TEXT;
            snprintf(argv[n + i], TEXT, "0x%lx", (unsigned long)(codes[i] - m->low));
        }
        told = process_run(argv, -1, NULL, SYMBOLISE_LIMIT_MS, answer) == PROCESS_OK && answer->text;
    }
    free(text);
    free(argv);
    free(tool);
    return told;
}

/* Parses a line with an address, then for each inlined call a line with the function and one with file:line (perhaps :column). */
static void tell_places(const host_module *m, char *answer, size_t count, size_t first, bool binutils, host_place_told *told, void *context)
{
    size_t behind = 0; /* 1 + index of the current address */
    unsigned depth = 0;
    for (char *line = answer, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        if (strncmp(line, "0x", 2) == 0) {
            behind++, depth = 0;
        } else if (*line) {
            char *place = end + 1;
            if (!(end = strchr(place, '\n'))) return;
            *end = 0;
            const bool inlined = end[1] && strncmp(end + 1, "0x", 2) != 0, unknown = binutils && depth == 0 && inlined;
            char *spec = page_places_of(m->places, place);
            if (behind && behind <= count && *place != '?') told(context, first + behind - 1, depth++, unknown ? "?" : line, place, spec);
            free(spec);
        }
    }
}

static void tell_all(const host_module *m, int file, const uintptr_t *codes, size_t count, host_place_told *told, void *context)
{
    enum { AT_ONCE = 128 };
    for (size_t first = 0; first < count; first += AT_ONCE) {
        host_log answer = {0};
        bool binutils = false;
        const size_t n = count - first < AT_ONCE ? count - first : AT_ONCE;
        if (ask_symboliser(m, file, codes + first, n, &answer, &binutils)) tell_places(m, answer.text, n, first, binutils, told, context);
        host_log_free(&answer);
    }
}

void host_module_places(const host_module *m, const uintptr_t *codes, size_t count, host_place_told *told, void *context)
{
    tell_all(m, m->file, codes, count, told, context);
}

static void tell_place(void *context, size_t index, unsigned depth, const char *function, const char *place, const char *spec)
{
    enum { MOST = 4 };
    (void)index, (void)spec; /* host_launch() adds the place in the spec to every report */
    if (depth < MOST) log_add(context, "%s%s (%s)", depth ? ", in " : "", place, function);
}

void module_place(const host_module *m, uintptr_t pc, host_log *log)
{
    Dl_info info = {0};
    if (pc < m->low || pc >= m->high) {
        dladdr((void *)pc, &info);
        log_add(log, "%s in %s", info.dli_sname ? info.dli_sname : "?", info.dli_fname ? info.dli_fname : "unknown code");
        return;
    }
    const size_t before = log->size;
    const int made = m->file < 0 ? lines_file(m) : -1;
    tell_all(m, made < 0 ? m->file : made, &pc, 1, tell_place, log);
    if (made >= 0) close(made);
    if (log->size > before) return;
    dladdr((void *)pc, &info);
    if (info.dli_sname) log_add(log, "%s+%#lx", info.dli_sname, (unsigned long)(pc - (uintptr_t)info.dli_saddr));
    else log_add(log, "the module's code +%#lx", (unsigned long)(pc - m->low));
}
