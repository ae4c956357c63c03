/* In: names and objects. Out: the object of a name; whether a word is a valid name. Refuses: names that exist already. A hash table with
 * open addressing, at most half full. */
#include "ir/base/names.h"
#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static bool consists_of(const char *s, const char *first, const char *others)
{
    const size_t n = strlen(s);
    return n > 0 && n <= most_name && strchr(first, *s) && strspn(s, others) == n;
}

bool name_is_plain(const char *s) { return consists_of(s, LETTERS "_", LETTERS DIGITS "_"); }
bool name_is_block(const char *s) { return consists_of(s, LETTERS, LETTERS DIGITS "_-"); }

static size_t hash(const char *s)
{
    unsigned long long h = 14695981039346656037ULL; /* FNV-1a */
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 1099511628211ULL;
    return (size_t)(h ^ h >> 29);
}

static bool is_printable(const char *s, size_t most)
{
    const size_t n = strlen(s);
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] >= 0x7f) return false;
    return n >= 1 && n <= most;
}

bool name_is_tensor(const char *s) { return is_printable(s, 255); }

bool name_is_prefix(const char *s)
{
    static const char layer[] = "{layer}";
    const char *at = strstr(s, layer);
    return is_printable(s, 200) && !(at && strstr(at + 1, layer));
}

static name_entry *find_slot(const name_map *t, const char *name)
{
    size_t i = hash(name) & (t->capacity - 1);
    while (t->slots[i].name && strcmp(t->slots[i].name, name) != 0) i = (i + 1) & (t->capacity - 1);
    return &t->slots[i];
}

void *names_find(const name_map *t, const char *name) { return t->capacity ? find_slot(t, name)->item : NULL; }

static void grow(name_map *t)
{
    name_map bigger = {.a = t->a, .capacity = t->capacity ? 2 * t->capacity : 32, .count = t->count};
    bigger.slots = arena_alloc(t->a, bigger.capacity * sizeof *bigger.slots);
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].name) *find_slot(&bigger, t->slots[i].name) = t->slots[i];
    *t = bigger;
}

bool names_equal(const char *x, const char *y) { return x == y || (x && y && strcmp(x, y) == 0); }

bool names_add(name_map *t, const char *name, void *item)
{
    if (2 * (t->count + 1) > t->capacity) grow(t);
    name_entry *slot = find_slot(t, name);
    if (slot->name) return false;
    *slot = (name_entry){name, item};
    t->count++;
    return true;
}
