/* In: a target and the name of a kernel's file. Out: the command that compiles it outside of tfgen, which emitted files and manifests have.
 * Refuses (NULL) the host, whose engine alone can compile its kernels. */
#ifndef TFGEN_GEN_BY_HAND_H
#define TFGEN_GEN_BY_HAND_H
#include "gen/gen.h"

/* What clang is told besides the architecture and where to write; NULL-terminated. */
extern const char *const clang_flags[];

/* name: without .hip. */
const char *command_by_hand(arena *a, const target_info *target, const char *name);

/* A line of a source's head, with a line end. In memory it is the same on all targets of a family, and so is what caches know of it; in a
 * file it has the command. */
extern const char by_hand_line[];
source_text source_with_command(arena *a, const source_text *s, const target_info *target, const char *name);
const char *source_without_command(arena *a, const char *whole); /* the text of such a file as it was in memory */
#endif
