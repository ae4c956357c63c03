/* In: the text form of ir/text.c, from anybody. Out: the program, verified, so that later stages may trust it as they trust a pass.
 * Refuses: anything else, with file:line:col of the first error; more than max_text bytes, max_ops ops. */
#include "ir/build.h"
#include "ir/check.h"
#include "ir/number.h"
#include "ir/text.h"
#include <ctype.h>
#include <string.h>

enum { max_text = 16 << 20, max_ops = 8192, max_values = 32768, max_word = 200, max_list = 256, max_kernels = 8192 };

/* A name that is used before the line that makes it. */
typedef struct pending {
    ir_value *view;     /* a view, waits for its root; NULL for an output */
    const char *output; /* the spec's name for it */
    const char *name;
    position at;
} pending;

typedef struct reader {
    arena *a;
    const char *s, *end, *line_start;
    int line;
    builder b;
    pending *pending;
    int pending_count;
    position *op_places; /* in this text; the ops' own positions are in the spec */
    position *spec_places;
    int depth; /* 0: file, 1: in a kernel, 2: in a phase */
    ir_kernel *kernel;
    ir_phase *phase, **phases;
    int phase_count;
} reader;

static position here(const reader *r)
{
    return (position){r->line, (int)(r->s - r->line_start) + 1};
}

static _Noreturn void expected(reader *r, const char *what)
{
    if (r->s == r->end || *r->s == '\n') bail(r->a, code_bad_input, here(r), "the line ends where %s should follow", what);
    bail(r->a, code_bad_input, here(r), "%s should stand here", what);
}

static void skip_spaces(reader *r)
{
    while (r->s < r->end && *r->s == ' ') r->s++;
}

static bool at_line_end(reader *r)
{
    skip_spaces(r);
    return r->s == r->end || *r->s == '\n';
}

static void end_line(reader *r)
{
    if (!at_line_end(r)) bail(r->a, code_bad_input, here(r), "this does not belong to the line");
    if (r->s < r->end) r->s++;
    r->line++;
    r->line_start = r->s;
}

static bool accept(reader *r, const char *mark)
{
    size_t n = strlen(mark);
    if ((size_t)(r->end - r->s) < n || memcmp(r->s, mark, n) != 0) return false;
    r->s += n;
    return true;
}

