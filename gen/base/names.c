/* In: names of values and dims, as a user wrote them. Out: identifiers. Refuses: nothing. Names in capitals are left to
 * macros and template parameters, so `K` becomes `K_`; dims keep theirs where they can, since values yield to them. */
#include "gen/base/names.h"
#include "ir/base/names.h"
#include <ctype.h>
#include <string.h>

/* Keywords, words that headers of run-time compilers define, what templates and generated functions call their own. */
static const char reserved[] =
    " "
    "a_map address_space alignas alignof and and_eq args asm assert auto b_map batch bf16 bitand bitor blockDim blockIdx "
    "bool break c case catch char char16_t char32_t char8_t class co_await co_return co_yield col column_tile "
    "compl concept const const_cast consteval constexpr constinit context continue decltype default delete do "
    "double dynamic_cast e element else enum errno explicit export extern f16 false far final float for "
    "friend goto gridDim half head hi i i386 if inline int k keep key left linux lo load load_aligned load_one "
    "long mask mutable n namespace new noexcept not not_eq nullptr o operator or or_eq override p packed pair "
    "position printf private protected public query reduction register reinterpret_cast requires return row "
    "sequence short signed sizeof splat split static static_assert static_cast step store store_aligned "
    "store_one struct sum switch template term this threadIdx thread_local throw token total true try type "
    "typedef typeid typename union unix unsigned using vec virtual void volatile warpSize wchar_t while xor "
    "xor_eq ";

static const char *const reserved_prefixes[] = {"op_", "tf_", "hs_", "rope_", "_"};

static bool is_reserved(const char *name)
{
    const size_t size = strlen(name);
    for (const char *at = reserved; (at = strstr(at, name)); at += size)
        if (at[-1] == ' ' && at[size] == ' ') return true;
    for (size_t i = 0; i < sizeof reserved_prefixes / sizeof *reserved_prefixes; i++)
        if (strncmp(name, reserved_prefixes[i], strlen(reserved_prefixes[i])) == 0) return true;
    return false;
}

static bool has_small_letter(const char *name)
{
    while (*name && !islower((unsigned char)*name)) name++;
    return *name != 0;
}

static const char *marked(arena *a, const char *name) { return arena_printf(a, "%s%s", name, name[strlen(name) - 1] == '_' ? "v" : "_"); }

const char *name_identifier(arena *a, const char *name)
{
    const size_t size = strlen(name);
    char *out = arena_alloc(a, size + 3), *to = out;
    if (!isalpha((unsigned char)name[0])) *to++ = 'x';
    for (size_t i = 0; i < size; i++) {
        const char c = isalnum((unsigned char)name[i]) ? name[i] : '_';
        if (c == '_' && to > out && to[-1] == '_') continue; /* two in a row belong to the compiler */
        *to++ = c;
    }
    return out;
}

/* Adds a number until no name is the same. `numbers` has the last one of each wanted name. */
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

naming names_choose(arena *a, const ir_program *p)
{
    naming n = {.dims = p->dims};
    name_map taken = {.a = a}, numbers = {.a = a};
    n.values = arena_alloc(a, (size_t)(p->value_count + 1) * sizeof *n.values);
    for (int i = 0; i < n.dims.count; i++) {
        const char *name = name_identifier(a, n.dims.dims[i].name);
        if (is_reserved(name)) name = marked(a, name);
        n.dims.dims[i].name = unused(a, &taken, &numbers, name);
    }
    for (int i = 0; i < p->value_count; i++) {
        if (p->values[i]->kind == value_constant) continue;
        const char *name = name_identifier(a, p->values[i]->name);
        if (is_reserved(name) || !has_small_letter(name)) name = marked(a, name);
        n.values[i] = unused(a, &taken, &numbers, name);
    }
    return n;
}
