/* In: specs, a grid, a sweep, a device. Out: a row per point with its measured time and its roofline floor. Bails with errors of specs and
 * devices; an illegal tile gives a row with the reason. */
#ifndef TFGEN_TABLE_H
#define TFGEN_TABLE_H
#include "gen/base/work.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/spread.h"

/* ---- tables shipped with tfgen */
typedef struct shipped_table {
    const char *name, *title, *specs, *dims, *sweep, *grid; /* specs: identifiers */
} shipped_table;
const shipped_table *table_shipped(const char *name); /* NULL: not found */
const char *const *table_names(arena *a, size_t *count);
const char *table_spec(const char *identifier, size_t *size, const char **path);

/* ---- rows */
typedef enum row_status { row_timed, row_illegal, row_failed, row_unjudged, row_wrong } row_status;
extern const char *const row_status_names[];

typedef struct table_row {
    const char *block, *dims, *label; /* label: the grid point's, or "" */
    row_status status;
    const char *tile; /* tile of the phase that the grid is for, or "" */
    const char *note; /* why it is illegal, wrong, unjudged or has another tile than requested; or "" */
    spread time;      /* of a whole run, if row_timed */
    int samples, launches;
    work work;
    double floor;      /* seconds; 0: unknown to the device model */
    const char *limit; /* what sets the floor of the longest launch, or "" */
} table_row;

typedef struct table {
    const char *title;
    const char *device, *label, *target, *model, *dtype;
    bool host; /* its times are the CPU's */
    table_row *rows;
    int count, room;
} table;

/* ---- writing; files by the extension of their name */
void table_check_path(arena *a, const char *path); /* bails on an unknown extension */
void table_write(arena *a, const table *t, const char *path);
json_t *table_json(const table *t);
void table_print(arena *a, const table *t);
const char *table_row_name(arena *a, const table_row *r); /* unique in its table */
#endif
