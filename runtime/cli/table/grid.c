/* Contract: grid.h. Names of phases and settings are not checked here, but in gen/plan/. */
#include "runtime/cli/table/grid.h"
#include <string.h>

enum { most_settings = 16 };

typedef struct setting {
    const char *key, *values[grid_most];
    int count;
} setting;

typedef struct grid_line {
    arena *a;
    const char *text, *label, *selector;
    setting settings[most_settings];
    int count;
} grid_line;

static _Noreturn void refuse(const grid_line *l, const char *why)
{
    bail(l->a, code_usage, (position){0}, "--grid: '%s': %s", text_harmless(l->a, l->text), why);
}

static void add_setting(grid_line *l, const char *word, size_t size)
{
    const char *equals = memchr(word, '=', size);
    if (!equals || equals == word) refuse(l, "expected key=value,value,... after the phase");
    if (l->count == most_settings) refuse(l, arena_printf(l->a, "more than %d settings", most_settings));
    setting *s = &l->settings[l->count++];
    s->key = arena_strndup(l->a, word, (size_t)(equals - word));
    for (const char *at = equals + 1, *end = word + size; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        if (stop == at) refuse(l, arena_printf(l->a, "%s has an empty value", s->key));
        if (s->count == grid_most) refuse(l, arena_printf(l->a, "more than %d values", grid_most));
        s->values[s->count++] = arena_strndup(l->a, at, (size_t)(stop - at));
        at = stop + 1;
    }
}

static void read_line(grid_line *l)
{
    const char *at = l->text + strspn(l->text, " \t");
    if (*at == '(') {
        const size_t size = strcspn(at, ")");
        if (!at[size]) refuse(l, "a name in parentheses must end in ')'");
        l->label = text_harmless(l->a, arena_strndup(l->a, at, size + 1));
        at += size + 1, at += strspn(at, " \t");
    }
    const char *colon = strstr(at, ": ");
    if (!colon || colon == at) refuse(l, "expected 'PHASE: key=value,...' with a space after the colon, as in 'norm: threads=64,128'");
    l->selector = arena_strndup(l->a, at, (size_t)(colon - at));
    for (at = colon + 1, at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
        const size_t size = strcspn(at, " \t");
        add_setting(l, at, size);
        at += size;
    }
    if (!l->count) refuse(l, "expected key=value,value,... after the phase");
}

static grid_point point_of(const grid_line *l, int number, bool alone)
{
    text settings = {.a = l->a};
    const char *values[most_settings];
    for (int i = l->count - 1; i >= 0; i--) {
        const setting *s = &l->settings[i];
        values[i] = s->values[number % s->count], number /= s->count;
    }
    for (int i = 0; i < l->count; i++) text_printf(&settings, "%s%s=%s", i ? " " : "", l->settings[i].key, values[i]);
    const char *label = !l->label ? settings.data : alone ? l->label : arena_printf(l->a, "%s %s", l->label, settings.data);
    return (grid_point){text_harmless(l->a, label), arena_printf(l->a, "%s: %s", l->selector, settings.data)};
}

static int product_of(const grid_line *l)
{
    int product = 1;
    for (int i = 0; i < l->count && product <= grid_most; i++) product *= l->settings[i].count;
    return product;
}

grid grid_read(arena *a, const char *const *lines, size_t count)
{
    grid g = {arena_alloc(a, grid_most * sizeof *g.list), 0};
    for (size_t i = 0; i < count; i++) {
        grid_line *l = arena_alloc(a, sizeof *l);
        *l = (grid_line){.a = a, .text = lines[i]};
        if (!lines[i][strspn(lines[i], " \t")]) continue;
        read_line(l);
        const int points = product_of(l);
        if (g.count + points > grid_most) refuse(l, arena_printf(a, "a grid has at most %d points", grid_most));
        for (int k = 0; k < points; k++) g.list[g.count++] = point_of(l, k, points == 1);
    }
    return g;
}
