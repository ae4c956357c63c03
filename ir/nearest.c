/* In: a misspelt word and the names that would be right. Out: the nearest one, for "did you mean". Refuses (NULL):
 * anything further than a third of the word's length, and words that no name can be. */
#include "ir/arena.h"
#include <string.h>

enum { longest = 63 };

static int least(int x, int y) { return x < y ? x : y; }

/* Levenshtein distance, one row of the table at a time. */
static int distance(const char *x, size_t nx, const char *y, size_t ny)
{
    int row[longest + 1];
    for (size_t j = 0; j <= ny; j++) row[j] = (int)j;
    for (size_t i = 1; i <= nx; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= ny; j++) {
            int above = row[j];
            row[j] = least(least(above, row[j - 1]) + 1, diagonal + (x[i - 1] != y[j - 1]));
            diagonal = above;
        }
    }
    return row[ny];
}

const char *nearest_name(const char *word, const char *const *candidates, size_t n)
{
    size_t length = strlen(word);
    if (length > longest) return NULL;
    const char *best = NULL;
    int bound = length / 3 > 1 ? (int)(length / 3) : 1;
    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(candidates[i]);
        if (other > longest || other > length + (size_t)bound || length > other + (size_t)bound) continue;
        int d = distance(word, length, candidates[i], other);
        if (d <= bound) best = candidates[i], bound = d - 1;
        if (bound < 0) break;
    }
    return best;
}
