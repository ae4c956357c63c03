/* In: a graph at any stage. Out: its text form, one op a line, the same bytes for the same graph.
 *
 *   ir 1 llama_ffn
 *   type bf16
 *   level tile
 *   dim  M = 37 in 1..64
 *   in   %x                bf16[M,256]
 *   par  %w_norm           bf16[256]
 *   out  %y as y
 *
 *   kernel k0 frame=mixed {
 *     phase h : rows {
 *       body %x.ss f32[M,1] = row_sumsq %x    !11:5 #0
 *       tile threads=128 team=32 v=8
 *     }
 *   }
 *
 * `stacked` after level block: several layers in a launch. `kinds 2` after that: layers of two kinds; `kind 1 #6 rope theta=10000` is what
 * the rope made from graph op 6 has in layers of kind 1. `prefix "model.layers.{layer}."` is the prefix of params' names in a whole
 * model's file; `from="w"` after a param is its tensor there, `rows=64..128/192` the rows of it: 64 to 127 of each 192.
 * `in %v+4/16` after a type is a view of %v (column offset 4, row stride 16), `/72` storage in rows of 72 elements; `!11:5` the place in
 * the spec; `#0` the graph op it comes from. The ops of a graph have no kernels and roles. Planning adds frames and tiles. Before a tile,
 * `not LAYER: WHY` is a rejected program, `from user` says who chose the tile if not the cost model; after it, `spilled scratch=60
 * vectors=0 layer=...` is a tile that spilled and is not chosen again. Columns are fixed, so a rename changes one line. Read back by
 * ir/text/parse.c. */
#include "ir/graph/fields.h"
#include "ir/graph/layer_kinds.h"
#include "ir/graph/reason.h"
#include "ir/graph/scaling.h"
#include "ir/text/words.h"
#include <ctype.h>
#include <string.h>

#define NAMES(...) \
    static const char *const names[] = {__VA_ARGS__}; \
    if (count) *count = sizeof names / sizeof *names; \
    return names
static const char *const *four_roles(size_t *count) { NAMES("", "pro", "body", "epi"); }
static const char *const *five_kinds(size_t *count) { NAMES("in", "par", "state", "", ""); }
#undef NAMES
const char *const *role_names(void) { return four_roles(NULL); }
const char *const *value_kind_names(void) { return five_kinds(NULL); }

/* Pads with spaces, at least one, up to the column, counted from `line`, the start of the line. */
static void pad(text *t, size_t line, size_t column)
{
    do text_append(t, " ", 1);
    while (t->size - line < column);
}

static void put_string(text *t, const char *s)
{
    text_append(t, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') text_printf(t, "\\%c", c);
        else if (c < 32 || c == 127) text_printf(t, "\\x%02x", c);
        else text_append(t, s, 1);
    }
    text_append(t, "\"", 1);
}

static void put_word(text *t, const char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("_-.", s[i])) n = 0;
    if (n) text_append(t, s, n);
    else put_string(t, s);
}

static void put_type(text *t, const ir_graph *p, const ir_value *v)
{
    text_printf(t, "%s[", dtype_name(v->type));
    for (int i = 0; i < v->rank; i++) {
        if (i) text_append(t, ",", 1);
        extent_print(t, &v->shape[i], &p->dims);
    }
    text_append(t, "]", 1);
    if (v->root) text_printf(t, " in %%%s+%lld/%lld", v->root->name, v->root_offset, v->root_stride);
    else if (v->step) text_printf(t, "/%s", v->step->name);
    else if (v->root_stride) text_printf(t, "/%lld", v->root_stride);
}

static void put_place(text *t, size_t line, position at)
{
    if (!at.line) return;
    pad(t, line, 96);
    text_printf(t, "!%d:%d", at.line, at.column);
}

static void put_dim(text *t, const dim *d)
{
    size_t line = t->size;
    text_printf(t, "dim  %s = %lld", d->name, d->value);
    if (d->dynamic) text_printf(t, " in %lld..%lld", d->low, d->high);
    put_place(t, line, d->at);
    text_append(t, "\n", 1);
}

static void put_prefix(text *t, const char *prefix)
{
    if (!prefix) return;
    text_printf(t, "prefix ");
    put_string(t, prefix);
    text_append(t, "\n", 1);
}

