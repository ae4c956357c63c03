/* In: bytes that claim to be a spec. Out: nothing, or an abort that shows the spec: when the reader crashes, takes
 * longer than slow_seconds, or accepts what the verifier, the text form or lowering does not. For libFuzzer
 * (-fsanitize=fuzzer with -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION), and alone: fuzz_spec [SECONDS [SEED]] mutates
 * specs/ and specs/bad/ for that long and prints the seed. */
#define _DEFAULT_SOURCE
#include "ir/ir.h"
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { slow_seconds = 5 };

typedef struct trial {
    arena *a;
    const char *data;
    size_t size;
    ir_program *p;
    const char *text, *again;
} trial;

static void read_body(void *argument)
{
    trial *t = argument;
    t->p = graph_read(t->a, t->data, t->size, "fuzz.yaml", NULL);
}

static void check_body(void *argument)
{
    trial *t = argument;
    ir_check(t->a, t->p, "graph_read");
    t->text = ir_print(t->a, t->p);
    t->again = ir_print(t->a, ir_read(t->a, t->text, strlen(t->text), "fuzz.ir"));
    ir_check(t->a, lower(t->a, t->p), "lower");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const trial *t, const char *why)
{
    fprintf(stderr, "fuzz_spec: %s\n%s\n---- the spec\n", why, arena_diagnostics(t->a));
    fwrite(t->data, 1, t->size, stderr);
    abort();
}

/* True when it is accepted. */
static bool try_spec(const char *data, size_t size)
{
    trial t = {.a = arena_new(), .data = data, .size = size};
    double start = now();
    tfgen_code code = arena_run(t.a, read_body, &t);
    if (now() - start > slow_seconds) fail(&t, "reading takes too long");
    if (code != code_ok && code != code_bad_input) fail(&t, "an exit code that reading does not have");
    if ((code == code_ok) != (arena_complaints(t.a) == 0)) fail(&t, "refused without a word");
    if (code == code_ok && arena_run(t.a, check_body, &t) != code_ok) fail(&t, "accepted, but not well-formed");
    if (code == code_ok && strcmp(t.text, t.again) != 0) fail(&t, "the text form does not read back to itself");
    arena_free(t.a);
    return code == code_ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_spec((const char *)data, size);
    return 0;
}

#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
typedef struct sample {
    char *data;
    size_t size;
} sample;

/* A spec that grows and shrinks. */
typedef struct mutant {
    char *data;
    size_t size, capacity;
} mutant;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t below(uint64_t *state, size_t n) { return n ? (size_t)(next_random(state) % n) : 0; }

static void replace(mutant *m, size_t at, size_t remove, const char *with, size_t n)
{
    if (m->size - remove + n > m->capacity) return;
    char *copy = malloc(n + 1);
    memcpy(copy, with, n); /* `with` may lie in m */
    memmove(m->data + at + n, m->data + at + remove, m->size - at - remove);
    memcpy(m->data + at, copy, n);
    m->size += n - remove;
    free(copy);
}

static const char *const tokens[] = {
    "0",
    "1",
    "-1",
    "2147483647",
    "9223372036854775807",
    ".nan",
    "1e999",
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    "\n",
    "  - ",
    "&a ",
    "*a",
    "!!int ",
    "---\n",
    "# ",
    "\"",
    "'",
    "|\n",
    "? ",
    "<<: ",
    "\t",
    "\xff",
    "\x1b[m",
    "x",
    "w",
    "B",
    "S",
    "D",
    "H",
    "KV",
    "hd",
    "B*S",
    "D/H",
    "(H+2*KV)*hd",
    "true",
    "half",
    "f16",
    "i32",
    "bf16",
    "shape: ",
    "dtype: ",
    "from: w",
    "transpose: true",
    "range: [0, L-S]",
    "at: pos",
    "state: k_cache",
    "lengths: pos",
    "causal: true",
    "window: 3",
    "kv_heads: 1",
    "heads: 1",
    "layout: in_out",
    "rotary: 2",
    "sizes: [1, 1]",
    "shape: [S, B, D]",
#define OP(name, least, most, shape, class, help) "op: " #name,
#include "ir/op.def"
};

/* Where a word or a flow item may begin: mutations there get further than random bytes. */
static size_t pick_place(const mutant *m, uint64_t *state)
{
    size_t at = below(state, m->size + 1);
    for (size_t i = 0; i < 40 && at > 0 && below(state, 8); i++, at--)
        if (strchr(" [{,:\n", m->data[at - 1]) && m->data[at - 1]) break;
    return at;
}

static void mutate(mutant *m, const sample *other, uint64_t *state)
{
    size_t at = pick_place(m, state), left = m->size - at;
    size_t word = 0;
    while (word < left && !strchr(" ,:]}\n", m->data[at + word])) word++;
    const char *token = tokens[below(state, sizeof tokens / sizeof *tokens)];
    size_t from = below(state, other->size),
           length = below(state, other->size - from > 80 ? 80 : other->size - from + 1);
    switch (below(state, 7)) {
    case 0:
        if (left) m->data[at] = (char)next_random(state);
        break;
    case 1: replace(m, at, below(state, left < 20 ? left + 1 : 20), "", 0); break;
    case 2: replace(m, at, 0, token, strlen(token)); break;
    case 3:
    case 4: replace(m, at, word, token, strlen(token)); break;
    case 5: replace(m, at, 0, other->data + from, length); break;
    default: replace(m, at, word, m->data + below(state, m->size + 1 - word), word); break; /* a word of its own */
    }
}

static size_t load(const char *pattern, sample *samples, size_t count, size_t most)
{
    glob_t paths;
    if (glob(pattern, 0, NULL, &paths) != 0) return count;
    for (size_t i = 0; i < paths.gl_pathc && count < most; i++) {
        FILE *f = fopen(paths.gl_pathv[i], "rb");
        char *data = malloc(64 << 10);
        if (f) samples[count++] = (sample){data, fread(data, 1, 64 << 10, f)};
        if (f)
            fclose(f);
        else
            free(data);
    }
    globfree(&paths);
    return count;
}

int main(int argc, char **argv)
{
    enum { most = 1000 };
    double seconds = argc > 1 ? atof(argv[1]) : 3;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL), state = seed * 2654435769u + 1;
    static sample samples[most];
    size_t good = load("specs/*.yaml", samples, 0, most), count = load("specs/bad/*.yaml", samples, good, most);
    mutant m = {malloc(128 << 10), 0, 128 << 10};
    long tried = 0, accepted = 0;
    if (good == 0) return fprintf(stderr, "fuzz_spec: no specs/ here\n"), 1;
    for (size_t i = 0; i < count; i++) try_spec(samples[i].data, samples[i].size);
    printf("fuzz_spec: seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (double end = now() + seconds; now() < end; tried++) {
        const sample *s = &samples[below(&state, below(&state, 4) ? good : count)];
        m.size = s->size;
        memcpy(m.data, s->data, s->size);
        for (size_t n = 1 + below(&state, below(&state, 3) ? 2 : 12); n > 0; n--)
            mutate(&m, &samples[below(&state, count)], &state);
        accepted += try_spec(m.data, m.size);
    }
    printf("fuzz_spec: %ld specs, %ld accepted and checked\n", tried, accepted);
    for (size_t i = 0; i < count; i++) free(samples[i].data);
    free(m.data);
    return 0;
}
#endif
