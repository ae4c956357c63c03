/* In: a target and the name of a kernel's file. Out: the command that compiles it without tfgen, for emitted files and manifests. NULL for
 * the host, whose kernels only the host engine compiles. */
#ifndef TFGEN_GEN_BY_HAND_H
#define TFGEN_GEN_BY_HAND_H
#include "gen/gen.h"

/* clang's options except architecture and output file; NULL-terminated. */
extern const char *const clang_flags[];

/* name: without .hip. */
const char *command_by_hand(arena *a, const target_info *target, const char *name);

/* A line of a source's head, newline included. In memory it has no command, so that all targets of a family have the same source and cache
 * entry; in a file the command takes its place. */
extern const char by_hand_line[];
source_text source_with_command(arena *a, const source_text *s, const target_info *target, const char *name);
const char *source_without_command(arena *a, const char *whole); /* undoes source_with_command() */
#endif
