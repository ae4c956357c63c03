/* In: a misspelt word and the names that would be right. Out: the nearest one, for "did you mean". Refuses (NULL):
 * anything further than a third of the word's length, and words that no name can be. */
#include "ir/base/arena.h"
#include <string.h>

enum { longest = 63 };

static int least(int x, int y) { return x < y ? x : y; }

/* Levenshtein distance where two swapped neighbours count as one; three rows of the table at a time. Gives up, with
 * something above the bound, as soon as two rows are. */
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

const char *nearest_name(const char *word, const char *const *candidates, size_t n)
{
    size_t length = strlen(word);
    if (length > longest) return NULL;
    const char *best = NULL;
    int bound = length / 3 > 1 ? (int)(length / 3) : 1;
    for (size_t i = 0; i < n && bound >= 0; i++) {
        size_t other = strlen(candidates[i]);
        if (other > longest || other > length + (size_t)bound || length > other + (size_t)bound) continue;
        int d = distance(word, length, candidates[i], other, bound);
        if (d > bound || d >= (int)(length > other ? length : other)) continue; /* nothing in common */
        best = candidates[i];
        bound = d - 1;
    }
    return best;
}

const char *nearest_hint(arena *a, const char *near) { return near ? arena_printf(a, "; did you mean '%s'?", near) : ""; }
