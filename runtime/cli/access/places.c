/* In: code addresses. Out: for each the index of its source line, and the line of the spec. Without a symboliser each address becomes a
 * place of its own, without a line. */
#define _GNU_SOURCE
#include "runtime/cli/access/recording.h"
#include "ir/base/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct placing {
    access_place *places;
    const size_t *which; /* for each address, by its index: the index of its place; NULL: the same index */
    bool failed;
} placing;

static bool starts_with(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* Ranks of the inlined frames at an address, by how well they tell where an access was written, best last: headers of the host engine, the
 * emitted file (only the kernel's outer frame), templates that all kernels share, other templates. */
enum { rank_none, rank_engine, rank_emitted, rank_common, rank_template };
static int rank_of(const char *place)
{
    if (!place) return rank_none;
    if (starts_with(place, "hip_") || starts_with(place, "hs_abi.h")) return rank_engine;
    if (starts_with(place, "templates/base/") || starts_with(place, "templates/isa/")) return rank_common;
    return starts_with(place, "templates/") ? rank_template : rank_emitted;
}

/* "file:line" of "./file:line:column"; NULL: there is no line, for code that the compiler merged from several. */
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

static void told(void *context, size_t index, unsigned depth, const char *function, const char *place, const char *spec)
{
    placing *all = context;
    access_place *p = &all->places[all->which ? all->which[index] : index];
    char *line = line_of(place, &all->failed), *calls = NULL;
    (void)depth;
    if (!line) return;
    if (spec && !p->spec) all->failed |= !(p->spec = strdup(spec));
    if (asprintf(&calls, "%s%s%s%s%s%s (%s)", p->calls ? p->calls : "", p->calls ? "\n" : "", line, spec ? " [" : "", spec ? spec : "",
                 spec ? "]" : "", function) < 0) {
        free(line);
        all->failed = true;
        return;
    }
    replace(&p->calls, calls);
    if (rank_of(line) > rank_of(p->source)) replace(&p->source, line);
    else free(line);
}

/* Code merged from several lines has no line; it gets the place of the nearest code before it, at most 128 bytes away. */
static void ask_near(recording *r, placing *all, size_t first, uintptr_t *codes, size_t *which)
{
    static const unsigned char back[] = {8, 16, 32, 48, 64, 96, 128};
    for (size_t k = 0; k < sizeof back; k++) {
        size_t n = 0;
        for (size_t i = first; i < r->codes.count; i++)
            if (!all->places[i - first].source) which[n] = i - first, codes[n++] = (uintptr_t)r->codes.keys[i] - 1 - back[k];
        all->which = which;
        if (n) host_module_places(r->module, codes, n, told, all);
    }
}

/* The index of a place. Takes ownership of its strings: stores them, or frees them if the place is known. */
static unsigned number_of_place(recording *r, access_place place)
{
    const access_place *all = r->places.items;
    for (size_t i = 0; i < r->places.count && place.source; i++)
        if (names_equal(all[i].source, place.source) && names_equal(all[i].spec, place.spec)) {
            free((char *)place.source);
            free((char *)place.spec);
            free((char *)place.calls);
            return (unsigned)i;
        }
    access_place *added = list_add(&r->places, sizeof *added, &r->failed);
    if (added) *added = place;
    return added ? (unsigned)(r->places.count - 1) : 0;
}

void places_find(recording *r)
{
    const size_t first = r->placed.count, count = r->codes.count - first;
    if (!count) return;
    placing all = {.places = calloc(count, sizeof *all.places)};
    uintptr_t *codes = malloc(count * sizeof *codes);
    size_t *which = malloc(count * sizeof *which);
    for (size_t i = 0; codes && i < count; i++) codes[i] = (uintptr_t)r->codes.keys[first + i] - 1; /* return address - 1: the call */
    if (all.places && codes && which) {
        host_module_places(r->module, codes, count, told, &all);
        ask_near(r, &all, first, codes, which);
    }
    r->failed |= !all.places || !codes || !which || all.failed;
    for (size_t i = 0; i < count; i++) {
        unsigned *placed = list_add(&r->placed, sizeof *placed, &r->failed);
        if (placed && all.places) *placed = number_of_place(r, all.places[i]);
    }
    free(which);
    free(codes);
    free(all.places);
}
