/* Compares and joins source files that are kept in pieces (source_text of gen/gen.h). */
#define _GNU_SOURCE
#include "gen/gen.h"
#include <stdlib.h>
#include <string.h>

size_t source_size(const source_text *s) { return strlen(s->head) + strlen(s->templates) + strlen(s->body); }

bool source_same(const source_text *x, const source_text *y)
{
    return strcmp(x->body, y->body) == 0 && strcmp(x->head, y->head) == 0 &&
           (x->templates == y->templates || strcmp(x->templates, y->templates) == 0);
}

static char *put(char *to, const source_text *s)
{
    if (to) strcpy(stpcpy(stpcpy(to, s->head), s->templates), s->body);
    return to;
}

char *source_join(arena *a, const source_text *s) { return put(arena_alloc(a, source_size(s) + 1), s); }

char *source_whole(const source_text *s) { return put(malloc(source_size(s) + 1), s); }
