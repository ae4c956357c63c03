/* In, out and refusals: ir/base/model_hint.h. */
#include "ir/base/model_hint.h"
#include <stdlib.h>
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

/* "model.layers.12." becomes "model.layers.{layer}.", *layer 12; -1: it has no number. */
static const char *general_prefix(arena *a, const char *prefix, long long *layer)
{
    static const char digits[] = "0123456789";
    const char *last = NULL;
    *layer = -1;
    for (const char *s = prefix; (s = strchr(s, '.')); s++)
        if (s[1] && strspn(s + 1, digits) && s[1 + strspn(s + 1, digits)] == '.') last = s + 1;
    if (strspn(prefix, digits) && prefix[strspn(prefix, digits)] == '.' && !last) last = prefix;
    if (!last || strspn(last, digits) > 9) return prefix;
    *layer = atoll(last);
    return arena_printf(a, "%.*s{layer}%s", (int)(last - prefix), prefix, last + strspn(last, digits));
}

const char *model_tensor_hint(arena *a, const char *name, const char *there, const char *prefix, long long layer)
{
    long long number;
    const char *fits = general_prefix(a, arena_printf(a, "%.*s", (int)(strlen(there) - strlen(name)), there), &number);
    if (prefix && strcmp(prefix, fits) == 0 && layer < 0) return arena_printf(a, "; choose a layer with --layer=N; there is %.200s", there);
    if (prefix && strcmp(prefix, fits) == 0) return arena_printf(a, " of layer %lld; there is %.200s", layer, there);
    return arena_printf(a, "; there is %.200s: write prefix: %s in the spec%s", there, fits,
                        number < 0 ? "" : arena_printf(a, ", and say --layer=%lld", number));
}