static void expect(reader *r, const char *mark)
{
    skip_spaces(r);
    if (!accept(r, mark)) expected(r, arena_printf(r->a, "\"%s\"", mark));
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static const char *take(reader *r, bool (*belongs)(char), const char *what)
{
    skip_spaces(r);
    const char *start = r->s;
    while (r->s < r->end && belongs(*r->s) && r->s - start <= max_word) r->s++;
    if (r->s == start) expected(r, what);
    if (r->s - start > max_word) bail(r->a, code_bad_input, here(r), "%s is longer than %d characters", what, max_word);
    return arena_strndup(r->a, start, (size_t)(r->s - start));
}

static const char *read_name(reader *r, const char *what)
{
    skip_spaces(r);
    if (r->s < r->end && (isdigit((unsigned char)*r->s) || *r->s == '.')) expected(r, what);
    return take(r, is_name, what);
}

static long long read_integer(reader *r, long long low, long long high, const char *what)
{
    skip_spaces(r);
    position at = here(r);
    bool negative = accept(r, "-");
    long long value = 0;
    if (r->s == r->end || !isdigit((unsigned char)*r->s)) expected(r, what);
    for (; r->s < r->end && isdigit((unsigned char)*r->s); r->s++)
        if (__builtin_mul_overflow(value, 10LL, &value) || __builtin_add_overflow(value, (long long)(*r->s - '0'), &value))
            bail(r->a, code_bad_input, at, "%s is too large", what);
    if (negative) value = -value;
    if (value < low || value > high) bail(r->a, code_bad_input, at, "%s is %lld; it is %lld to %lld", what, value, low, high);
    return value;
}

static double read_double(reader *r)
{
    char word[64];
    double value;
    size_t n = 0;
    skip_spaces(r);
    while (r->s + n < r->end && n < sizeof word - 1 && (isalnum((unsigned char)r->s[n]) || strchr("+-.", r->s[n]))) n++;
    memcpy(word, r->s, n);
    word[n] = 0;
    if (!number_parse(word, &value)) expected(r, "a number");
    r->s += n;
    return value;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *read_string(reader *r)
{
    text t = {.a = r->a};
    text_append(&t, "", 0);
    expect(r, "\"");
    while (!accept(r, "\"")) {
        if (r->s == r->end || *r->s == '\n') expected(r, "a \" that ends the text");
        char c = *r->s++;
        if (!c) bail(r->a, code_bad_input, here(r), "a zero byte in a text");
        if (c == '\\' && r->s < r->end && *r->s == 'x') {
            int high = r->end - r->s > 2 ? hex_digit(r->s[1]) : -1, low = high < 0 ? -1 : hex_digit(r->s[2]);
            if (low < 0 || high * 16 + low == 0) expected(r, "\\x and two hexadecimal digits");
            c = (char)(high * 16 + low);
            r->s += 3;
        } else if (c == '\\' && r->s < r->end && *r->s != '\n') c = *r->s++;
        text_append(&t, &c, 1);
    }
    return t.data ? t.data : "";
}

static const char *read_word_or_string(reader *r, const char *what)
{
    skip_spaces(r);
    return r->s < r->end && *r->s == '"' ? read_string(r) : take(r, is_word, what);
}

static int read_choice(reader *r, const char *const *names, size_t count, const char *what)
{
    skip_spaces(r);
    position at = here(r);
    const char *word = take(r, is_word, what);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0) return (int)i;
    const char *near = nearest_name(word, names, count);
    bail(r->a, code_bad_input, at, "%s is no %s%s%s%s", word, what, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static dtype read_dtype(reader *r)
{
    const char *names[4];
    for (int i = 0; i < 4; i++) names[i] = dtype_name((dtype)i);
    return (dtype)read_choice(r, names, 4, "dtype");
}

static extent read_extent(reader *r)
{
    skip_spaces(r);
    const char *start = r->s;
    while (r->s < r->end && (isalnum((unsigned char)*r->s) || strchr("_+-*", *r->s)) && r->s - start <= max_word) r->s++;
    if (r->s == start) expected(r, "a size");
    bool negative = *start == '-'; /* the grammar has no sign */
    position at = {r->line, (int)(start - r->line_start) + 1 - negative};
    char *expression = arena_printf(r->a, "%s%.*s", negative ? "0" : "", (int)(r->s - start), start);
    extent e = extent_parse(r->a, &r->b.p->dims, expression, at);
    bail_if_complained(r->a);
    return e;
}

/* !line:column at the end of a line, where it stands. */
static position read_place(reader *r)
{
    skip_spaces(r);
    if (!accept(r, "!")) return (position){0, 0};
    position at;
    at.line = (int)read_integer(r, 1, 1 << 30, "line");
    expect(r, ":");
    at.column = (int)read_integer(r, 0, 1 << 30, "column");
    return at;
}

static const char *read_value_name(reader *r)
{
    expect(r, "%");
    return read_name(r, "the name of a value");
}

static ir_value *read_value(reader *r)
{
    skip_spaces(r);
    position at = here(r);
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

static void read_shape(reader *r, ir_value *v)
{
    v->type = read_dtype(r);
    expect(r, "[");
    for (skip_spaces(r); !accept(r, "]"); skip_spaces(r)) {
        if (v->rank) expect(r, ",");
        if (v->rank == max_rank) bail(r->a, code_bad_input, here(r), "more than %d axes", max_rank);
        v->shape[v->rank++] = read_extent(r);
        skip_spaces(r);
    }
    skip_spaces(r);
    if (!accept(r, "in ")) return;
    skip_spaces(r);
    position at = here(r);
    const char *root = read_value_name(r);
    add_pending(r, v, NULL, root, at);
    expect(r, "+");
    v->root_offset = read_integer(r, 0, 1LL << 62, "offset");
    expect(r, "/");
    v->root_stride = read_integer(r, 1, 1LL << 62, "stride");
}

static ir_value *read_new_value(reader *r, value_kind kind)
{
    skip_spaces(r);
    position at = here(r);
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

static void read_dim(reader *r)
{
    dim_table *dims = &r->b.p->dims;
    skip_spaces(r);
    position at = here(r);
    if (dims->count == max_dims) bail(r->a, code_bad_input, at, "more than %d dims", max_dims);
    dim d = {.name = take(r, is_name, "the name of a dim")};
    if (isdigit((unsigned char)*d.name) || strchr(d.name, '.')) bail(r->a, code_bad_input, at, "%s is no name of a dim", d.name);
    if (dim_find(dims, d.name)) bail(r->a, code_bad_input, at, "a second dim named %s", d.name);
    expect(r, "=");
    d.value = d.low = d.high = read_integer(r, 1, 1LL << 40, "value");
    skip_spaces(r);
    if (accept(r, "in ")) {
        if (dims->dynamic_count == max_dynamic) bail(r->a, code_bad_input, at, "more than %d dynamic dims", max_dynamic);
        d.dynamic = true, d.slot = dims->dynamic_count++;
        d.low = read_integer(r, 1, d.value, "low end");
        expect(r, "..");
        d.high = read_integer(r, d.value, 1LL << 40, "high end");
    }
    d.at = read_place(r);
    dims->dims[dims->count++] = d;
    end_line(r);
}

static void read_declared(reader *r, value_kind kind)
{
    ir_value *v = read_new_value(r, kind);
    skip_spaces(r);
    if (accept(r, "range=")) {
        v->has_range = true;
        v->range_low = read_extent(r);
        expect(r, "..");
        v->range_high = read_extent(r);
    }
    skip_spaces(r);
    if (accept(r, "from=")) v->from = read_string(r);
    skip_spaces(r);
    if (accept(r, "transposed")) v->from_transposed = true;
    build_add_value(&r->b, v);
    v->at = read_place(r);
    end_line(r);
}

static void read_output(reader *r)
{
    skip_spaces(r);
    position at = here(r);
    const char *name = read_value_name(r);
    expect(r, "as ");
    add_pending(r, NULL, read_word_or_string(r, "the name of an output"), name, at);
    end_line(r);
}

static void read_scaling(reader *r, rope_scaling *s)
{
    static const char *const kinds[] = {"none", "linear", "llama3"};
    s->kind = (rope_scaling_kind)read_choice(r, kinds, 3, "rope scaling");
    expect(r, "(");
    s->factor = read_double(r);
    double *const more[] = {&s->low_freq, &s->high_freq, &s->original};
    for (int i = 0; i < 3 && s->kind == scaling_llama3; i++) {
        expect(r, ",");
        *more[i] = read_double(r);
    }
    expect(r, ")");
}

static void read_field(reader *r, ir_op *op, const attribute_field *f)
{
    static const char *const pairings[] = {"half", "interleaved"}, *const layouts[] = {"out_in", "in_out"};
    void *field = (char *)&op->attributes + f->offset;
    if (f->type == field_bool) {
        *(bool *)field = true;
        return;
    }
    expect(r, "=");
    switch (f->type) {
    case field_int: *(long long *)field = read_integer(r, 0, 1LL << 40, f->key); break;
    case field_float: *(double *)field = read_double(r); break;
    case field_dtype: *(dtype *)field = read_dtype(r); break;
    case field_pairing: *(rope_pairing *)field = (rope_pairing)read_choice(r, pairings, 2, "pairing"); break;
    case field_layout: *(weight_layout *)field = (weight_layout)read_choice(r, layouts, 2, "layout"); break;
    case field_value: *(ir_value **)field = read_value(r); break;
    case field_scaling: read_scaling(r, field); break;
    case field_bool: break;
    }
}

static void read_fields(reader *r, ir_op *op)
{
    const char *keys[32];
    for (int i = 0; i < attribute_field_count; i++) keys[i] = attribute_fields[i].key;
    while (!at_line_end(r) && *r->s != '!' && *r->s != '#') {
        position at = here(r);
        int i = read_choice(r, keys, (size_t)attribute_field_count, "attribute");
        if (!op_takes(op->kind, keys[i])) bail(r->a, code_bad_input, at, "%s takes no %s", op_table[op->kind].name, keys[i]);
        if (field_is_set(&op->attributes, &attribute_fields[i])) bail(r->a, code_bad_input, at, "a second %s", keys[i]);
        read_field(r, op, &attribute_fields[i]);
    }
}

static ir_value *read_operand(reader *r)
{
    skip_spaces(r);
    if (r->s < r->end && *r->s == '%') return read_value(r);
    position at = here(r);
    if (r->b.p->value_count == max_values) bail(r->a, code_bad_input, at, "more than %d values", max_values);
    return build_number(&r->b, read_double(r), (position){0, 0});
}

static op_kind read_op_name(reader *r)
{
    const char *names[op_count];
    for (int i = 0; i < op_count; i++) names[i] = op_table[i].name;
    return (op_kind)read_choice(r, names, op_count, "op");
}

static void read_inputs(reader *r, ir_op *op)
{
    ir_value *list[max_list];
    const op_info *info = &op_table[op->kind];
    do {
        if (op->input_count == info->most_inputs)
            bail(r->a, code_bad_input, here(r), "%s takes at most %d operands", info->name, info->most_inputs);
        list[op->input_count++] = read_operand(r);
        skip_spaces(r);
    } while (accept(r, ","));
    if (op->input_count < info->least_inputs)
        bail(r->a, code_bad_input, here(r), "%s takes at least %d operands", info->name, info->least_inputs);
    op->inputs = arena_alloc(r->a, (size_t)op->input_count * sizeof *op->inputs);
    memcpy(op->inputs, list, (size_t)op->input_count * sizeof *op->inputs);
}

static void read_outs(reader *r, ir_op *op)
{
    op->outputs = arena_alloc(r->a, max_list * sizeof *op->outputs);
    do {
        if (op->output_count == max_list) bail(r->a, code_bad_input, here(r), "more than %d outs", max_list);
        op->outputs[op->output_count++] = read_new_value(r, value_result);
        skip_spaces(r);
    } while (accept(r, ","));
}

static void add_to_phase(reader *r, ir_op *op)
{
    ir_phase *phase = r->phase;
    phase->ops = build_grow(r->a, phase->ops, phase->op_count, sizeof *phase->ops);
    phase->ops[phase->op_count++] = op;
}

static void read_op(reader *r, op_role role)
{
    ir_op *op = arena_alloc(r->a, sizeof *op);
    skip_spaces(r);
    position at = here(r);
    if (r->b.p->op_count == max_ops) bail(r->a, code_bad_input, at, "more than %d ops", max_ops);
    op->role = role;
    read_outs(r, op);
    expect(r, "=");
    op->kind = read_op_name(r);
    read_inputs(r, op);
    read_fields(r, op);
    position place = read_place(r);
    skip_spaces(r);
    if (!accept(r, "#")) expected(r, "# and the number of the graph op");
    op->origin = (int)read_integer(r, 0, 1 << 24, "number of the graph op");
    for (int i = 0; i < op->output_count; i++) {
        const char *name = op->outputs[i]->name;
        if (names_find(&r->b.names, name)) bail(r->a, code_bad_input, at, "a second value named %%%s", name);
        build_add_value(&r->b, op->outputs[i]);
    }
    r->op_places = build_grow(r->a, r->op_places, r->b.p->op_count, sizeof *r->op_places);
    r->spec_places = build_grow(r->a, r->spec_places, r->b.p->op_count, sizeof *r->spec_places);
    r->op_places[r->b.p->op_count] = at;
    r->spec_places[r->b.p->op_count] = place;
    build_add_op(&r->b, op);
    if (r->phase) add_to_phase(r, op);
    end_line(r);
}

static ir_phase *find_phase(reader *r, const char *name)
{
    for (int i = 0; i < r->phase_count; i++)
        if (strcmp(r->phases[i]->name, name) == 0) return r->phases[i];
    return NULL;
}

static void read_after(reader *r, ir_phase *phase)
{
    do {
        skip_spaces(r);
        position at = here(r);
        const char *name = read_name(r, "the name of a phase");
        ir_phase *earlier = find_phase(r, name);
        if (!earlier) bail(r->a, code_bad_input, at, "no phase above is named %s", name);
        phase->after = build_grow(r->a, phase->after, phase->after_count, sizeof *phase->after);
        phase->after[phase->after_count++] = earlier;
        skip_spaces(r);
    } while (accept(r, ","));
}

static void read_phase(reader *r)
{
    size_t families;
    ir_phase *phase = arena_alloc(r->a, sizeof *phase);
    skip_spaces(r);
    position at = here(r);
    phase->name = read_name(r, "the name of a phase");
    if (find_phase(r, phase->name)) bail(r->a, code_bad_input, at, "a second phase named %s", phase->name);
    if (r->phase_count == max_kernels) bail(r->a, code_bad_input, at, "more than %d phases", max_kernels);
    expect(r, ":");
    const char *const *names = family_names(&families);
    phase->family = (phase_family)read_choice(r, names, families, "family");
    skip_spaces(r);
    if (accept(r, "after ")) read_after(r, phase);
    expect(r, "{");
    end_line(r);
    r->phases = build_grow(r->a, r->phases, r->phase_count, sizeof *r->phases);
    r->phases[r->phase_count++] = phase;
    r->kernel->phases = build_grow(r->a, r->kernel->phases, r->kernel->phase_count, sizeof *r->kernel->phases);
    r->kernel->phases[r->kernel->phase_count++] = phase;
    r->phase = phase;
    r->depth = 2;
}

static void read_kernel(reader *r)
{
    ir_program *p = r->b.p;
    size_t frames;
    const char *const *names = frame_names(&frames);
    ir_kernel *k = arena_alloc(r->a, sizeof *k);
    skip_spaces(r);
    position at = here(r);
    if (p->op_count && !p->kernel_count) bail(r->a, code_bad_input, at, "a kernel after ops without one");
    if (p->kernel_count == max_kernels) bail(r->a, code_bad_input, at, "more than %d kernels", max_kernels);
    k->name = read_name(r, "the name of a kernel");
    for (int i = 0; i < p->kernel_count; i++)
        if (strcmp(p->kernels[i]->name, k->name) == 0) bail(r->a, code_bad_input, at, "a second kernel named %s", k->name);
    skip_spaces(r);
    if (accept(r, "frame=")) k->frame = (frame_kind)read_choice(r, names, frames, "frame");
    expect(r, "{");
    end_line(r);
    p->kernels = build_grow(r->a, p->kernels, p->kernel_count, sizeof *p->kernels);
    p->kernels[p->kernel_count++] = k;
    r->kernel = k;
    r->depth = 1;
}

static void read_tile(reader *r)
{
    ir_phase *phase = r->phase;
    if (phase->tile_count) bail(r->a, code_bad_input, here(r), "a second tile line");
    while (!at_line_end(r)) {
        if (phase->tile_count == max_list) bail(r->a, code_bad_input, here(r), "more than %d settings", max_list);
        tile_setting s = {.key = read_name(r, "a setting")};
        expect(r, "=");
        s.value = (int)read_integer(r, 0, 1 << 30, s.key);
        phase->tile = build_grow(r->a, phase->tile, phase->tile_count, sizeof *phase->tile);
        phase->tile[phase->tile_count++] = s;
    }
    end_line(r);
}

static void read_note(reader *r)
{
    ir_program *p = r->b.p;
    fusion_note note = {.code = take(r, is_word, "a reason")};
    note.value = read_value(r);
    expect(r, "->");
    skip_spaces(r);
    position at = here(r);
    ir_value *out = read_value(r);
    if (!out->def) bail(r->a, code_bad_input, at, "%%%s is made by no op", out->name);
    note.user = out->def;
    p->notes = build_grow(r->a, p->notes, p->note_count, sizeof *p->notes);
    p->notes[p->note_count++] = note;
    end_line(r);
}

static void read_head(reader *r)
{
    size_t levels;
    const char *const *names = level_names(&levels);
    expect(r, "ir");
    if (read_integer(r, 0, 1 << 30, "version") != 1) bail(r->a, code_bad_input, here(r), "only version 1 of the text form is known");
    r->b.p->name = read_word_or_string(r, "the name of the block");
    end_line(r);
    expect(r, "type ");
    r->b.p->type = read_dtype(r);
    end_line(r);
    expect(r, "level ");
    r->b.p->level = (fusion_level)read_choice(r, names, levels, "level");
    end_line(r);
}

/* One line that is not within a phase. */
static void read_outer_line(reader *r)
{
    if (r->depth == 1 && accept(r, "phase ")) read_phase(r);
    else if (r->depth == 1 && accept(r, "}")) r->depth = 0, end_line(r);
    else if (r->depth == 1) expected(r, "a phase or \"}\"");
    else if (accept(r, "kernel ")) read_kernel(r);
    else if (accept(r, "note ")) read_note(r);
    else if (r->s < r->end && *r->s == '%' && !r->b.p->kernel_count) read_op(r, role_none);
    else if (r->b.p->op_count || r->b.p->kernel_count) expected(r, r->b.p->kernel_count ? "a kernel or a note" : "an op");
    else if (accept(r, "dim ")) read_dim(r);
    else if (accept(r, "in ")) read_declared(r, value_input);
    else if (accept(r, "par ")) read_declared(r, value_param);
    else if (accept(r, "state ")) read_declared(r, value_state);
    else if (accept(r, "out ")) read_output(r);
    else expected(r, "dim, in, par, state, out, an op or a kernel");
}

static void read_phase_line(reader *r)
{
    if (accept(r, "pro ")) read_op(r, role_prologue);
    else if (accept(r, "body ")) read_op(r, role_body);
    else if (accept(r, "epi ")) read_op(r, role_epilogue);
    else if (accept(r, "tile ")) read_tile(r);
    else if (accept(r, "}")) {
        r->phase = NULL;
        r->depth = 1;
        end_line(r);
    } else expected(r, "pro, body, epi, tile or \"}\"");
}

static void settle_names(reader *r)
{
    for (int i = 0; i < r->pending_count; i++) {
        pending *n = &r->pending[i];
        ir_value *v = names_find(&r->b.names, n->name);
        if (!v || v->kind == value_constant) bail(r->a, code_bad_input, n->at, "no line makes %%%s", n->name);
        if (n->view) n->view->root = v;
        else if (v->output) bail(r->a, code_bad_input, n->at, "%%%s is an output twice", n->name);
        else v->output = n->output;
    }
}

static void move_places(reader *r, const position *places)
{
    for (int i = 0; i < r->b.p->op_count; i++) {
        ir_op *op = r->b.p->ops[i];
        op->at = places[i];
        for (int k = 0; k < op->output_count; k++) op->outputs[k]->at = places[i];
    }
}

ir_program *ir_read(arena *a, const char *ir_text, size_t size, const char *name)
{
    reader r = {.a = a, .s = ir_text, .end = ir_text + size, .line_start = ir_text, .line = 1};
    arena_source(a, name, ir_text, size);
    if (size > max_text) bail(a, code_bad_input, (position){0, 0}, "a text of more than %d bytes", max_text);
    r.b = (builder){.a = a, .p = arena_alloc(a, sizeof *r.b.p), .names = {.a = a}};
    read_head(&r);
    while (r.s < r.end) {
        if (at_line_end(&r)) end_line(&r);
        else if (r.depth == 2) read_phase_line(&r);
        else read_outer_line(&r);
    }
    if (r.depth) expected(&r, "\"}\"");
    settle_names(&r);
    move_places(&r, r.op_places);
    ir_check_read(a, r.b.p);
    move_places(&r, r.spec_places);
    arena_source(a, name, NULL, 0);
    return r.b.p;
}
