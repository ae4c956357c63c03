/* In: a drawn spec (random_spec). Out: its YAML text. Other functions drop its unused ops, reorder its ops, rename what it names, and find
 * whether the sequences of its batch are independent. */
#include "runtime/cli/random/random_spec.h"
#include "runtime/cli/random/random_words.h"
#include "runtime/data/random.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- what is needed */
static void need_op(const random_op *op, bool *needed)
{
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i].value >= 0) needed[op->in[i].value] = true;
    for (int i = 0; i < op->attribute_count; i++)
        if (op->attributes[i].value >= 0) needed[op->attributes[i].value] = true;
}

static bool makes_needed(const random_op *op, const bool *needed)
{
    bool any = op->kind == op_kv_append; /* it changes a state */
    for (int i = 0; i < op->out_count; i++) any = any || needed[op->out[i]];
    return any;
}

void random_spec_settle(random_spec *s)
{
    bool needed[random_most_values], kept[random_most_ops];
    memcpy(needed, s->output, sizeof needed);
    for (int i = s->op_count - 1; i >= 0; i--) {
        kept[i] = makes_needed(&s->ops[i], needed);
        if (kept[i]) need_op(&s->ops[i], needed);
    }
    int count = 0;
    for (int i = 0; i < s->op_count; i++)
        if (kept[i]) s->ops[count++] = s->ops[i];
    s->op_count = count;
    for (int i = 0; i < s->op_count; i++)
        for (int k = 0; k < s->ops[i].out_count; k++)
            if (!needed[s->ops[i].out[k]] && s->ops[i].kind != op_kv_append) s->output[s->ops[i].out[k]] = true;
    for (int i = 0; i < s->value_count; i++) s->output[i] = s->output[i] && s->values[i].kind == value_result && !s->values[i].cache;
}

static void used_values(const random_spec *s, bool *used)
{
    memset(used, 0, random_most_values * sizeof *used);
    for (int i = 0; i < s->op_count; i++) need_op(&s->ops[i], used);
}

/* ---- dims */
static void use_names(const random_spec *s, const char *words, bool *used)
{
    while (*words) {
        size_t n = 0;
        while (isalnum((unsigned char)words[n])) n++;
        for (int d = 0; n && d < s->dim_count; d++)
            if (strlen(s->dims[d].name) == n && memcmp(s->dims[d].name, words, n) == 0) used[d] = true;
        words += n ? n : 1;
    }
}

static void used_dims(const random_spec *s, const bool *values, bool *used)
{
    memset(used, 0, random_most_dims * sizeof *used);
    for (int i = 0; i < s->value_count; i++) {
        const random_value *v = &s->values[i];
        if (v->stride_dim && ((v->kind == value_input && values[i]) || s->output[i])) used[v->stride_dim - 1] = true;
        if (!values[i] || s->values[i].kind == value_result) continue;
        for (int k = 0; k < s->values[i].rank; k++) use_names(s, s->values[i].shape[k].text, used);
        use_names(s, s->values[i].range, used);
    }
    for (int i = 0; i < s->op_count; i++)
        for (int k = 0; k < s->ops[i].attribute_count; k++)
            if (s->ops[i].attributes[k].value < 0) use_names(s, s->ops[i].attributes[k].text, used);
}

/* ---- names */
typedef struct spec_names {
    const char *block, *dims[random_most_dims], *values[random_most_values];
} spec_names;

static spec_names own_names(const random_spec *s)
{
    spec_names n = {.block = s->kind};
    for (int i = 0; i < s->dim_count; i++) n.dims[i] = s->dims[i].name;
    for (int i = 0; i < s->value_count; i++) n.values[i] = s->values[i].name;
    return n;
}

static spec_names names_of(const random_spec *s)
{
    int count;
    if (!s->names) return own_names(s);
    const char *const *words = random_words(&count);
    const uint64_t stream = random_stream("names");
    int step = 1 + (int)(random_bits(s->names, stream, 0) % 4096), at = (int)(random_bits(s->names, stream, 1) % (uint64_t)count);
    for (int x = count, y = step; y;) { /* no common factor, so no word comes twice */
        const int rest = x % y;
        x = y, y = rest;
        if (!y && x > 1) x = count, y = ++step;
    }
    spec_names n = {0};
    while (words[at][0] == '_') at = (at + step) % count;
    n.block = words[at];
    for (int i = 0; i < s->dim_count; i++) n.dims[i] = words[at = (at + step) % count];
    for (int i = 0; i < s->value_count; i++) n.values[i] = words[at = (at + step) % count];
    return n;
}

