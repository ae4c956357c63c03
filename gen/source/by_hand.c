/* Contract: gen/source/by_hand.h. */
#include "gen/source/by_hand.h"
#include <string.h>

/* -fuse-cuid=none: a compilation-unit id would hash names of temporary files, but equal sources should give equal bytes. */
const char *const clang_flags[] = {"-x",         "hip",        "--cuda-device-only", "--no-gpu-bundle-output",  "-nogpulib",
                                   "-nogpuinc",  "-O3",        "-std=c++17",         "-fuse-cuid=none",         "-Wall",
                                   "-Werror",    "-fno-crash-diagnostics",           "-fno-color-diagnostics", NULL};

static const char begins[] = "// Compile it by hand: ";
const char by_hand_line[] = "// Compile it by hand: manifest.json has the command.\n";

const char *command_by_hand(arena *a, const target_info *target, const char *name)
{
    text t = {.a = a};
    const vendor_words *w = target_words(target);
    if (!w->compiler) return NULL;
    text_printf(&t, "%s", w->compiler);
    for (const char *const *f = clang_flags; w->clang && *f; f++) text_printf(&t, " %s", *f);
    text_printf(&t, " %s%s -o %s.%s %s.hip", w->arch, target->name, name, w->object, name);
    return t.data;
}

source_text source_with_command(arena *a, const source_text *s, const target_info *target, const char *name)
{
    const char *command = command_by_hand(a, target, name), *at = strstr(s->head, by_hand_line);
    if (!at) return *s;
    if (!command) command = "the host engine alone can, with tfgen run --replace-source.";
    const char *rest = at + strlen(by_hand_line);
    return (source_text){arena_printf(a, "%.*s%s%s\n%s", (int)(at - s->head), s->head, begins, command, rest), s->templates, s->body};
}

const char *source_without_command(arena *a, const char *whole)
{
    const char *at = strstr(whole, begins), *rest = at ? at + strcspn(at, "\n") : NULL;
    if (!at || !*rest) return whole;
    return arena_printf(a, "%.*s%s%s", (int)(at - whole), whole, by_hand_line, rest + 1);
}
