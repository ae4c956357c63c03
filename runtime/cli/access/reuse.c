/* Contract: reuse.h.
 *
 * The distance of a touch is the number of other lines touched since the line's last touch. Each line counts at its last touch, so a
 * Fenwick tree over last touches gives the distance (Olken). With many lines, only those with a small hash are sampled, and distances are
 * scaled by the sampling rate (SHARDS, Waldspurger and others, FAST 2015). */
#include "runtime/cli/access/reuse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long hash(unsigned long long x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static bool is_sampled(unsigned line, unsigned long long seed, double rate)
{
    return rate >= 1 || (double)(hash(line ^ seed * 0x100000001ull) >> 11) < rate * 0x1p53;
}

static void tree_add(int *tree, size_t count, size_t at, int x)
{
    for (at++; at <= count; at += at & -at) tree[at] += x;
}

static long long tree_sum(const int *tree, size_t at) /* sum of entries below `at` */
{
    long long sum = 0;
    for (; at; at -= at & -at) sum += tree[at];
    return sum;
}

static void add_distance(access_reuse *out, double distance, int line_bytes)
{
    const int bucket = distance >= 1 ? ilogb(distance) + 1 : 0;
    out->distance[bucket < access_distances ? bucket : access_distances - 1] += 1 / out->rate;
    if ((distance + 1) * line_bytes <= out->bytes) out->hits += 1 / out->rate;
}

bool reuse_open(reuse_room *room, size_t lines, size_t touches)
{
    *room = (reuse_room){calloc(lines + 1, sizeof *room->last), malloc((touches + 1) * sizeof *room->tree)};
    return room->last && room->tree;
}

void reuse_close(reuse_room *room)
{
    free(room->last);
    free(room->tree);
}

void reuse_count(reuse_room *room, const unsigned *touches, size_t count, int line_bytes, unsigned long long seed, access_reuse *out)
{
    size_t *last = room->last;
    memset(room->tree, 0, (count + 1) * sizeof *room->tree);
    for (size_t i = 0; i < count; i++) {
        const unsigned line = touches[i];
        if (!is_sampled(line, seed, out->rate)) continue;
        out->touches += 1 / out->rate;
        if (last[line]) {
            add_distance(out, (double)(tree_sum(room->tree, i) - tree_sum(room->tree, last[line])) / out->rate, line_bytes);
            tree_add(room->tree, count, last[line] - 1, -1);
        } else {
            out->first += 1 / out->rate;
        }
        tree_add(room->tree, count, i, 1);
        last[line] = i + 1;
    }
    for (size_t i = 0; i < count; i++) last[touches[i]] = 0;
}

size_t reuse_distinct(reuse_room *room, const unsigned *touches, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += !room->last[touches[i]], room->last[touches[i]] = 1;
    for (size_t i = 0; i < count; i++) room->last[touches[i]] = 0;
    return n;
}
