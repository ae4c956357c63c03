/* Contract: under_test.h. Shared by the under_test files. */
#include "runtime/cli/tune/under_test.h"
#include <string.h>

candidate under_test_candidate(kernel_under_test *s, const ir_tile *t)
{
    candidate_build *e = arena_alloc(s->a, sizeof *e);
    *e = (candidate_build){.tile = *t, .line = space_line(s->a, s->signature, t), .text = space_text(s->a, t), .registers = -1};
    return (candidate){.item = e, .status = candidate_new};
}

database_key under_test_key(const kernel_under_test *s)
{
    return (database_key){s->signature, s->c->plan->target->name, s->c->device, s->size};
}

bool under_test_read_tile(arena *a, const char *program, const char *version, const char *tile, ir_tile *out)
{
    *out = tile_of_program(program_recalled(program));
    const char *at = tile + strcspn(tile, " "); /* after the layer */
    for (at += strspn(at, " "); *at && out->program; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        if (tile_read_setting(a, arena_strndup(a, at, size), out)) return false;
        at += size;
    }
    tile_add_new_fields(out);
    return tile_is_whole(out) && version_serves(out->program, program_version(out->program), version);
}
