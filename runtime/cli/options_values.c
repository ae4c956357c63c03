/* In: what options were given as. Out: lists, numbers, sizes of dims, levels. Refuses (bails code_usage) what is none, with what it should be. */
#define _GNU_SOURCE
#include "runtime/cli/options.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static name_list split(arena *a, const char *given, char at)
{
    name_list list = {0};
    if (!given || !*given) return list;
    size_t most = 1;
    for (const char *p = given; *p; p++) most += *p == at;
    list.names = arena_alloc(a, most * sizeof *list.names);
    for (const char *p = given;; p++) {
        const char *end = strchr(p, at);
        const size_t n = end ? (size_t)(end - p) : strlen(p);
        if (n) list.names[list.count++] = arena_strndup(a, p, n);
        p += n;
        if (!*p) return list;
    }
}

name_list options_list(arena *a, const char *given) { return split(a, given, ','); }
name_list options_lines(arena *a, const char *given) { return split(a, given, '\n'); }

double options_real(arena *a, const char *option, const char *given, double low, double high, double otherwise)
{
    char *end;
    if (!given) return otherwise;
    errno = 0;
    const double x = strtod(given, &end);
    if (end == given || *end || errno || !(x >= low && x <= high))
        bail(a, code_usage, (position){0}, "--%s: '%s' is not a number from %g to %g", option, given, low, high);
    return x;
}

dim_override *options_dims(arena *a, const char *option, const char *given, size_t *count)
{
    name_list list = options_list(a, given);
    dim_override *out = arena_alloc(a, (list.count + 1) * sizeof *out);
    for (size_t i = 0; i < list.count; i++) {
        const char *equals = strchr(list.names[i], '=');
        char *end = NULL;
        errno = 0;
        if (equals) out[i].value = strtoll(equals + 1, &end, 10);
        if (!equals || end == equals + 1 || *end || errno)
            bail(a, code_usage, (position){0}, "--%s: '%s' is not NAME=NUMBER", option, list.names[i]);
        out[i].name = arena_strndup(a, list.names[i], (size_t)(equals - list.names[i]));
    }
    *count = list.count;
    return out;
}

/* All are read before the first is worked at: that takes as long as a budget says. */
dim_sweep options_sweep(arena *a, const char *given)
{
    dim_sweep s = {0};
    const char *equals = given ? strchr(given, '=') : NULL;
    if (!given) return s;
    if (equals) s = (dim_sweep){arena_strndup(a, given, (size_t)(equals - given)), options_list(a, equals + 1)};
    bool good = equals && equals != given && s.values.count;
    for (size_t i = 0; good && i < s.values.count; i++) {
        char *end;
        errno = 0;
        good = strtoll(s.values.names[i], &end, 10) > 0 && !*end && !errno;
    }
    if (!good) bail(a, code_usage, (position){0}, "--sweep: '%s' is not NAME=NUMBER,NUMBER,...", given);
    return s;
}

const char *fusion_level_name(fusion_level level) { return level_names(NULL)[level]; }

double options_seconds(arena *a, const char *option, const char *given, double otherwise)
{
    char *end;
    if (!given) return otherwise;
    errno = 0;
    const double x = strtod(given, &end);
    const double unit = strcmp(end, "m") == 0 ? 60 : strcmp(end, "h") == 0 ? 3600 : *end == 0 || strcmp(end, "s") == 0 ? 1 : 0;
    if (end == given || !unit || errno || !(x * unit >= 0 && x * unit <= 86400 * 7))
        bail(a, code_usage, (position){0}, "--%s: '%s' is not a time: 60s, 5m, 1h; up to a week", option, given);
    return x * unit;
}

fusion_level options_level(arena *a, const char *name)
{
    fusion_level level;
    size_t count;
    const char *const *names = level_names(&count);
    if (level_find(name, &level)) return level;
    if (strchr(name, ',')) bail(a, code_usage, (position){0}, "--fusion: one level here, not '%s'; verify and bench take several", name);
    const char *near = nearest_name(name, names, count);
    bail(a, code_usage, (position){0}, "--fusion: unknown level '%s'%s%s%s; levels are %s", name,
         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", fusion_levels);
}
