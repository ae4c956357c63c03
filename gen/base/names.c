/* Contract: gen/base/names.h. */
#include "gen/base/names.h"
#include "ir/base/names.h"
#include <ctype.h>
#include <string.h>

const char *const name_marks[name_kind_count] = {"_", "_spec", "_table", "_epilogue", "_fetch", "_called", "_words_at"};

const char *name_stem(arena *a, const char *name)
{
    const size_t size = strlen(name);
    char *out = arena_alloc(a, size + 2), *to = out;
    if (!isalpha((unsigned char)name[0])) *to++ = 'x';
    for (size_t i = 0; i < size; i++) {
        const char c = isalnum((unsigned char)name[i]) ? name[i] : '_';
        if (c == '_' && to > out && to[-1] == '_') continue; /* C++ reserves double underscores */
        *to++ = c;
    }
    while (to[-1] == '_') to--;
    *to = 0;
    return out;
}

const char *name_phase_stem(arena *a, const launch *l, const launch_phase *work)
{
    if (l->work_count == 1) return l->name;
    return arena_printf(a, "%s_%d_%s", l->name, (int)(work - l->work) + 1, name_stem(a, work->phase->name));
}

const char *name_marked(arena *a, const char *stem, name_kind kind) { return arena_printf(a, "%s%s", stem, name_marks[kind]); }

/* Appends a number until the name is free. `numbers` holds the last number used for each wanted name. */
static const char *unused(arena *a, name_map *taken, name_map *numbers, const char *wanted)
{
    const char *name = wanted;
    int *last = names_find(numbers, wanted);
    if (!last) {
        last = arena_alloc(a, sizeof *last);
        *last = 1;
        names_add(numbers, wanted, last);
    }
    while (!names_add(taken, name, last)) name = arena_printf(a, "%s_%d", wanted, ++*last);
    return name;
}

naming names_choose(arena *a, const ir_graph *p)
{
    naming n = {.dims = p->dims};
    name_map taken = {.a = a}, numbers = {.a = a};
    n.values = arena_alloc(a, (size_t)(p->value_count + 1) * sizeof *n.values);
    for (int i = 0; i < n.dims.count; i++)
        n.dims.dims[i].name = name_marked(a, unused(a, &taken, &numbers, name_stem(a, n.dims.dims[i].name)), name_value);
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->kind != value_constant) n.values[i] = unused(a, &taken, &numbers, name_stem(a, p->values[i]->name));
    return n;
}
