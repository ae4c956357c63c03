/* In: a misspelt word and the valid names. Out: the nearest name, for "did you mean": one that differs in at most a third of the word's
 * letters, or consists of some of the word's parts (separated by _). NULL: there is none, or the word is longer than any name. */
#include "ir/base/arena.h"
#include <string.h>

enum { longest = 63, too_far = 1000 };

static int least(int x, int y) { return x < y ? x : y; }

/* Edit distance where swapping two neighbours counts as one edit; keeps three rows of the table. Returns some number above `bound` as soon
 * as two successive rows exceed it. */
static int distance(const char *x, size_t nx, const char *y, size_t ny, int bound)
{
    int rows[3][longest + 1], before = 0;
    for (size_t j = 0; j <= ny; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= nx; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3], smallest = (int)i;
        row[0] = (int)i;
        for (size_t j = 1; j <= ny; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x[i - 1] != y[j - 1]));
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
                row[j] = least(row[j], second[j - 2] + 1);
            smallest = least(smallest, row[j]);
        }
        if (smallest > bound && before > bound) return smallest;
        before = smallest;
    }
    return rows[nx % 3][ny];
}

/* Twice the edit distance, minus 1 if one word is a prefix of the other: sm_90 is nearer to sm_90a than to sm_80. */
static int spelling_apart(const char *x, size_t nx, const char *y, size_t ny, int bound)
{
    if (ny > nx + (size_t)bound || nx > ny + (size_t)bound) return too_far;
    const int d = distance(x, nx, y, ny, bound);
    if (d > bound || d >= (int)(nx > ny ? nx : ny)) return too_far; /* nothing in common */
    return 2 * d - (strncmp(x, y, nx < ny ? nx : ny) == 0);
}

/* Twice the number of parts of x (separated by _) that y omits, minus 1; too_far: y is no subsequence of them, or under half as long. */
static int words_apart(const char *x, size_t nx, const char *y, size_t ny)
{
    int missing = 0;
    size_t kept = 0;
    if (ny >= nx || 2 * ny < nx) return too_far;
    for (const char *at = x; *at; at += strspn(at, "_")) {
        const size_t n = strcspn(at, "_"), left = ny > kept ? ny - kept : 0;
        const bool is_next = n <= left && strncmp(at, y + kept, n) == 0 && (y[kept + n] == '_' || !y[kept + n]);
        if (is_next) kept += n + (y[kept + n] == '_');
        else missing++;
        at += n;
    }
    return kept == ny && missing ? 2 * missing - 1 : too_far;
}

const char *nearest_name(const char *word, const char *const *candidates, size_t n)
{
    const size_t length = strlen(word);
    if (length > longest) return NULL;
    const char *best = NULL;
    const int bound = length / 3 > 1 ? (int)(length / 3) : 1;
    int best_apart = too_far;
    for (size_t i = 0; i < n; i++) {
        const size_t other = strlen(candidates[i]);
        if (other > longest) continue;
        const int spelling = spelling_apart(word, length, candidates[i], other, best_apart < 2 * bound ? (best_apart + 1) / 2 : bound);
        const int apart = least(spelling, words_apart(word, length, candidates[i], other));
        if (apart < best_apart) best = candidates[i], best_apart = apart;
    }
    return best;
}

const char *nearest_hint(arena *a, const char *near) { return near ? arena_printf(a, "; did you mean '%s'?", near) : ""; }
