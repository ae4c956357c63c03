/* In: option values as text. Out: lists, numbers, sizes of dims, levels. Bails code_usage on malformed values, with the expected form. */
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

long long options_whole(arena *a, const char *option, const char *given, long long low, long long high, long long otherwise)
{
    char *end;
    if (!given) return otherwise;
    errno = 0;
    const long long x = strtoll(given, &end, 10);
    if (end == given || *end || errno || x < low || x > high)
        bail(a, code_usage, (position){0}, "--%s: '%s' is not a whole number from %lld to %lld", option, given, low, high);
    return x;
}

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

/* "16" or "16..128", which is 16, 32, 64, 128; false: neither, or too many. */
static bool add_values(dim_sweep *s, const char **at)
{
    char *end;
    errno = 0;
    const long long first = strtoll(*at, &end, 10);
    long long last = first;
    bool good = end != *at;
    if (good && strncmp(end, "..", 2) == 0) *at = end + 2, last = strtoll(*at, &end, 10), good = end != *at;
    *at = end;
    if (!good || errno || first < 1 || last < first) return false;
    for (long long v = first;; v *= 2) {
        if (s->count == sweep_most) return false;
        s->values[s->count++] = v;
        if (v > last / 2) return true;
    }
}

dim_sweep options_sweep(arena *a, const char *given)
{
    dim_sweep s = {0};
    const char *equals = given ? strchr(given, '=') : NULL, *at = equals;
    if (!given) return (dim_sweep){.count = 1};
    if (equals) s.dim = arena_strndup(a, given, (size_t)(equals - given));
    for (bool good = equals && equals != given; good; good = *at == ',')
        if (at++, !add_values(&s, &at)) break;
        else if (!*at) return s;
    bail(a, code_usage, (position){0}, "--sweep: '%s' is not DIM=V,V,... or DIM=V..V (doubling), at most %d values", given, sweep_most);
}

cli_options options_at(arena *a, const cli_options *o, const char *dim, long long value)
{
    cli_options at = *o;
    if (dim) at.dim = arena_printf(a, "%s%s%s=%lld", o->dim ? o->dim : "", o->dim ? "," : "", dim, value);
    return at;
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
    if (strchr(name, ','))
        bail(a, code_usage, (position){0}, "--fusion: one level here, not '%s'; verify, bench and explain take several", name);
    const char *near = nearest_name(name, names, count);
    bail(a, code_usage, (position){0}, "--fusion: unknown level '%s'%s; levels are %s", name,
         nearest_hint(a, near), arena_printf(a, "%s,auto", fusion_levels));
}