const char *random_spec_dim(const random_spec *s, int i) { return names_of(s).dims[i]; }

/* ---- text */
static void write_words(text *t, const random_spec *s, const spec_names *n, const char *words)
{
    for (size_t size; *words; words += size) {
        int d = s->dim_count;
        for (size = 0; isalnum((unsigned char)words[size]);) size++;
        while (size && --d >= 0 && (strlen(s->dims[d].name) != size || memcmp(s->dims[d].name, words, size) != 0)) {}
        if (!size) size = 1, d = -1;
        if (d >= 0) text_printf(t, "%s", n->dims[d]);
        else text_append(t, words, size);
    }
}

static void write_dims(text *t, const random_spec *s, const spec_names *n, const bool *used)
{
    int count = 0, dynamic = 0;
    for (int d = 0; d < s->dim_count; d++)
        if (used[d]) text_printf(t, "%s%s: %lld", count++ ? ", " : "dims: {", n->dims[d], s->dims[d].value);
    if (count) text_printf(t, "}\n");
    for (int d = 0; d < s->dim_count; d++)
        if (used[d] && s->dims[d].dynamic)
            text_printf(t, "%s%s: [%lld, %lld]", dynamic++ ? ", " : "dynamic: {", n->dims[d], s->dims[d].low, s->dims[d].high);
    if (dynamic) text_printf(t, "}\n");
}

static void write_stride(text *t, const spec_names *n, const random_value *v)
{
    if (v->stride_dim) text_printf(t, ", stride: %s", n->dims[v->stride_dim - 1]);
    else if (v->stride) text_printf(t, ", stride: %lld", v->stride);
}

static void write_shape(text *t, const random_spec *s, const spec_names *n, const random_value *v)
{
    for (int i = 0; i < v->rank; i++) {
        text_printf(t, "%s", i ? ", " : "[");
        write_words(t, s, n, v->shape[i].text);
    }
    text_printf(t, "]");
}

static void write_declarations(text *t, const random_spec *s, const spec_names *n, const bool *used, value_kind kind, const char *section)
{
    int count = 0;
    for (int i = 0; i < s->value_count; i++) {
        const random_value *v = &s->values[i];
        if (!used[i] || v->kind != kind) continue;
        if (!count++) text_printf(t, "%s:\n", section);
        const bool apart = kind == value_input && v->stride, plain = v->type == random_spec_type && !v->range[0] && !apart;
        text_printf(t, "  %s: %s", n->values[i], plain ? "" : "{shape: ");
        write_shape(t, s, n, v);
        if (v->type != random_spec_type) text_printf(t, ", dtype: %s", dtype_name((dtype)v->type));
        if (v->range[0]) {
            text_printf(t, ", range: [");
            write_words(t, s, n, v->range);
            text_printf(t, "]");
        }
        if (apart) write_stride(t, n, v);
        text_printf(t, "%s\n", plain ? "" : "}");
    }
}

static void write_op(text *t, const random_spec *s, const spec_names *n, const random_op *op)
{
    text_printf(t, "  - {out: %s", op->out_count > 1 ? "[" : "");
    for (int i = 0; i < op->out_count; i++) text_printf(t, "%s%s", i ? ", " : "", n->values[op->out[i]]);
    text_printf(t, "%s, op: %s, in: [", op->out_count > 1 ? "]" : "", op_table[op->kind].name);
    for (int i = 0; i < op->in_count; i++)
        text_printf(t, "%s%s", i ? ", " : "", op->in[i].value >= 0 ? n->values[op->in[i].value] : op->in[i].number);
    text_printf(t, "]");
    for (int i = 0; i < op->attribute_count; i++) {
        const random_attribute *b = &op->attributes[i];
        text_printf(t, ", %s: ", b->key);
        if (b->value >= 0) text_printf(t, "%s", n->values[b->value]);
        else write_words(t, s, n, b->text);
    }
    text_printf(t, "}\n");
}

