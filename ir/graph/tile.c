/* In: ir/tile.def and ir/kinds.def. Out: ir/graph/tile.h: the programs and their fields as tables, and look-ups by name. */
#include "ir/graph/tile.h"
#include "ir/graph/former.h"
#include <stdlib.h>
#include <string.h>

#define PROGRAM(id, family, layer, frame, tile, help) static const tile_field id##_fields[] = {
#define FIELD(name, least, most, help) {#name, least, most, help},
#define FIXED(name, value) {#name, value, value, NULL},
#define END(id) };
#include "ir/tile.def"

/* Asserts that each program's fields have the same names, order and offsets as the members of its tile struct. */
#define PROGRAM(id, family, layer, frame, tile, help) \
    typedef tile##_tile id##_shared;                  \
    typedef struct id##_own {
#define FIELD(name, least, most, help) int name;
#define FIXED(name, value) int name;
#define END(id) \
    }           \
    id##_own;
#include "ir/tile.def"
#define PROGRAM(id, family, layer, frame, tile, help) \
    static inline void id##_fields_are_its_tile(void) \
    {                                                 \
        typedef id##_own own;                         \
        typedef id##_shared shared;
#define FIELD(name, least, most, help) _Static_assert(offsetof(own, name) == offsetof(shared, name), #name);
#define FIXED(name, value) FIELD(name, value, value, NULL)
#define END(id)                                                                                           \
    _Static_assert(sizeof(own) == sizeof(shared) && sizeof(own) <= most_tile_fields * sizeof(int), #id); \
    }
#include "ir/tile.def"

const program_info program_table[program_count] = {
    {.name = "none"},
#define PROGRAM(id, family, layer, frame, tile, help) \
    {#id, help, family_##family, layer_##layer, frame_##frame, id##_fields, (int)(sizeof id##_fields / sizeof *id##_fields), \
     (int)(offsetof(tile##_tile, threads) / sizeof(int))},
#include "ir/tile.def"
};

program_kind program_find(phase_family family, layer_kind layer)
{
    for (int i = 1; i < program_count; i++)
        if (program_table[i].family == family && program_table[i].layer == layer) return (program_kind)i;
    return program_none;
}

program_kind program_named(const char *name)
{
    for (int i = 1; i < program_count; i++)
        if (strcmp(program_table[i].name, name) == 0) return (program_kind)i;
    return program_none;
}

int family_programs(phase_family family)
{
    int count = 0;
    for (int i = 1; i < program_count; i++) count += program_table[i].family == family;
    return count;
}

ir_tile tile_of_program(program_kind program)
{
    ir_tile t = {.program = program};
    for (int i = 0; i < program_table[program].field_count; i++)
        if (!program_table[program].fields[i].help) t.at[i] = program_table[program].fields[i].least;
    return t;
}

unsigned program_fields(program_kind program)
{
    unsigned bits = 0;
    for (int i = 0; i < program_table[program].field_count; i++) bits |= (program_table[program].fields[i].help ? 1u : 0) << i;
    return bits;
}

int tile_field_find(program_kind program, const char *name)
{
    const program_info *p = &program_table[program];
    const char *today = field_today(program, name);
    for (int i = 0; i < p->field_count; i++)
        if (p->fields[i].help && strcmp(p->fields[i].name, today) == 0) return i;
    return -1;
}

const char *tile_read_setting(arena *a, const char *word, ir_tile *t)
{
    const program_info *p = &program_table[t->program];
    const size_t key = strcspn(word, "="), digits = word[key] ? strspn(word + key + 1, "0123456789") : 0;
    const int i = tile_field_find(t->program, arena_strndup(a, word, key));
    if (i < 0) return arena_printf(a, "%s has no field '%.*s'", p->name, (int)key, word);
    const tile_field *f = &p->fields[i];
    if (t->given & 1u << i) return arena_printf(a, "a second %s", f->name);
    const long long value = digits ? strtoll(word + key + 1, NULL, 10) : -1;
    if (!digits || word[key + 1 + digits] || value < f->least || value > f->most)
        return arena_printf(a, "'%s': %s is %d to %d", word, f->name, f->least, f->most);
    t->at[i] = (int)value, t->given |= 1u << i;
    return NULL;
}

void tile_add_new_fields(ir_tile *t)
{
    static const struct {
        program_kind program;
        const char *field;
        int value;
    } added[] = {
#define NEW_FIELD(program, field, value) {program_##program, #field, value},
#include "ir/former.def"
    };
    for (size_t k = 0; k < sizeof added / sizeof *added; k++) {
        const int i = added[k].program == t->program ? tile_field_find(t->program, added[k].field) : -1;
        if (i < 0 || t->given & 1u << i) continue;
        t->at[i] = added[k].value;
        t->given |= 1u << i;
    }
}

bool tile_is_whole(const ir_tile *t) { return t->program && t->given == program_fields(t->program); }

bool tile_same(const ir_tile *x, const ir_tile *y)
{
    return x->program == y->program && memcmp(x->at, y->at, (size_t)program_table[x->program].field_count * sizeof *x->at) == 0;
}

int tile_threads(const ir_tile *t) { return t->at[program_table[t->program].threads]; }
