/* In: bytes read as a spec. A finding: a stage from reading to emission crashes, takes too long, accepts what the next one refuses, or ends
 * in an undocumented way. */
#include "tests/fuzz/fuzz_pipeline.h"

static const char *const samples[] = {"specs/*.yaml",        "specs/bad/*.yaml",
                                      "tests/specs/*.yaml",  "tests/specs/language/*.yaml",
                                      "tests/corpus/spec/*", NULL};

static const char *const tokens[] = {"0",
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
                                     "f32",
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
                                     "softcap: 30",
                                     "kv_heads: 1",
                                     "heads: 1",
                                     "layout: in_out",
                                     "rotary: 2",
                                     "sizes: [1, 1]",
                                     "shape: [S, B, D]",
                                     "dynamic: {B: [1, 64]}",
                                     "scaling: {type: llama3}",
                                     "scaling: {type: longrope, factors: [1, 2]}",
                                     "alibi: [0.5, 0.25]",
                                     "eps: 1e-5",
                                     "unit_offset: true",
#define OP(name, least, most, shape, class, help) "op: " #name,
#include "ir/op.def"
                                     NULL};

const fuzz_kind fuzz_this =
    {.name = "fuzz_spec", .samples = samples, .tokens = tokens, .most_bytes = 64 << 10, .text = true, .cases = 10000};

static void body(void *argument)
{
    pipeline *t = argument;
    ir_graph *p = graph_read(t->a, t->data, t->size, "fuzz.yaml", NULL);
    ir_check(t->a, p, "graph_read");
    to_the_end(t, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pipeline_run(data, size, body);
    return 0;
}
