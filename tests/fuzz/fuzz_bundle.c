/* In: bytes read as a bundle. A finding: a read beyond them, a kernel found that is not there, or a refusal without a message. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/module/bundle.h"
#include "tests/fuzz/fuzzing.h"

static const char *const samples[] = {"tests/corpus/bundle/*", NULL};
static const char *const tokens[] = {"tfbundle", "gfx90a", "gfx942", "sm_80", "host", "k0", "k1", NULL};

static void repair(fuzz_input *m)
{
    if (m->size >= 24 && m->data[m->size - 1] % 4) /* a quarter of the wrong sizes stay wrong */
        for (int i = 0; i < 8; i++) m->data[16 + i] = (uint8_t)((uint64_t)m->size >> 8 * i);
    bundle_rehash(m->data, m->size);
}

const fuzz_kind fuzz_this =
    {.name = "fuzz_bundle", .samples = samples, .tokens = tokens, .most_bytes = 16 << 10, .repair = repair, .cases = 30000};

static void look_up(const bundle *b, const uint8_t *bytes, size_t size, const char *arch, const char *kernel)
{
    static const char *const sources[] = {"a", "b", "source"};
    char error[bundle_error_size];
    for (int i = 0; i < 3; i++) {
        const void *code = NULL;
        size_t length = 0;
        error[0] = 0;
        const bundle_found found = bundle_find(b, arch, kernel, sources[i], strlen(sources[i]), &code, &length, error);
        if (found != bundle_ok && !error[0]) fuzz_finding("missing without a word", kernel);
        if (found == bundle_ok &&
            ((const uint8_t *)code < bytes || length > size || (size_t)((const uint8_t *)code - bytes) > size - length))
            fuzz_finding("code outside of the bundle", kernel);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = NULL; /* aligned, and exactly as long, so that a sanitizer sees a step beyond it */
    bundle b;
    char error[bundle_error_size] = "";
    if (posix_memalign((void **)&copy, 16, size ? size : 1)) return 0;
    if (size) memcpy(copy, data, size);
    if (!bundle_open(copy, size, &b, error)) {
        if (!error[0]) fuzz_finding("refused without a word", NULL);
        return free(copy), 0;
    }
    bundle_item item;
    fuzz_taken++;
    for (unsigned i = 0; bundle_at(&b, i, &item); i++) {
        if (strlen(item.arch) + strlen(item.kernel) > size) fuzz_finding("names longer than the bundle", NULL);
        if (i < 8) look_up(&b, copy, size, item.arch, item.kernel);
    }
    look_up(&b, copy, size, "gfx90a:sramecc+:xnack-", "k0");
    look_up(&b, copy, size, "sm_89", "k0");
    look_up(&b, copy, size, "host", "k0");
    free(copy);
    return 0;
}
