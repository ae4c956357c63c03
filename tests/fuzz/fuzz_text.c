/* In: bytes read as IR text of any stage. A finding: that stage or a later one crashes, takes too long, or ends in an undocumented way. */
#include "tests/fuzz/fuzz_pipeline.h"

static const char *const samples[] = {"tests/golden/ir/*.ir", "tests/corpus/text/*", NULL};

static const char *const tokens[] = {"%x",
                                     "%y",
                                     "kernel k9 {\n",
                                     "phase p : gemm {\n",
                                     "  }\n",
                                     "}\n",
                                     " after ",
                                     " frame=ws",
                                     " frame=mixed",
                                     "rows",
                                     "gemm",
                                     "attention",
                                     "decode",
                                     "combine",
                                     "align",
                                     "pro  ",
                                     "body ",
                                     "epi  ",
                                     "tile ",
                                     " m=128",
                                     " n=64",
                                     " k=32",
                                     " threads=256",
                                     " layer=simt",
                                     " layer=wgmma",
                                     " layer=mfma",
                                     " layer=wmma",
                                     " layer=mma",
                                     " layer=wgmma_3xtf32",
                                     " stages=3",
                                     " split_k=4",
                                     " fold=%w",
                                     " heads=2",
                                     " to=bf16",
                                     " state=%s",
                                     " at=%pos",
                                     " lengths=%n",
                                     " causal",
                                     " window=3",
                                     " in %x+0/8",
                                     "/72",
                                     "f32",
                                     "bf16",
                                     "f16",
                                     "i32",
                                     "[B,S]",
                                     "[1]",
                                     "[]",
                                     "dim  B = 2 in 1..9\n",
                                     "in   %a f32[4]\n",
                                     "out  %y as y\n",
                                     " range=0..3",
                                     " #0",
                                     "!1:1",
                                     "level tile\n",
                                     "1e30",
                                     "nan",
                                     "B*S",
                                     "-1",
#define OP(name, least, most, shape, class, help) " = " #name " ",
#include "ir/op.def"
                                     NULL};

const fuzz_kind fuzz_this =
    {.name = "fuzz_text", .samples = samples, .tokens = tokens, .most_bytes = 64 << 10, .text = true, .cases = 5000};

static void body(void *argument)
{
    pipeline *t = argument;
    to_the_end(t, ir_read(t->a, t->data, t->size, "fuzz.ir"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pipeline_run(data, size, body);
    return 0;
}
