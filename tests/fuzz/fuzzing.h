/* What the fuzzers share. Each tests/fuzz/fuzz_NAME.c is a target: LLVMFuzzerTestOneInput(), which reports a defect with fuzz_finding(),
 * and its fuzz_kind. tests/fuzz/fuzzing.c runs it on numbered mutants of the samples, the same on every machine. `make fuzz` links
 * libFuzzer instead, which searches for inputs that reach new code. */
#ifndef TFGEN_FUZZING_H
#define TFGEN_FUZZING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fuzz_input {
    uint8_t *data;
    size_t size, room;
} fuzz_input;

typedef struct fuzz_kind {
    const char *name;
    const char *const *samples; /* glob patterns from the repository's root, NULL-terminated */
    const char *const *tokens;  /* texts that mutation inserts, NULL-terminated */
    size_t most_bytes;          /* of an input */
    bool text;                  /* mutate words; else integers and bytes */
    void (*repair)(fuzz_input *input); /* fixes checksums and sizes, so that mutants pass the first check; or NULL */
    long cases;                 /* how many `make test` runs */
} fuzz_kind;
extern const fuzz_kind fuzz_this;

/* Inputs accepted as valid. A run of 1000 cases or more that accepts none has tested nothing, and fails. */
extern long fuzz_taken;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
_Noreturn void fuzz_finding(const char *why, const char *more);

/* A hash of the input, from which targets choose their options. */
uint64_t fuzz_hash(const uint8_t *data, size_t size);
#endif