static void put_declared(text *t, const ir_graph *p, const ir_value *v)
{
    size_t line = t->size;
    text_append(t, value_kind_names()[v->kind], strlen(value_kind_names()[v->kind]));
    pad(t, line, 5);
    text_printf(t, "%%%s", v->name);
    pad(t, line, 24);
    put_type(t, p, v);
    if (v->has_range) {
        text_printf(t, " range=");
        extent_print(t, &v->range_low, &p->dims);
        text_printf(t, "..");
        extent_print(t, &v->range_high, &p->dims);
    }
    if (v->from) {
        text_printf(t, " from=");
        put_string(t, v->from);
    }
    if (v->from_rows) text_printf(t, " rows=%lld..%lld", v->from_rows->first, v->from_rows->end);
    if (v->from_rows && v->from_rows->every) text_printf(t, "/%lld", v->from_rows->every);
    if (v->from_transposed) text_printf(t, " transposed");
    put_place(t, line, v->at);
    text_append(t, "\n", 1);
}

static void put_output(text *t, const ir_value *v)
{
    if (!v->output) return;
    text_printf(t, "out  %%%s as ", v->name);
    put_word(t, v->output);
    text_append(t, "\n", 1);
}

/* Declared values first, then results in the order of their ops: an order that the text preserves. */
static void put_outputs(text *t, const ir_graph *p)
{
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->kind != value_result) put_output(t, p->values[i]);
    for (int i = 0; i < p->op_count; i++)
        for (int k = 0; k < p->ops[i]->output_count; k++) put_output(t, p->ops[i]->outputs[k]);
}

static void put_scaling(text *t, const rope_scaling *s)
{
    int count = 0;
    text_printf(t, "%s(", scaling_names[s->kind]);
    for (int i = 0; i < s->factor_count; i++) {
        if (count++) text_append(t, ",", 1);
        text_number(t, s->factors[i]);
    }
    for (int i = 0; i < scaling_number_count; i++) {
        if (scaling_numbers[i].kind != s->kind) continue;
        if (count++) text_append(t, ",", 1);
        text_number(t, scaling_value(s, &scaling_numbers[i]));
    }
    text_append(t, ")", 1);
}

static void put_numbers(text *t, const number_list *list)
{
    for (int i = 0; i < list->count; i++) {
        text_append(t, i ? "," : "(", 1);
        text_number(t, list->at[i]);
    }
    text_append(t, ")", 1);
}

static void put_field(text *t, const ir_op *op, const attribute_field *f)
{
    const void *field = (const char *)&op->attributes + f->offset;
    /* Always printed: the `to` of a cast and the `pairing` of a rope must be given, although f32 and half are their zeros. */
    bool always = (f->type == field_dtype && op->kind == op_cast) || (f->type == field_pairing && op->kind == op_rope);
    if (!always && !field_is_set(&op->attributes, f)) return;
    text_printf(t, f->type == field_bool ? " %s" : " %s=", f->key);
    switch (f->type) {
    case field_int: text_printf(t, "%lld", *(const long long *)field); break;
    case field_float: text_number(t, *(const double *)field); break;
    case field_bool: break;
    case field_dtype: text_printf(t, "%s", dtype_name(*(const dtype *)field)); break;
    case field_pairing: text_printf(t, *(const rope_pairing *)field == pairing_half ? "half" : "interleaved"); break;
    case field_layout: text_printf(t, "in_out"); break;
    case field_value: text_printf(t, "%%%s", (*(ir_value *const *)field)->name); break;
    case field_scaling: put_scaling(t, field); break;
    case field_numbers: put_numbers(t, field); break;
    }
}

static void put_operand(text *t, const ir_value *v)
{
    if (v->kind == value_constant) text_number(t, v->constant);
    else text_printf(t, "%%%s", v->name);
}

static void put_op(text *t, const ir_graph *p, const ir_op *op, bool in_phase)
{
    size_t line = t->size, margin = in_phase ? 9 : 0;
    if (in_phase) text_printf(t, "    %-5s", role_names()[op->role]);
    for (int i = 0; i < op->output_count; i++) {
        text_printf(t, i ? ", %%%s" : "%%%s", op->outputs[i]->name);
        if (i == 0) pad(t, line, margin + 16);
        else text_append(t, " ", 1);
        put_type(t, p, op->outputs[i]);
    }
    pad(t, line, margin + 36);
    text_printf(t, "= %s", op_table[op->kind].name);
    for (int i = 0; i < op->input_count; i++) {
        text_append(t, i ? ", " : " ", i ? 2 : 1);
        put_operand(t, op->inputs[i]);
    }
    for (int i = 0; i < attribute_field_count; i++) put_field(t, op, &attribute_fields[i]);
    put_place(t, line, op->at);
    if (!op->at.line) pad(t, line, 96);
    text_printf(t, " #%d\n", op->origin);
}

