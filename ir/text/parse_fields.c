/* Reads the attributes of ops. Contract: ir/text/parse.h. */
#include "ir/graph/fields.h"
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
