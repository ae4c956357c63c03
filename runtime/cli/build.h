/* In: kernels compiled ahead of time, and the library's names. Out: a static library and a header, for applications that link libtfgen.
 * Bails with the assembler's or archiver's error, or with what to install if there is none. */
#ifndef TFGEN_CLI_BUILD_H
#define TFGEN_CLI_BUILD_H
#include "runtime/cli/cli.h"

typedef struct build_shape {
    const char *name;   /* as the user gave it: "llama-1b:B=4" */
    const char *preset; /* or NULL */
    const dim_override *dims;
    size_t dim_count;
} build_shape;

typedef struct build_library {
    const char *block;              /* llama-decode */
    const char *identifier;         /* llama_decode: its names in C begin with this and an underscore */
    const char *file;               /* llama-decode: libFILE.a and FILE.h */
    const char *spec_name;          /* the name used for planning, which is part of the kernels' source */
    const char *spec;
    size_t spec_size;
    const unsigned char *bundle;
    size_t bundle_size;
    const build_shape *shapes, *variants; /* variants: only dims are set */
    size_t shape_count, variant_count;
    const char *dtype;              /* or NULL */
    fusion_level level;
    name_list no_fuse, tiles, targets;
} build_library;

/* A block's C names and file name. "tfgen" is reserved for the public header and library: names that begin with it get the prefix x. */
const char *build_identifier(arena *a, const char *block);
const char *build_file(arena *a, const char *block);
/* Writes folder/libFILE.a; returns its path. */
const char *build_write_library(arena *a, const build_library *l, const char *folder);
void build_write_header(arena *a, const build_library *l, const char *path);
#endif
