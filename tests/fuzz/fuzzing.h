/* What the fuzzers share. Each tests/fuzz/fuzz_NAME.c is a target: LLVMFuzzerTestOneInput(), which a wrong answer leaves by fuzz_finding(),
 * and its fuzz_kind. tests/fuzz/fuzzing.c makes a program of it: mutants of its samples by number, the same on every machine; `make fuzz`
 * builds the targets with libFuzzer instead, which looks for inputs that reach new code. */
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
    const char *const *samples; /* patterns of files from the top of the repository, NULL behind them */
    const char *const *tokens;  /* pieces that mutants get, NULL behind them */
    size_t most_bytes;          /* of an input */
    bool text;                  /* words are exchanged; else integers and bytes are */
    void (*repair)(fuzz_input *input); /* makes sums and sizes right again, so that mutants pass the first check; or NULL */
    long cases;                 /* how many `make test` runs */
} fuzz_kind;
extern const fuzz_kind fuzz_this;

/* Inputs that were taken for what they claim to be: a run in which there were none has tested nothing, and fails. */
extern long fuzz_taken;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
_Noreturn void fuzz_finding(const char *why, const char *more);

/* A number that follows from the input alone: targets draw their options by it. */
uint64_t fuzz_hash(const uint8_t *data, size_t size);
#endif
