/* In, out and refusals: ir/base/model_hint.h. */
#include "ir/base/model_hint.h"
#include <string.h>

/* The shipped spec of a block like the model's. */
static const char *spec_like(const char *model_type)
{
    static const char *const others[][2] = {{"gpt2", "gpt2-block"}, {"bert", "bert-block"}, {"roberta", "bert-block"}};
    for (size_t i = 0; model_type && i < sizeof others / sizeof *others; i++)
        if (strcmp(model_type, others[i][0]) == 0) return others[i][1];
    return "llama-block";
}

const char *model_config_hint(arena *a, const char *model_type)
{
    return arena_printf(a,
                        "this is the configuration of a whole model%s%.40s%s, not the spec of a block: begin with specs/%s.yaml, and set "
                        "its dims to hidden_size, num_attention_heads, num_key_value_heads and intermediate_size",
                        model_type ? " (model_type " : "", model_type ? model_type : "", model_type ? ")" : "", spec_like(model_type));
}

const char *model_tensor_like(const char *name, const char *const *names, size_t count)
{
    const size_t n = strlen(name);
    const char *first = NULL;
    for (size_t i = 0; n && i < count; i++) {
        const size_t size = strlen(names[i]);
        const bool like = size > n + 1 && names[i][size - n - 1] == '.' && strcmp(names[i] + size - n, name) == 0;
        if (like && (!first || strcmp(names[i], first) < 0)) first = names[i];
    }
    return first;
}

const char *model_tensor_hint(arena *a, const char *name, const char *there)
{
    return arena_printf(a,
                        "; %.200s is: the file has a whole model, so write the prefix %.*s in the spec (from: %.200s), or save one "
                        "block's tensors without it",
                        there, (int)(strlen(there) - strlen(name)), there, there);
}

const char *model_index_hint(arena *a, int files, const char *name, const char *there, const char *file)
{
    const char *what = arena_printf(a, "is the index of a model in %d files and has no tensors itself", files);
    if (!there)
        return arena_printf(a, "%s, and none of them has %.200s; name a .safetensors file that has the block's tensors", what, name);
    return arena_printf(a, "%s; %.200s is in %.200s: name that file%s", what, there, file,
                        strcmp(there, name) ? ", and write the prefix in the spec's from:" : "");
}
