/* Reads the attributes of ops, and what ops have in each kind of layers. Contract: ir/text/parse.h. */
#include "ir/graph/fields.h"
#include "ir/graph/layer_kinds.h"
#include "ir/graph/scaling.h"
#include "ir/text/parse.h"

static number_list read_list(reader *r)
{
    double *list = NULL;
    int count = 0;
    do {
        list = build_grow(r->a, list, count, sizeof *list);
        list[count++] = scan_double(&r->in);
    } while (count < most_listed_numbers && scan_accept(&r->in, ","));
    return (number_list){list, count};
}

static void read_numbers(reader *r, number_list *list)
{
    scan_expect(&r->in, "(");
    *list = read_list(r);
    scan_expect(&r->in, ")");
}

static void read_scaling(reader *r, rope_scaling *s)
{
    s->kind = (rope_scaling_kind)scan_choice(&r->in, scaling_names, scaling_count, "rope scaling");
    scan_expect(&r->in, "(");
    if (s->kind == scaling_longrope) {
        const number_list factors = read_list(r);
        s->factors = factors.at, s->factor_count = factors.count;
    }
    int count = 0;
    for (int i = 0; i < scaling_number_count; i++) {
        if (scaling_numbers[i].kind != s->kind) continue;
        if (count++) scan_expect(&r->in, ",");
        *scaling_at(s, &scaling_numbers[i]) = scan_double(&r->in);
    }
    scan_expect(&r->in, ")");
}

static void read_field(reader *r, ir_op *op, const attribute_field *f)
{
    static const char *const pairings[] = {"half", "interleaved"}, *const layouts[] = {"out_in", "in_out"};
    void *field = (char *)&op->attributes + f->offset;
    if (f->type == field_bool) {
        *(bool *)field = true;
        return;
    }
    scan_expect(&r->in, "=");
    switch (f->type) {
    case field_int: *(long long *)field = scan_integer(&r->in, 0, 1LL << 40, f->key); break;
    case field_float: *(double *)field = scan_double(&r->in); break;
    case field_dtype: *(dtype *)field = read_dtype(r); break;
    case field_pairing: *(rope_pairing *)field = (rope_pairing)scan_choice(&r->in, pairings, 2, "pairing"); break;
    case field_layout: *(weight_layout *)field = (weight_layout)scan_choice(&r->in, layouts, 2, "layout"); break;
    case field_value: *(ir_value **)field = read_value(r); break;
    case field_scaling: read_scaling(r, field); break;
    case field_numbers: read_numbers(r, field); break;
    case field_bool: break;
    }
}

void read_fields(reader *r, ir_op *op)
{
    const char *keys[32];
    for (int i = 0; i < attribute_field_count; i++) keys[i] = attribute_fields[i].key;
    while (!scan_at_line_end(&r->in) && *r->in.s != '!' && *r->in.s != '#') {
        position at = scan_here(&r->in);
        int i = scan_choice(&r->in, keys, (size_t)attribute_field_count, "attribute");
        if (!op_takes(op->kind, keys[i])) bail(r->a, code_bad_input, at, "%s takes no %s", op_table[op->kind].name, keys[i]);
        if (field_is_set(&op->attributes, &attribute_fields[i])) bail(r->a, code_bad_input, at, "a second %s", keys[i]);
        read_field(r, op, &attribute_fields[i]);
    }
}

/* ---- kinds of layers */
enum { most_kind_lines = 1024 };

/* Reads the line of one op in one kind. Those of an op follow each other, in the order of the kinds. */
static void read_kind(reader *r, layer_kinds *k)
{
    static const char *const names[] = {"rope", "attention"};
    static const op_kind ops[] = {op_rope, op_attention};
    const int kind = k->list_count % k->count;
    const kind_numbers *first = kind ? &k->list[k->list_count - kind] : NULL;
    const position at = scan_here(&r->in);
    if (k->list_count == most_kind_lines) bail(r->a, code_bad_input, at, "more than %d lines of kinds", most_kind_lines);
    if (scan_integer(&r->in, 0, most_layer_kinds, "kind of layers") != kind)
        bail(r->a, code_bad_input, at, "this line should be of kind %d", kind);
    scan_spaces(&r->in);
    scan_expect(&r->in, "#");
    kind_numbers n = {.kind = kind, .origin = (int)scan_integer(&r->in, 0, 1 << 24, "number of the graph op"), .at = at};
    n.op = ops[scan_choice(&r->in, names, 2, "op")];
    if (first && (n.origin != first->origin || n.op != first->op))
        bail(r->a, code_bad_input, at, "this line should be of the same op as the one above");
    ir_op op = {.kind = n.op};
    read_fields(r, &op);
    for (int i = 0; i < attribute_field_count; i++)
        if (field_is_set(&op.attributes, &attribute_fields[i]) && !kinds_may_differ(n.op, attribute_fields[i].key))
            bail(r->a, code_bad_input, at, "kinds cannot differ in %s", attribute_fields[i].key);
    n.attributes = op.attributes;
    k->list = build_grow(r->a, k->list, k->list_count, sizeof *k->list);
    k->list[k->list_count++] = n;
    scan_end_line(&r->in);
}

void read_kinds(reader *r)
{
    if (!scan_accept(&r->in, "kinds ")) return;
    layer_kinds *k = arena_alloc(r->a, sizeof *k);
    *k = (layer_kinds){.count = (int)scan_integer(&r->in, 2, most_layer_kinds, "number of kinds of layers")};
    scan_end_line(&r->in);
    while (scan_accept(&r->in, "kind ")) read_kind(r, k);
    if (k->list_count % k->count) scan_expected(&r->in, "a line of the next kind");
    r->b.p->kinds = k;
}
