/* In: bytes read as a model's config.json. A finding: a refusal without a message, an undocumented exit code, or a written spec that the
 * reader refuses for another reason than its sizes. */
#include "ir/ir.h"
#include "runtime/model/spec.h"
#include "tests/fuzz/fuzzing.h"
#include <string.h>

static const char *const samples[] = {"tests/models/*.json", NULL};
static const char *const tokens[] = {"0",
                                     "1",
                                     "-1",
                                     "0.5",
                                     "2147483647",
                                     "9223372036854775807",
                                     "1e300",
                                     "null",
                                     "true",
                                     "false",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     ",",
                                     ":",
                                     "\"",
                                     "\\u0000",
                                     "\xff",
                                     "\"linear\"",
                                     "\"llama3\"",
                                     "\"default\"",
                                     "\"full_attention\"",
                                     "\"sliding_attention\"",
                                     "\"rope_parameters\": {",
                                     "\"rope_scaling\": {",
                                     "\"layer_types\": [",
                                     "\"no_rope_layers\": [",
                                     "\"text_config\": {",
#define KEY(fact, kind, names) "\"" #fact "\": ",
#include "runtime/model/key.def"
#define FAMILY(type, ...) "\"" type "\"",
#include "runtime/model/family.def"
                                     NULL};

const fuzz_kind fuzz_this =
    {.name = "fuzz_config", .samples = samples, .tokens = tokens, .most_bytes = 8 << 10, .text = true, .cases = 40000};

typedef struct one_config {
    arena *a;
    const uint8_t *data;
    size_t size;
    const char *spec; /* of the layer tried last */
} one_config;

static void import_all(void *argument)
{
    one_config *o = argument;
    const model_config *c = config_read(o->a, (const char *)o->data, o->size, "config.json", NULL);
    const long long count = model_layers(c);
    for (long long i = 0; i < count && i < 8; i++) {
        const layer_facts l = layer_read(c, i, 0);
        const spec_request r = {c, &l, "a layer", c->family->prefixes[0], i % 2 && !c->family->encoder, i % 2 && c->family->encoder};
        o->spec = spec_write(o->a, &r);
        (void)graph_read(o->a, o->spec, strlen(o->spec), "spec.yaml", NULL);
        o->spec = NULL;
    }
}

/* True if a spec was refused because of the model's sizes; any other refusal is a defect of the importer. */
static bool is_of_sizes(const char *message)
{
    static const char *const known[] = {"2^40",    "2147483647", "number", "range", "a dim is", "elements",
                                        "at most", "f32",        "eps:",   "theta", "beyond"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(message, known[i])) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_config o = {arena_new(), data, size, NULL};
    const tfgen_code code = arena_run(o.a, import_all, &o);
    fuzz_taken += code == code_ok;
    if (code != code_ok && arena_diagnostics(o.a)[0] == 0) fuzz_finding("refused without a word", NULL);
    if (code != code_ok && code != code_bad_input && code != code_unsupported) fuzz_finding("an end that is not documented", NULL);
    if (o.spec && !is_of_sizes(arena_diagnostics(o.a))) fuzz_finding("a spec that is none", arena_diagnostics(o.a));
    arena_free(o.a);
    return 0;
}
