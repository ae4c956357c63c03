/* In: bytes. Out: nothing; a crash, a leak or a sanitizer's report is a finding. With libFuzzer's driver:
 * clang -fsanitize=fuzzer,address -DTFGEN_LIBFUZZER. Else main() mutates small files for the seconds given (3), from a
 * fixed seed. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/random.h"
#include "runtime/safetensors.h"

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
        if (safetensors_find(f, t->name) != t) abort(); /* every name is there once */
        total += t->bytes;
        if (t->count > 1 << 16 || t->dtype[0] == 'C' || strncmp(t->dtype, "F8", 2) == 0) continue;
        double *numbers = malloc(((size_t)t->count + 1) * sizeof *numbers);
        if (!numbers) abort();
        arena_defer(o->a, free, numbers);
        safetensors_read(f, t, numbers);
    }
    if (total > o->size) abort(); /* no byte belongs to two tensors */
    safetensors_read_value(f, &v, &no_dims, prefixes, 2, true, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* exactly as long, so that a sanitizer sees a step beyond it */
    if (!copy) return 0;
    memcpy(copy, data, size);
    one_file o = {arena_new(), copy, size};
    const tfgen_code code = arena_run(o.a, read_all, &o);
    if (code != code_ok && arena_diagnostics(o.a)[0] == 0) abort(); /* a refusal has a reason */
    arena_free(o.a);
    free(copy);
    return 0;
}

#ifndef TFGEN_LIBFUZZER
typedef struct mutator {
    uint64_t round, draw;
    uint8_t data[4096];
    size_t size;
} mutator;

static uint64_t draw(mutator *m, uint64_t below) { return random_bits(1, m->round, m->draw++) % below; }

static const char *const headers[] = {
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]},\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_"
    "offsets\":[24,28]}}",
    "{\"__metadata__\":{\"k\":\"v\"},\"weights.a\":{\"dtype\":\"F16\",\"shape\":[3,2],\"data_offsets\":[0,12]}}",
    "{\"a\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},\"c\":{\"dtype\":\"U8\",\"shape\":[0],\"data_"
    "offsets\":[8,8]}}"};
static const char *const words[] = {"0",
                                    "-1",
                                    "9223372036854775807",
                                    "18446744073709551616",
                                    "1e9",
                                    "[",
                                    "{",
                                    "]",
                                    "}",
                                    "\"",
                                    "\\u0000",
                                    "\"F64\"",
                                    "\"NEW\"",
                                    ",",
                                    "null",
                                    "\"a\":",
                                    "4294967296",
                                    "\xff"};

static void start(mutator *m)
{
    const char *header = headers[draw(m, 3)];
    const size_t n = strlen(header);
    memset(m->data, 0, sizeof m->data);
    m->data[0] = (uint8_t)n;
    memcpy(m->data + 8, header, n);
    m->size = 8 + n + draw(m, 32);
    for (size_t i = 8 + n; i < m->size; i++) m->data[i] = (uint8_t)draw(m, 256);
}

static void put_in(mutator *m, size_t at, const char *word, size_t length, size_t over)
{
    char copy[32]; /* the word may be a piece of the file */
    if (length > sizeof copy || m->size + length > sizeof m->data || at + over > m->size) return;
    memcpy(copy, word, length);
    memmove(m->data + at + length, m->data + at + over, m->size - at - over);
    memcpy(m->data + at, copy, length);
    m->size += length - over;
}

static void mutate(mutator *m)
{
    const size_t at = draw(m, m->size);
    const char *word = words[draw(m, sizeof words / sizeof *words)];
    switch (draw(m, 6)) {
    case 0: m->data[at] ^= (uint8_t)(1 << draw(m, 8)); break;
    case 1: m->data[at] = (uint8_t)draw(m, 256); break;
    case 2: put_in(m, at, word, strlen(word), 0); break;
    case 3: put_in(m, at, word, strlen(word), draw(m, 4)); break;
    case 4: m->size = at + 1; break;
    default: put_in(m, at, (const char *)m->data + draw(m, m->size / 2 + 1), draw(m, 16), 0); break;
    }
    if (draw(m, 2)) { /* most mutants should get past the first check */
        const uint64_t header = m->size > 40 ? m->size - 8 - draw(m, 33) : 0;
        for (int i = 0; i < 8; i++) m->data[i] = (uint8_t)(header >> 8 * i);
    }
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 3;
    const time_t end = time(NULL) + (time_t)seconds;
    static mutator m;
    for (m.round = 0; time(NULL) < end || m.round < 1000; m.round++) {
        m.draw = 0;
        start(&m);
        for (uint64_t n = draw(&m, 6); n > 0; n--) mutate(&m);
        LLVMFuzzerTestOneInput(m.data, m.size);
    }
    printf("%llu files\n", (unsigned long long)m.round);
    return 0;
}
#endif
