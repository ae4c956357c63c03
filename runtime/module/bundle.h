/* In: code objects with the sources they were made from. Out: one byte string to link into an application, and zero-copy look-ups in it.
 * Refuses bytes that are not exactly what bundle_write() makes, with the offset of the first inconsistency; code with another content hash
 * than recorded is never returned. The hashes (XXH3) detect accidents, not malice: trust a bundle only as you would trust code.
 *
 * The format, little-endian throughout (docs/ahead-of-time.md has it as a table):
 *     head     64 bytes: "tfbundle", u32 version 1, u32 entries, u64 total bytes, u64 bytes of names, u64 hash of the rest of the head,
 *              all entries and the names; zeros
 *     entries  64 bytes each, sorted by (arch, kernel, source): u128 hash and u64 size of the source, u64 hash of the code, u64 offset,
 *              u64 size, u32 arch, u32 kernel (offsets into names); zeros
 *     names    strings, each with its NUL
 *     code     each object at a multiple of 64 */
#ifndef TFGEN_BUNDLE_H
#define TFGEN_BUNDLE_H
#include <stdbool.h>
#include <stddef.h>

typedef struct bundle_code {
    const char *arch;   /* as passed to the compiler: gfx90a, sm_90a; for the host bundle_host_arch() */
    const char *kernel; /* name of the __global__ function */
    const char *source;
    size_t source_size;
    const void *code;
    size_t size;
} bundle_code;

/* The caller frees *out. The bytes do not depend on the order of `list`; of equal keys the first is kept. False: no memory. */
bool bundle_write(const bundle_code *list, size_t count, unsigned char **out, size_t *size);

typedef struct bundle { /* points into the caller's bytes */
    const unsigned char *data;
    size_t size;
    unsigned count;
    size_t names; /* offset */
} bundle;

enum { bundle_error_size = 512 };

/* Checks everything except the code; on failure returns false and sets `error`. `data` must be aligned to 16 bytes and outlive *out and all
 * results of look-ups. */
bool bundle_open(const void *data, size_t size, bundle *out, char error[bundle_error_size]);

typedef enum bundle_found { bundle_ok, bundle_missing, bundle_broken } bundle_found;

/* `arch` is a device's: "gfx90a:sramecc+:xnack-" accepts code for gfx90a, sm_86 and sm_89 also that for sm_80, "host" the best level that
 * this processor supports. *code points into the bundle, aligned to 16 bytes. Unless bundle_ok, `error` has the reason: no code for the
 * arch (it lists those present), or none for exactly this source. */
bundle_found bundle_find(const bundle *b, const char *arch, const char *kernel, const char *source, size_t source_size, const void **code,
                         size_t *size, char error[bundle_error_size]);

/* Entries in order; false: index out of range. The strings live as long as the bytes. */
typedef struct bundle_item {
    const char *arch, *kernel;
    size_t size;
} bundle_item;
bool bundle_at(const bundle *b, unsigned index, bundle_item *out);

/* For tests with corrupted bundles: recomputes the head's hash, if the head's sizes are consistent. */
void bundle_rehash(unsigned char *data, size_t size);

/* Host code is built for a level of the instruction set ("x86-64-v3"), never for the build machine's own processor. */
const char *const *bundle_host_levels(size_t *count);      /* best first; none on architectures without levels */
bool bundle_host_level_runs(const char *level);
void bundle_host_arch(const char *level, char arch[48]);   /* "host-x86-64-v3-abi7"; includes the engine's version */
#endif