char *random_spec_text(arena *a, const random_spec *s, const char *comment)
{
    bool used[random_most_values], dims[random_most_dims];
    const spec_names n = names_of(s);
    text t = {.a = a};
    int outputs = 0;
    used_values(s, used);
    used_dims(s, used, dims);
    if (comment && *comment) text_printf(&t, "# %s\n", comment);
    text_printf(&t, "block: %s\ndtype: %s\n", n.block, dtype_name(s->type));
    write_dims(&t, s, &n, dims);
    write_declarations(&t, s, &n, used, value_input, "inputs");
    if (!strstr(t.data, "\ninputs:")) text_printf(&t, "inputs: {}\n");
    write_declarations(&t, s, &n, used, value_param, "params");
    write_declarations(&t, s, &n, used, value_state, "state");
    text_printf(&t, "ops:\n");
    for (int i = 0; i < s->op_count; i++) write_op(&t, s, &n, &s->ops[i]);
    for (int i = 0; i < s->value_count; i++) {
        const random_value *v = &s->values[i];
        if (!s->output[i]) continue;
        text_printf(&t, "%sy%s: ", outputs++ ? ", " : "outputs: {", v->name + 1);
        text_printf(&t, "%s%s", v->stride ? "{value: " : "", n.values[i]);
        write_stride(&t, &n, v);
        text_printf(&t, "%s", v->stride ? "}" : "");
    }
    text_printf(&t, "%s}\n", outputs ? "" : "outputs: {");
    return t.data;
}

/* ---- order, other names */
static bool ready(const random_spec *s, const random_op *op, const bool *made)
{
    bool read[random_most_values] = {false};
    need_op(op, read);
    for (int i = 0; i < s->value_count; i++)
        if (read[i] && s->values[i].kind == value_result && !made[i]) return false;
    return true;
}

void random_spec_shuffle(random_spec *s, uint64_t seed)
{
    bool made[random_most_values] = {false}, taken[random_most_ops] = {false};
    random_op order[random_most_ops];
    for (int n = 0; n < s->op_count; n++) {
        int free_ops[random_most_ops], count = 0;
        for (int i = 0; i < s->op_count; i++)
            if (!taken[i] && ready(s, &s->ops[i], made)) free_ops[count++] = i;
        const int next = free_ops[random_bits(seed, random_stream("order"), (uint64_t)n) % (uint64_t)count];
        taken[next] = true;
        order[n] = s->ops[next];
        for (int k = 0; k < order[n].out_count; k++) made[order[n].out[k]] = true;
    }
    memcpy(s->ops, order, (size_t)s->op_count * sizeof *order);
}

void random_spec_rename(random_spec *s, uint64_t seed) { s->names = random_bits(seed, random_stream("rename"), s->names) | 1; }

/* ---- the batch */
static bool names_batch(const char *words)
{
    for (const char *at = words; (at = strchr(at, 'B')); at++)
        if ((at == words || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[1])) return true;
    return false;
}

static bool first_alone(const random_axis *shape, int rank)
{
    bool good = rank < 1 || strcmp(shape[0].text, "B") == 0 || !names_batch(shape[0].text);
    for (int i = 1; i < rank; i++) good = good && !names_batch(shape[i].text);
    return good;
}

/* `in` has B as its first axis. True if the op computes each sequence of the batch from that sequence alone, and its results' first axes
 * are written with B (a reshape may have B's value there, a number, which would be wrong at another B). */
static bool keeps_batch(const random_spec *s, const random_op *op, const random_value *in)
{
    bool good = in->rank > (op->kind == op_matmul ? 2 : 1); /* B is the columns of a vector, and may be K of a matrix in a matmul */
    for (int k = 0; k < op->out_count; k++) good = good && names_batch(s->values[op->out[k]].shape[0].text);
    return good;
}

bool random_spec_is_batched(const random_spec *s)
{
    bool values[random_most_values], named[random_most_dims];
    used_values(s, values);
    used_dims(s, values, named);
    bool good = s->dim_count > 0 && named[0] && strcmp(s->dims[0].name, "B") == 0 && s->dims[0].value > 1 && s->dims[0].low == 1;
    for (int i = 0; i < s->value_count; i++) good = good && first_alone(s->values[i].shape, s->values[i].rank);
    for (int i = 0; i < s->op_count; i++) {
        const random_op *op = &s->ops[i];
        for (int k = 0; k < op->in_count; k++) {
            const random_value *v = op->in[k].value >= 0 ? &s->values[op->in[k].value] : NULL;
            if (v && names_batch(v->shape[0].text)) good = good && keeps_batch(s, op, v);
        }
    }
    return good;
}