char *ir_print_ops(arena *a, const ir_graph *p, const ir_phase *phase)
{
    text t = {.a = a};
    for (int i = 0; i < phase->op_count; i++) put_op(&t, p, phase->ops[i], true);
    return t.data ? t.data : arena_strndup(a, "", 0);
}

static void put_settings(text *t, const ir_tile *tile)
{
    const program_info *p = &program_table[tile->program];
    if (family_programs(p->family) > 1) text_printf(t, " layer=%s", layer_names(NULL)[p->layer]);
    for (int i = 0; i < p->field_count; i++)
        if (tile->given & 1u << i) text_printf(t, " %s=%d", p->fields[i].name, tile->at[i]);
    text_printf(t, "\n");
}

static void put_spilled(text *t, const spilled_tile *s)
{
    text_printf(t, "    spilled scratch=%d vectors=%d", s->scratch, s->vectors);
    put_settings(t, &s->tile);
}

static void put_phase(text *t, const ir_graph *p, const ir_phase *phase)
{
    text_printf(t, "  phase %s : %s", phase->name, family_names(NULL)[phase->family]);
    for (int i = 0; i < phase->after_count; i++)
        text_printf(t, "%s%s", i ? ", " : " after ", phase->after[i]->name);
    text_printf(t, " {\n");
    for (int i = 0; i < phase->op_count; i++) put_op(t, p, phase->ops[i], true);
    for (int i = 0; i < phase->refused_count; i++)
        text_printf(t, "    not %s: %s\n", layer_names(NULL)[phase->refused[i].layer], phase->refused[i].why);
    if (phase->from != tile_of_model) text_printf(t, "    from %s\n", source_names(NULL)[phase->from]);
    if (phase->tile.program) text_printf(t, "    tile"), put_settings(t, &phase->tile);
    for (int i = 0; i < phase->spilled_count; i++) put_spilled(t, &phase->spilled[i]);
    text_printf(t, "  }\n");
}

static void put_kernel(text *t, const ir_graph *p, const ir_kernel *k)
{
    text_printf(t, "kernel %s", k->name);
    if (k->phase_count && (*k->phases)->tile.program) text_printf(t, " frame=%s", frame_names(NULL)[kernel_frame(p, k)]);
    text_printf(t, " {\n");
    for (int i = 0; i < k->phase_count; i++) put_phase(t, p, k->phases[i]);
    text_printf(t, "}\n");
}

/* Only the code is read back; the sentence is for users. */
static void put_note(text *t, const fusion_note *n)
{
    text_printf(t, "note %s %%%s -> %%%s: %s\n", n->code, n->value->name, n->user->outputs[0]->name, reason_sentence(n->code));
}

static void put_kinds(text *t, const layer_kinds *k)
{
    if (!k) return;
    text_printf(t, "kinds %d\n", k->count);
    for (int i = 0; i < k->list_count; i++) {
        const kind_numbers *n = &k->list[i];
        const ir_op of = {.kind = n->op, .attributes = n->attributes};
        text_printf(t, "kind %d #%d %s", n->kind, n->origin, op_table[n->op].name);
        for (int f = 0; f < attribute_field_count; f++)
            if (kinds_may_differ(n->op, attribute_fields[f].key)) put_field(t, &of, &attribute_fields[f]);
        text_append(t, "\n", 1);
    }
}

char *ir_print(arena *a, const ir_graph *p)
{
    text t = {.a = a};
    text_printf(&t, "ir 1 ");
    put_word(&t, p->name);
    text_printf(&t, "\ntype %s\nlevel %s\n", dtype_name(p->type), level_names(NULL)[p->level]);
    if (p->stacked) text_printf(&t, "stacked\n");
    put_kinds(&t, p->kinds);
    if (p->level >= fusion_tile && !p->input_sums) text_printf(&t, "without input_sums\n");
    if (p->device) text_printf(&t, "device %s\n", p->device);
    put_prefix(&t, p->prefix);
    for (int i = 0; i < p->dims.count; i++) put_dim(&t, &p->dims.dims[i]);
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->kind < value_constant) put_declared(&t, p, p->values[i]);
    put_outputs(&t, p);
    text_printf(&t, "\n");
    for (int i = 0; i < p->op_count && !p->kernel_count; i++) put_op(&t, p, p->ops[i], false);
    for (int i = 0; i < p->kernel_count; i++) put_kernel(&t, p, p->kernels[i]);
    for (int i = 0; i < p->note_count; i++)
        put_note(&t, &p->notes[i]);
    return t.data;
}
