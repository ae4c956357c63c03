/* In: bytes read as a safetensors file. A finding: a read beyond them, a byte that belongs to two tensors, a refusal without a message. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/data/safetensors.h"
#include "tests/fuzz/fuzzing.h"

static const char *const samples[] = {"tests/corpus/safetensors/*", NULL};
static const char *const tokens[] = {"0",
                                     "-1",
                                     "9223372036854775807",
                                     "18446744073709551616",
                                     "9007199254740993",
                                     "1e9",
                                     "[",
                                     "{",
                                     "]",
                                     "}",
                                     "\"",
                                     "\\u0000",
                                     "\"F64\"",
                                     "\"BF16\"",
                                     "\"I32\"",
                                     "\"NEW\"",
                                     ",",
                                     "null",
                                     "\"a\":",
                                     "4294967296",
                                     "\xff",
                                     "\"shape\":[2,3]",
                                     "\"data_offsets\":[0,12]",
                                     "__metadata__",
                                     "weights.a",
                                     NULL};

/* Usually sets the header's size to where its braces end. */
static void repair(fuzz_input *m)
{
    size_t end = 0, depth = 0;
    if (m->size < 10 || m->data[m->size - 1] % 4 == 0) return;
    for (size_t i = 8; i < m->size && !end; i++) {
        depth += m->data[i] == '{';
        if (m->data[i] == '}' && depth && --depth == 0) end = i + 1;
    }
    for (int i = 0; end && i < 8; i++) m->data[i] = (uint8_t)((uint64_t)(end - 8) >> 8 * i);
}

const fuzz_kind fuzz_this =
    {.name = "fuzz_safetensors", .samples = samples, .tokens = tokens, .most_bytes = 4 << 10, .repair = repair, .cases = 100000};

typedef struct one_file {
    arena *a;
    const uint8_t *data;
    size_t size;
} one_file;

/* Everything that a command does with a file: list it, read each tensor, miss a name. */
static void read_all(void *argument)
{
    const one_file *o = argument;
    const safetensors *f = safetensors_in_memory(o->a, o->data, o->size, "fuzz.safetensors");
    static const char *const prefixes[] = {"", "weights."};
    static const dim_table no_dims;
    const ir_value v = {.name = "a",
                        .type = dtype_bf16,
                        .rank = 2,
                        .shape = {extent_number(2), extent_number(3)},
                        .from_transposed = true};
    double out[6];
    size_t total = 0;
    for (size_t i = 0; i < safetensors_count(f); i++) {
        const safetensors_tensor *t = safetensors_at(f, i);
        if (safetensors_find(f, t->name) != t) fuzz_finding("a name is there twice", t->name);
        total += t->bytes;
        if (t->count > 1 << 16 || t->dtype[0] == 'C' || strncmp(t->dtype, "F8", 2) == 0) continue;
        double *numbers = malloc(((size_t)t->count + 1) * sizeof *numbers);
        if (!numbers) return;
        arena_defer(o->a, free, numbers);
        safetensors_read(f, t, numbers);
    }
    if (total > o->size) fuzz_finding("a byte belongs to two tensors", NULL);
    safetensors_read_value(f, &v, &no_dims, prefixes, 2, true, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* exactly as long, so that a sanitizer sees a step beyond it */
    if (!copy) return 0;
    memcpy(copy, data, size);
    one_file o = {arena_new(), copy, size};
    const tfgen_code code = arena_run(o.a, read_all, &o);
    fuzz_taken += code == code_ok;
    if (code != code_ok && arena_diagnostics(o.a)[0] == 0) fuzz_finding("refused without a word", NULL);
    arena_free(o.a);
    free(copy);
    return 0;
}
