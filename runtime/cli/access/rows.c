/* In: rows of instructions. Out: rows of lines of the source, with the line of the spec, the worst first. Refuses nothing: where no
 * symboliser is, instructions have no lines, and stay apart. */
#define _GNU_SOURCE
#include "runtime/cli/access/recording.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double counts = 0.05; /* the share of a launch's sectors, or cycles of banks, that is worth a word */

/* ---- where instructions are */
typedef struct placing {
    access_place *places;
    const char *spec;
    const size_t *which; /* of an address, the place; NULL: its own */
    bool failed;
} placing;

static bool starts_with(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* How well a place says where an access is decided: not in headers of the host engine, hardly in the kernel's own file, where only what all
 * of it lies in is, and not in what all kernels are made of. */
enum { rank_none, rank_engine, rank_emitted, rank_common, rank_template };
static int rank_of(const char *place)
{
    if (!place) return rank_none;
    if (starts_with(place, "hip_") || starts_with(place, "hs_abi.h")) return rank_engine;
    if (starts_with(place, "templates/base/") || starts_with(place, "templates/isa/")) return rank_common;
    return starts_with(place, "templates/") ? rank_template : rank_emitted;
}

/* "file:line" of "./file:line:column"; NULL: the compiler has no line, for what it made of several. */
static char *line_of(const char *place, bool *failed)
{
    if (starts_with(place, "./")) place += 2;
    const char *end = strrchr(place, ':'), *before = end;
    while (before && before > place && before[-1] >= '0' && before[-1] <= '9') before--;
    const bool column = end && before > place && before[-1] == ':' && before < end;
    char *line = strndup(place, column ? (size_t)(end - place) : strlen(place));
    *failed |= !line;
    end = line ? strrchr(line, ':') : NULL;
    if (end && strtol(end + 1, NULL, 10) > 0) return line;
    free(line);
    return NULL;
}

static void replace(const char **field, char *by)
{
    free((char *)*field);
    *field = by;
}

static void told(void *context, size_t index, unsigned depth, const char *function, const char *place)
{
    placing *all = context;
    access_place *p = &all->places[all->which ? all->which[index] : index];
    char *line = line_of(place, &all->failed), *calls = NULL;
    (void)depth;
    if (!line) return;
    if (asprintf(&calls, "%s%s%s (%s)", p->calls ? p->calls : "", p->calls ? "\n" : "", line, function) < 0) {
        free(line);
        all->failed = true;
        return;
    }
    replace(&p->calls, calls);
    if (all->spec && strncmp(line, all->spec, strlen(all->spec)) == 0 && line[strlen(all->spec)] == ':') {
        if (p->spec) free(line);
        else p->spec = line;
    } else if (rank_of(line) > rank_of(p->source)) {
        replace(&p->source, line);
    } else {
        free(line);
    }
}

/* Optimisers leave code without a line that they made of several: then code close ahead says where it is, as well as it can. */
static void ask_near(recording *r, const host_module *module, placing *all, uintptr_t *codes, size_t *which)
{
    static const unsigned char back[] = {8, 16, 32, 48, 64, 96, 128};
    for (size_t k = 0; k < sizeof back; k++) {
        size_t n = 0;
        for (size_t i = 0; i < r->codes.count; i++)
            if (!all->places[i].source) which[n] = i, codes[n++] = (uintptr_t)r->codes.keys[i] - 1 - back[k];
        all->which = which;
        if (n) host_module_places(module, codes, n, told, all);
    }
}

static access_place *find_places(recording *r, const host_module *module)
{
    const size_t count = r->codes.count;
    placing all = {.places = calloc(count + 1, sizeof *all.places), .spec = r->o->spec};
    uintptr_t *codes = malloc((count + 1) * sizeof *codes);
    size_t *which = malloc((count + 1) * sizeof *which);
    for (size_t i = 0; codes && i < count; i++) codes[i] = (uintptr_t)r->codes.keys[i] - 1; /* in the call, not behind it */
    if (all.places && codes && which) {
        host_module_places(module, codes, count, told, &all);
        ask_near(r, module, &all, codes, which);
    }
    r->failed |= !all.places || !codes || !which || all.failed;
    free(which);
    free(codes);
    return all.places;
}

static void free_places(access_place *places, size_t count)
{
    for (size_t i = 0; places && i < count; i++) {
        free((char *)places[i].source);
        free((char *)places[i].spec);
        free((char *)places[i].calls);
    }
    free(places);
}

/* ---- lines of the source */
static bool is_same(const char *x, const char *y) { return x == y || (x && y && strcmp(x, y) == 0); }

static bool is_same_line(const access_row *x, const access_row *y)
{
    return is_same(x->memory, y->memory) && is_same(x->place.source, y->place.source) && is_same(x->place.spec, y->place.spec) &&
           x->place.source && x->kind == y->kind && x->bulk == y->bulk && x->matrix == y->matrix;
}

static void add(access_row *to, const access_row *from)
{
    const double excess = (to->sectors + to->cycles) / to->requests, other = (from->sectors + from->cycles) / from->requests;
    if (from->ways > to->ways || (from->ways == to->ways && other > excess)) to->worst = from->worst, to->ways = from->ways;
    if (to->width != from->width) to->width = 0;
    to->requests += from->requests, to->lanes += from->lanes, to->asked += from->asked, to->used += from->used;
    to->sectors += from->sectors, to->least += from->least, to->lines += from->lines;
    to->cycles += from->cycles, to->least_cycles += from->least_cycles;
}

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

static void merge(recording *r, const access_place *places)
{
    access_launch *l = r->launch;
    const raw_row *all = r->rows.items;
    const struct memory *memories = r->memories.items;
    for (size_t i = 0; i < r->rows.count; i++) {
        access_row row = all[i].row, *same = NULL;
        row.memory = memories[all[i].memory].name, row.place = places[all[i].code];
        for (int k = 0; k < l->row_count && !same; k++)
            if (is_same_line(&l->rows[k], &row)) same = &l->rows[k];
        if (same) add(same, &row);
        else own_strings(&row, &r->failed), l->rows[l->row_count++] = row;
    }
}

static double excess_of(const access_row *x) { return x->memory ? x->sectors - x->least : x->cycles - x->least_cycles; }

static int by_excess(const void *left, const void *right)
{
    const access_row *x = left, *y = right;
    if (x->bad != y->bad) return x->bad ? -1 : 1;
    if (!x->memory != !y->memory) return x->memory ? -1 : 1;
    if (excess_of(x) != excess_of(y)) return excess_of(x) > excess_of(y) ? -1 : 1;
    const double volume = x->sectors + x->cycles, other = y->sectors + y->cycles;
    return volume != other ? (volume > other ? -1 : 1) : 0;
}

static void judge(access_launch *l)
{
    double sectors = 0, cycles = 0;
    for (int i = 0; i < l->row_count; i++) sectors += l->rows[i].sectors, cycles += l->rows[i].cycles;
    for (int i = 0; i < l->row_count; i++) {
        access_row *row = &l->rows[i];
        row->bad = row->memory ? row->sectors > 2 * row->least && excess_of(row) > counts * sectors
                               : row->cycles > row->least_cycles && excess_of(row) > counts * cycles;
    }
}

void rows_make(recording *r, const host_module *module)
{
    access_launch *l = r->launch;
    access_place *places = find_places(r, module);
    l->rows = calloc(r->rows.count + 1, sizeof *l->rows);
    if (places && l->rows) {
        merge(r, places);
        judge(l);
        qsort(l->rows, (size_t)l->row_count, sizeof *l->rows, by_excess);
    } else {
        r->failed = true;
    }
    free_places(places, r->codes.count);
}
