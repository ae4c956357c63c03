/* In: code made ahead of time, and what to call it. Out: a static library with it and a header, for programs that link libtfgen. Refuses
 * (bails) what the assembler and the archiver refuse, and says what to install when there are none. */
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
    const char *spec_name;          /* as plans must call it: it is part of the kernels' source */
    const char *spec;
    size_t spec_size;
    const unsigned char *bundle;
    size_t bundle_size;
    const build_shape *shapes, *variants; /* variants: dims alone */
    size_t shape_count, variant_count;
    const char *dtype;              /* or NULL */
    fusion_level level;
    name_list no_fuse, tiles, targets;
} build_library;

/* The names of the public header and of its library begin with tfgen; those of a block do not: x is put ahead where they would. */
const char *build_identifier(arena *a, const char *block);
const char *build_file(arena *a, const char *block);
/* Writes folder/libFILE.a; returns its path. */
const char *build_write_library(arena *a, const build_library *l, const char *folder);
void build_write_header(arena *a, const build_library *l, const char *path);
#endif
