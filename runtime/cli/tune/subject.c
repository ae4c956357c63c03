/* In, out, refusals: subject.h: what its files share. */
#include "runtime/cli/tune/subject.h"
#include <string.h>

candidate subject_candidate(subject *s, const ir_tile *t)
{
    entrant *e = arena_alloc(s->a, sizeof *e);
    *e = (entrant){.tile = *t, .line = space_line(s->a, s->signature, t), .text = space_text(s->a, t), .registers = -1};
    return (candidate){.item = e, .status = candidate_new};
}

database_key subject_key(const subject *s) { return (database_key){s->signature, s->c->plan->target->name, s->c->device, s->size}; }

bool subject_read_tile(arena *a, const char *program, const char *version, const char *tile, ir_tile *out)
{
    *out = (ir_tile){.program = program_recalled(program)};
    const char *at = tile + strcspn(tile, " "); /* behind the layer */
    for (at += strspn(at, " "); *at && out->program; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        if (tile_read_setting(a, arena_strndup(a, at, size), out)) return false;
        at += size;
    }
    return tile_is_whole(out) && version_serves(out->program, program_version(a, out->program), version);
}
