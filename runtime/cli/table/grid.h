/* In: lines of --grid: "(name) norm: threads=64,128 v=4,8". Out: the Cartesian product of each line, the last setting varying fastest, as
 * lines that gen/plan/overrides.h reads. Refuses (code_usage) malformed lines and more than grid_most points. */
#ifndef TFGEN_TABLE_GRID_H
#define TFGEN_TABLE_GRID_H
#include "ir/ir.h"

enum { grid_most = 1000 };

typedef struct grid_point {
    const char *label; /* the text in parentheses, else the settings */
    const char *line;  /* norm: threads=64 v=4 */
} grid_point;

typedef struct grid {
    grid_point *list;
    int count;
} grid;

grid grid_read(arena *a, const char *const *lines, size_t count);
#endif
