/* In: the lines of IR text that declare dims, values and outputs. Out: these, in the graph. Refuses: whatever ir/text/print.c would not
 * write. */
#include "ir/text/parse.h"
#include <ctype.h>
#include <stdint.h>
#include <string.h>

dtype read_dtype(reader *r)
{
    const char *names[dtype_count];
    for (int i = 0; i < dtype_count; i++) names[i] = dtype_name((dtype)i);
    return (dtype)scan_choice(&r->in, names, dtype_count, "dtype");
}

static extent read_extent(reader *r)
{
    scan_spaces(&r->in);
    const char *start = r->in.s;
    while (r->in.s < r->in.end && (isalnum((unsigned char)*r->in.s) || strchr("_+-*", *r->in.s)) && r->in.s - start <= max_word) r->in.s++;
    if (r->in.s == start) scan_expected(&r->in, "a size");
    bool negative = *start == '-'; /* extent_parse() takes no leading sign, so "-x" is read as "0-x" */
    position at = {r->in.line, (int)(start - r->in.line_start) + 1 - negative};
    char *expression = arena_printf(r->a, "%s%.*s", negative ? "0" : "", (int)(r->in.s - start), start);
    extent e = extent_parse(r->a, &r->b.p->dims, expression, at);
    bail_if_complained(r->a);
    return e;
}

/* Reads !line:column at the end of a line, if it is there. */
position read_place(reader *r)
{
    scan_spaces(&r->in);
    if (!scan_accept(&r->in, "!")) return (position){0, 0};
    position at;
    at.line = (int)scan_integer(&r->in, 1, 1 << 30, "line");
    scan_expect(&r->in, ":");
    at.column = (int)scan_integer(&r->in, 0, 1 << 30, "column");
    return at;
}

static const char *read_value_name(reader *r)
{
    scan_expect(&r->in, "%");
    return scan_name(&r->in, "the name of a value");
}

ir_value *read_value(reader *r)
{
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    const char *name = read_value_name(r);
    ir_value *v = names_find(&r->b.names, name);
    if (!v || v->kind == value_constant) bail(r->a, code_bad_input, at, "no line above makes %%%s", name);
    return v;
}

static void add_pending(reader *r, ir_value *view, const char *output, const char *name, position at)
{
    r->pending = build_grow(r->a, r->pending, r->pending_count, sizeof *r->pending);
    r->pending[r->pending_count++] = (pending){view, output, name, at};
}

/* Reads a row stride: `72`, or the name of a dynamic dim that each call sets. */
static void read_stride(reader *r, ir_value *v)
{
    const position at = scan_here(&r->in);
    const extent stride = read_extent(r);
    long long columns;
    if (extent_is_number(&stride, &v->root_stride)) {
        if (v->root_stride >= 1 && v->root_stride <= 1LL << 31) return;
        bail(r->a, code_bad_input, at, "stride is %lld; it is 1 to 2147483648", v->root_stride);
    }
    dim *d = extent_lone_dim(&stride, &r->b.p->dims);
    if (!d) bail(r->a, code_bad_input, at, "a stride is a number, or the name of a dynamic dim");
    if (!v->rank || !extent_is_number(&v->shape[v->rank - 1], &columns))
        bail(r->a, code_bad_input, at, "a stride needs rows whose columns are static");
    const char *fault = value_step_fault(r->a, v, d);
    if (fault) bail(r->a, code_bad_input, at, "%s", fault);
    value_set_step(v, d);
}

static void read_shape(reader *r, ir_value *v)
{
    v->type = read_dtype(r);
    scan_expect(&r->in, "[");
    for (scan_spaces(&r->in); !scan_accept(&r->in, "]"); scan_spaces(&r->in)) {
        if (v->rank) scan_expect(&r->in, ",");
        if (v->rank == max_rank) bail(r->a, code_bad_input, scan_here(&r->in), "more than %d axes", max_rank);
        v->shape[v->rank++] = read_extent(r);
        scan_spaces(&r->in);
    }
    if (scan_accept(&r->in, "/")) read_stride(r, v);
    scan_spaces(&r->in);
    if (v->root_stride || !scan_accept(&r->in, "in ")) return;
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    const char *root = read_value_name(r);
    add_pending(r, v, NULL, root, at);
    scan_expect(&r->in, "+");
    v->root_offset = scan_integer(&r->in, 0, 1LL << 62, "offset");
    scan_expect(&r->in, "/");
    v->root_stride = scan_integer(&r->in, 1, 1LL << 62, "stride");
}

