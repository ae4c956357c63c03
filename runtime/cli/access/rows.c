/* In: rows of a launch. Out: the fault of each, worst first. */
#define _GNU_SOURCE
#include "runtime/cli/access/recording.h"
#include <stdlib.h>
#include <string.h>

static const double counts = 0.05; /* least share of a launch's bytes, sectors or cycles that is reported */

static char *copy_of(const char *s, bool *failed)
{
    char *copy = s ? strdup(s) : NULL;
    *failed |= s && !copy;
    return copy;
}

static void own_strings(access_row *row, bool *failed)
{
    row->memory = copy_of(row->memory, failed);
    row->place = (access_place){copy_of(row->place.source, failed), copy_of(row->place.spec, failed), copy_of(row->place.calls, failed)};
}

static double excess_of(const access_row *x) { return x->memory ? x->sectors - x->least : x->cycles - x->least_cycles; }

static int by_excess(const void *left, const void *right)
{
    const access_row *x = left, *y = right;
    if (!x->fault != !y->fault) return x->fault ? -1 : 1;
    if (!x->memory != !y->memory) return x->memory ? -1 : 1;
    if (excess_of(x) != excess_of(y)) return excess_of(x) > excess_of(y) ? -1 : 1;
    const double volume = x->sectors + x->cycles, other = y->sectors + y->cycles;
    return volume != other ? (volume > other ? -1 : 1) : 0;
}

/* Sets the fault of each row that wastes more than the share `counts` of the launch's loaded bytes, requested sectors or cycles of shared
 * memory. */
static void judge(recording *r)
{
    access_launch *l = r->launch;
    const double sector = r->o->device->target->sector_bytes;
    double brought = 0, sectors = 0, cycles = 0;
    for (int i = 0; i < l->row_count; i++) {
        brought += l->rows[i].brought * sector;
        sectors += l->rows[i].sectors, cycles += l->rows[i].cycles;
    }
    for (int i = 0; i < l->row_count; i++) {
        access_row *x = &l->rows[i];
        const double waste = x->brought * sector - x->kept;
        if (!x->memory) x->fault = excess_of(x) > counts * cycles ? access_conflicts : access_good;
        else if (2 * x->kept < x->brought * sector && waste > counts * brought) x->fault = access_waste;
        else if (x->sectors > 2 * x->least && excess_of(x) > counts * sectors) x->fault = access_again;
    }
}

void rows_make(recording *r)
{
    access_launch *l = r->launch;
    l->rows = calloc(r->rows.count + 1, sizeof *l->rows);
    if (!l->rows) r->failed = true;
    for (size_t i = 0; i < r->rows.count && l->rows; i++) {
        l->rows[i] = ((const access_row *)r->rows.items)[i], l->row_count++;
        own_strings(&l->rows[i], &r->failed);
    }
    judge(r);
    if (l->row_count) qsort(l->rows, (size_t)l->row_count, sizeof *l->rows, by_excess);
}
