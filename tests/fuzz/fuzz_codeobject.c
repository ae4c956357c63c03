/* In: bytes read as a code object, with or without a bundle around it, or as the log of a compiler. A finding: a read beyond them, or a
 * refusal without a message. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/compile/codeobject.h"
#include "runtime/compile/worker.h"
#include "tests/fuzz/fuzzing.h"

static const char *const samples[] = {"tests/corpus/codeobject/*", NULL};
static const char *const tokens[] = {"\177ELF",
                                     ".note",
                                     "AMDGPU",
                                     "amdhsa.kernels",
                                     ".vgpr_count",
                                     ".sgpr_count",
                                     "__CLANG_OFFLOAD_BUNDLE__",
                                     "hipv4-amdgcn-amd-amdhsa--gfx942",
                                     "ptxas info    : ",
                                     "Used 40 registers",
                                     "bytes spill stores",
                                     "Compiling entry function 'k' for 'sm_90a'",
                                     ".nv.info",
                                     ".text.k",
                                     NULL};
const fuzz_kind fuzz_this = {.name = "fuzz_codeobject", .samples = samples, .tokens = tokens, .most_bytes = 64 << 10, .cases = 100000};

static void read_one(const uint8_t *data, size_t size)
{
    codeobject object;
    char error[codeobject_error_size] = "";
    if (!codeobject_read(data, size, &object, error)) {
        if (!error[0]) fuzz_finding("refused without a word", NULL);
        return;
    }
    if (!memchr(object.arch, 0, sizeof object.arch) || !memchr(object.producer, 0, sizeof object.producer))
        fuzz_finding("a name without an end", NULL);
    for (size_t i = 0; i < object.n_kernels; i++)
        if (!object.kernels[i].name) fuzz_finding("a kernel without a name", NULL);
    codeobject_free(&object);
    fuzz_taken++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    const unsigned char *inner;
    size_t inner_size;
    if (!copy) return 0;
    if (size) memcpy(copy, data, size);
    read_one(copy, size);
    for (const char *const *arch = (const char *const[]){"gfx942", "gfx90a:xnack-", "sm_90a", ""}; **arch; arch++) {
        if (!codeobject_unbundle(copy, size, *arch, &inner, &inner_size)) continue;
        if (inner < copy || inner_size > size || (size_t)(inner - copy) > size - inner_size)
            fuzz_finding("a code object outside of its bundle", *arch);
        if (inner != copy) read_one(inner, inner_size);
    }
    kernel_facts facts = {.name = (char *)"k"};
    char *log = strndup((const char *)data, size);
    if (log) nvrtc_read_log(&log, "fuzz.hip", &facts, 1);
    free(log);
    free(copy);
    return 0;
}
