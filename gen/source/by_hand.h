/* Makes the command that compiles a kernel's file without tfgen, for emitted files and manifests. */
#ifndef TFGEN_GEN_BY_HAND_H
#define TFGEN_GEN_BY_HAND_H
#include "gen/gen.h"

/* clang's options except architecture and output file; NULL-terminated. */
extern const char *const clang_flags[];

/* name: the file's, without .hip. NULL for the host target, whose kernels only the host engine compiles. */
const char *command_by_hand(arena *a, const target_info *target, const char *name);

/* A line of a source's head, newline included. It refers to the manifest for the command, so that all targets of a family have the same
 * source and cache entry. When a source is written to a file, source_with_command() puts the command in its place. */
extern const char by_hand_line[];
source_text source_with_command(arena *a, const source_text *s, const target_info *target, const char *name);
const char *source_without_command(arena *a, const char *whole); /* undoes source_with_command() */
#endif
