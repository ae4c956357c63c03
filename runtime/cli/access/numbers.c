/* Lists that grow, and tables that give each key a number: 0, 1, 2, ... in order of first occurrence. They fail only if memory runs out. */
#include "runtime/cli/access/recording.h"
#include <stdlib.h>
#include <string.h>

void *list_add(list *l, size_t size, bool *failed)
{
    if (l->count == l->room) {
        const size_t room = 2 * l->room + 64;
        void *items = realloc(l->items, room * size);
        if (!items) {
            *failed = true;
            return NULL;
        }
        l->items = items, l->room = room;
    }
    return memset((char *)l->items + l->count++ * size, 0, size);
}

/* ---- numbers of keys */
static size_t slot_of(const number_table *t, unsigned long long key)
{
    size_t at = key * 0x9e3779b97f4a7c15ull >> 20 & (t->room - 1);
    while (t->slots[at] && t->keys[t->slots[at] - 1] != key) at = (at + 1) & (t->room - 1);
    return at;
}

static bool grow(number_table *t)
{
    const size_t room = t->room ? 2 * t->room : 1024;
    unsigned *slots = calloc(room, sizeof *slots);
    unsigned long long *keys = realloc(t->keys, room * sizeof *keys);
    if (keys) t->keys = keys;
    unsigned long long *marks = realloc(t->marks, room * sizeof *marks);
    if (marks) t->marks = marks;
    if (!slots || !keys || !marks) {
        free(slots);
        return false;
    }
    free(t->slots);
    t->slots = slots, t->room = room;
    for (size_t i = 0; i < t->count; i++) slots[slot_of(t, t->keys[i])] = (unsigned)i + 1;
    return true;
}

unsigned number_of(number_table *t, unsigned long long key, bool *failed)
{
    if (2 * t->count >= t->room && !grow(t)) {
        *failed = true;
        return 0;
    }
    const size_t at = slot_of(t, key);
    if (t->slots[at]) return t->slots[at] - 1;
    t->keys[t->count] = key, t->marks[t->count] = 0;
    t->slots[at] = (unsigned)++t->count;
    return t->slots[at] - 1;
}

void number_close(number_table *t)
{
    free(t->slots);
    free(t->keys);
    free(t->marks);
    *t = (number_table){0};
}