ir_value *read_new_value(reader *r, value_kind kind)
{
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    const char *name = read_value_name(r);
    ir_value *other = names_find(&r->b.names, name);
    if (other && other->kind != value_constant) bail(r->a, code_bad_input, at, "a second value named %%%s", name);
    if (other) bail(r->a, code_bad_input, at, "%%%s is the name of a number here; take another", name);
    if (r->b.p->value_count == max_values) bail(r->a, code_bad_input, at, "more than %d values", max_values);
    ir_value *v = arena_alloc(r->a, sizeof *v);
    v->name = name, v->kind = kind, v->at = at;
    read_shape(r, v);
    return v;
}

void read_dim(reader *r)
{
    dim_table *dims = &r->b.p->dims;
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    if (dims->count == max_dims) bail(r->a, code_bad_input, at, "more than %d dims", max_dims);
    dim d = {.name = scan_name(&r->in, "the name of a dim")};
    if (strchr(d.name, '.')) bail(r->a, code_bad_input, at, "%s is no name of a dim", d.name);
    if (dim_find(dims, d.name)) bail(r->a, code_bad_input, at, "a second dim named %s", d.name);
    scan_expect(&r->in, "=");
    d.value = d.low = d.high = scan_integer(&r->in, 1, 1LL << 40, "value");
    scan_spaces(&r->in);
    if (scan_accept(&r->in, "in ")) {
        if (dims->dynamic_count == max_dynamic) bail(r->a, code_bad_input, at, "more than %d dynamic dims", max_dynamic);
        d.dynamic = true, d.slot = dims->dynamic_count++;
        d.low = scan_integer(&r->in, 1, d.value, "low end");
        scan_expect(&r->in, "..");
        d.high = scan_integer(&r->in, d.value, 1LL << 40, "high end");
    }
    d.at = read_place(r);
    dims->dims[dims->count++] = d;
    scan_end_line(&r->in);
}

static void read_range(reader *r, ir_value *v)
{
    const position at = scan_here(&r->in);
    v->has_range = true;
    v->range_low = read_extent(r);
    scan_expect(&r->in, "..");
    v->range_high = read_extent(r);
    const long long low = extent_value(&v->range_low, &r->b.p->dims), high = extent_value(&v->range_high, &r->b.p->dims);
    if (low > high || low < INT32_MIN || high > INT32_MAX)
        bail(r->a, code_bad_input, at, "a range of %lld to %lld is %s", low, high, low > high ? "empty" : "beyond 32 bits");
}

/* Reads rows=64..128/192: rows 64 to 127 of each 192. */
static void read_rows(reader *r, ir_value *v)
{
    const position at = scan_here(&r->in);
    row_range *rows = arena_alloc(r->a, sizeof *rows);
    long long made;
    rows->first = scan_integer(&r->in, 0, INT32_MAX, "row");
    scan_expect(&r->in, "..");
    rows->end = scan_integer(&r->in, 0, INT32_MAX, "row");
    if (scan_accept(&r->in, "/")) rows->every = scan_integer(&r->in, 1, INT32_MAX, "rows of a group");
    if (!row_range_makes(rows, extent_is_number(&v->shape[0], &made) ? made : 0))
        bail(r->a, code_bad_input, at, "this range cannot select the rows of %%%s", v->name);
    v->from_rows = rows;
}

void read_declared(reader *r, value_kind kind)
{
    ir_value *v = read_new_value(r, kind);
    scan_spaces(&r->in);
    if (kind == value_input && v->type == dtype_i32 && scan_accept(&r->in, "range=")) read_range(r, v);
    scan_spaces(&r->in);
    if (kind == value_param && scan_accept(&r->in, "from=")) v->from = scan_string(&r->in);
    scan_spaces(&r->in);
    if (v->from && scan_accept(&r->in, "rows=")) read_rows(r, v);
    scan_spaces(&r->in);
    if (v->from && v->rank == 2 && scan_accept(&r->in, "transposed")) v->from_transposed = true;
    build_add_value(&r->b, v);
    r->declared = build_grow(r->a, r->declared, r->declared_count, sizeof *r->declared);
    r->declared[r->declared_count++] = (declared){v, v->at, read_place(r)};
    scan_end_line(&r->in);
}

void read_output(reader *r)
{
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    const char *name = read_value_name(r);
    scan_expect(&r->in, "as ");
    scan_spaces(&r->in);
    const position output_at = scan_here(&r->in);
    const char *output = scan_word_or_string(&r->in, "the name of an output");
    if (!name_is_plain(output))
        bail(r->a, code_bad_input, output_at,
             "\"%.40s\" cannot name an output: a name has letters, digits and _, no digit first, at most %d of them", output, most_name);
    add_pending(r, NULL, output, name, at);
    scan_end_line(&r->in);
}
