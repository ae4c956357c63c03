/* Builds the C++ expressions of addresses and extents, and collects the kernel arguments that they read, in order of first use. Refuses
 * (code_unsupported) views whose rows do not lie one stride apart in memory. */
#include "gen/emit/emit.h"
#include "ir/graph/layer_kinds.h"
#include <string.h>

static argument *add_argument(emission *e, argument g)
{
    if (e->argument_count == e->argument_capacity) {
        const int capacity = e->argument_capacity ? 2 * e->argument_capacity : 16;
        argument *list = arena_alloc(e->a, (size_t)capacity * sizeof *list);
        if (e->argument_count) memcpy(list, e->arguments, (size_t)e->argument_count * sizeof *list);
        e->arguments = list;
        e->argument_capacity = capacity;
    }
    e->arguments[e->argument_count] = g;
    return &e->arguments[e->argument_count++];
}

/* True for dims and the like; the others are pointers or structs. */
static bool is_int(const argument *g) { return g->kind == argument_dim || g->kind == argument_kind_of_layer; }

static const expression *use_argument(emission *e, argument wanted)
{
    argument *found = NULL;
    for (int i = 0; i < e->argument_count && !found; i++) {
        argument *g = &e->arguments[i];
        if (g->kind != wanted.kind || g->value != wanted.value || g->index != wanted.index) continue;
        if (g->kind != argument_map || strcmp(g->name, wanted.name) == 0) found = g;
    }
    if (!found) found = add_argument(e, wanted);
    found->written |= wanted.written;
    const char *name = e->loaded_arguments ? found->name : arena_printf(e->a, "p.%s", found->name);
    return is_int(found) ? c_int(e->pool, name) : c_name(e->pool, name);
}

const expression *use_value(emission *e, const ir_value *v, bool written)
{
    const ir_value *root = value_root(v);
    return use_argument(e, (argument){.kind = argument_value,
                                      .name = name_marked(e->a, e->names->values[root->id], name_value),
                                      .value = root,
                                      .index = root->id,
                                      .written = written,
                                      .size = sizeof(void *)});
}

const expression *use_scratch(emission *e, int index, bool written)
{
    return use_argument(e, (argument){.kind = argument_scratch,
                                      .name = "parts",
                                      .index = index,
                                      .written = written,
                                      .size = sizeof(void *)});
}

const char launch_words[] = "tf_words";

int value_words(const plan *p, const ir_value *v)
{
    if (v->root) return -1;
    return p->words[v == p->stack.in ? p->stack.out->id : v->id] - 1;
}

const launch *emission_launch(const emission *e)
{
    const launch *of = NULL;
    plan_work_of(e->plan, e->phase, &of);
    return of;
}

const expression *use_launch_words(emission *e)
{
    return use_argument(e, (argument){.kind = argument_scratch, .name = launch_words, .index = emission_launch(e)->marks, .written = true,
                                      .size = launch_words_bytes});
}

const expression *use_words(emission *e, const ir_value *v, bool written)
{
    return use_argument(e, (argument){.kind = argument_scratch,
                                      .name = name_marked(e->a, e->names->values[v->id], name_words),
                                      .value = v,
                                      .index = value_words(e->plan, v),
                                      .written = written,
                                      .size = sizeof(void *)});
}

const expression *words_address(emission *e, const ir_value *v, const expression *row, const expression *column, bool written)
{
    return c_sum(e->pool, c_sum(e->pool, use_words(e, v, written), scaled(e, row, value_stride(v))), column);
}

const char *words_function(emission *e, const char *name, const ir_value *v, const char *lanes)
{
    const char *later = v == e->plan->stack.out ? "next()." : ""; /* the next layer reads the output with its own epoch */
    return arena_printf(e->a, "%s.%s%s<%s, %s>", c_text(e->a, use_launch_words(e)), later, name, dtype_c_name(v->type), lanes);
}

void use_trace_of(emission *e)
{
    if (e->trace >= 0)
        (void)use_argument(e, (argument){.kind = argument_scratch, .name = "tf_trace", .index = e->trace, .written = true,
                                         .size = sizeof(void *)});
}

const expression *use_packed(emission *e, int index, bool written)
{
    return use_argument(e,
                        (argument){.kind = argument_packed, .name = "packed", .index = index, .written = written, .size = sizeof(void *)});
}

const expression *use_next_packed(emission *e, const char *name, int index)
{
    return use_argument(e, (argument){.kind = argument_packed, .name = name, .index = index, .size = sizeof(void *)});
}

const expression *use_next_call(emission *e)
{
    return use_argument(e, (argument){.kind = argument_next, .name = "next_call", .size = next_call_bytes});
}

/* Two maps with equal boxes but different names are two arguments. */
const expression *use_map(emission *e, const char *name, const tensor_box *box)
{
    return use_argument(e,
                        (argument){.kind = argument_map, .name = name, .value = box->value, .index = box->packed, .box = box, .size = 128});
}

/* The argument of the dynamic dim with this slot (dim.slot); NULL: no dim has it. */
static const expression *use_dim(emission *e, int slot)
{
    for (int i = 0; i < e->names->dims.count; i++) {
        const dim *d = &e->names->dims.dims[i];
        if (d->dynamic && d->slot == slot)
            return use_argument(e, (argument){.kind = argument_dim, .name = d->name, .index = i, .size = sizeof(int)});
    }
    return NULL;
}

const expression *use_by_kind(emission *e, const expression *const *of_kinds)
{
    const int count = kinds_count(e->plan->ir);
    const argument kind = {.kind = argument_kind_of_layer, .name = "tf_kind", .size = sizeof(int)};
    const expression *all = of_kinds[0];
    for (int k = 1; k < count; k++)
        if (of_kinds[k] != of_kinds[0])
            all = c_choice(e->pool, c_equal(e->pool, use_argument(e, kind), c_number(e->pool, k)), of_kinds[k], all);
    return all;
}

/* A term without its sign: 2 * p.B * p.S */
static const expression *term_c(emission *e, const term *t)
{
    const long long size = t->factor < 0 ? -t->factor : t->factor;
    const expression *all = size == 1 ? NULL : c_number(e->pool, size);
    for (int slot = 0; slot < max_dynamic; slot++) {
        const expression *one = t->power[slot] ? use_dim(e, slot) : NULL;
        for (int n = 0; one && n < t->power[slot]; n++) all = all ? c_product(e->pool, all, one) : one;
    }
    return all ? all : c_number(e->pool, size);
}

const expression *extent_c(emission *e, const extent *x)
{
    const expression *all = NULL;
    for (int i = 0; i < x->count; i++) {
        const expression *one = term_c(e, &x->terms[i]);
        const bool negative = x->terms[i].factor < 0;
        all = negative ? c_difference(e->pool, all ? all : c_number(e->pool, 0), one) : all ? c_sum(e->pool, all, one) : one;
    }
    return all ? all : c_number(e->pool, 0);
}

static int argument_place(const argument *g) { return g->kind == argument_map ? 0 : is_int(g) ? 2 : 1; }

/* Sorts the arguments: maps, then pointers, then dims, each in order of first use. Offsets are those of a C struct. */
void finish_arguments(emission *e)
{
    argument *list = arena_alloc(e->a, (size_t)(e->argument_count + 1) * sizeof *list);
    int n = 0;
    for (int place = 0; place < 3; place++)
        for (int i = 0; i < e->argument_count; i++)
            if (argument_place(&e->arguments[i]) == place) list[n++] = e->arguments[i];
    unsigned offset = 0;
    for (int i = 0; i < n; offset += list[i++].size) list[i].offset = offset;
    e->arguments = list;
    e->argument_capacity = n;
}

static bool is_launch_words(const argument *g) { return g->kind == argument_scratch && g->size == launch_words_bytes; }

unsigned argument_bytes(const argument *list, int count)
{
    unsigned bytes = count ? list[count - 1].offset + list[count - 1].size : 0, align = 1;
    for (int i = 0; i < count; i++) {
        const unsigned own = list[i].kind == argument_next || is_launch_words(&list[i]) ? sizeof(void *) : list[i].size;
        if (own > align) align = own;
    }
    return (bytes + align - 1) / align * align;
}

static const char *argument_type(const emission *e, const argument *g)
{
    switch (g->kind) {
    case argument_value: return dtype_c_name(g->value->type);
    case argument_packed: return dtype_c_name(e->plan->packs[g->index].format->type);
    case argument_scratch: return "float";
    case argument_map: return "tensor_map";
    case argument_dim:
    case argument_kind_of_layer:
    case argument_next:
    case argument_layers:
    case argument_table: break;
    }
    return "int";
}

void write_arguments(emission *e, writer *w)
{
    text dims = {.a = e->a};
    write_head(w, (position){0}, "struct args");
    for (int i = 0; i < e->argument_count; i++) {
        const argument *g = &e->arguments[i];
        if (is_int(g))
            text_printf(&dims, "%s%s", dims.size ? ", " : "int ", g->name);
        else if (g->kind == argument_map)
            write_line(w, "tensor_map %s;", g->name);
        else if (g->kind == argument_next)
            write_line(w, "weight_runs %s;", g->name);
        else if (is_launch_words(g))
            write_line(w, "launch_words %s;", g->name);
        else
            write_line(w, "%s%s *%s;", g->written ? "" : "const ", argument_type(e, g), g->name);
    }
    if (dims.size) write_line(w, "%s;", dims.data);
    end_head(w, "};");
}

void write_offset_checks(const emission *e, writer *w)
{
    for (int i = 0; i < e->argument_count; i++)
        write_line(w, "TF_LAYOUT(%s::args, %s, %u);", e->struct_name, e->arguments[i].name, e->arguments[i].offset);
    write_line(w, "static_assert(sizeof(%s::args) == %u, \"size of args\");", e->struct_name,
               argument_bytes(e->arguments, e->argument_count));
}

view view_of(arena *a, const ir_value *v)
{
    view w = {v, 0, v->root ? value_columns(v) : value_stride(v), NULL};
    while (w.root->root) {
        const ir_value *up = w.root->root;
        const extent rows = value_rows(a, w.root), above = value_rows(a, up);
        const long long stride = value_stride(w.root);
        if (w.stride == value_columns(w.root) || extent_equal(&rows, &above)) {
            w.offset += w.root->root_offset;
            /* v is dense in w.root; if rows of the root are strided, v must have the same rows */
            if (stride != value_columns(w.root)) {
                const extent own = value_rows(a, v);
                if (!extent_equal(&own, &rows))
                    bail(a, code_unsupported, v->at, "%%%s: a reshape of columns %%%s of a wider value is not a view", v->name,
                         w.root->name);
                w.stride = stride;
            }
        } else {
            bail(a, code_unsupported, v->at, "%%%s: a view of rows of %%%s, which is a view itself", v->name, w.root->name);
        }
        w.root = up;
    }
    w.step = w.root->step;
    return w;
}

long long view_most_stride(const view *w) { return w->step ? w->step->high : w->stride; }

extent view_apart(const view *w, long long factor)
{
    extent bytes = w->step ? extent_dim(w->step) : extent_number(w->stride);
    bytes.terms[0].factor *= factor;
    return bytes;
}

/* The stride that the caller passes, as a 64-bit integer. */
static const expression *step_c(emission *e, const view *w)
{
    const extent step = extent_dim(w->step);
    return c_call_of(e->pool, "static_cast<long long>", type_long, C_OPERANDS(extent_c(e, &step)));
}

void write_stride(emission *e, writer *w, const char *name, const ir_value *v)
{
    const view at = view_of(e->a, v);
    write_line(w, "static constexpr long long %s = %lld;", name, at.step ? 0 : at.stride);
    if (at.step) write_line(w, "DEV static long long %s_of(const args &p) { return %s; }", name, c_text(e->a, step_c(e, &at)));
}

long long value_alignment(arena *a, const ir_value *v)
{
    const view w = view_of(a, v);
    const long long size = dtype_size(v->type), stop = w.root->kind == value_result && !w.root->output ? 0 : value_columns(w.root);
    const long long bits = (w.stride | w.offset | stop) * size | 16;
    return bits & -bits;
}

static bool is_one(const extent *x)
{
    long long n;
    return extent_is_number(x, &n) && n == 1;
}

/* The axes of a value but the last, outermost first, without those of extent 1; and which of them an operand that broadcasts to the value
 * has. */
typedef struct axes {
    extent size[max_rank];
    bool has[max_rank]; /* the operand has axis i */
    int count, present; /* axes; axes that the operand has */
} axes;

static axes match_axes(const ir_value *operand, const ir_value *of)
{
    axes x = {.count = 0};
    for (int i = 0; i + 1 < of->rank; i++) {
        const int j = i - (of->rank - operand->rank);
        if (is_one(&of->shape[i])) continue;
        x.size[x.count] = of->shape[i];
        x.has[x.count] = j >= 0 && !is_one(&operand->shape[j]);
        x.present += x.has[x.count++];
    }
    return x;
}

static extent product(emission *e, const axes *x, int from, int to, bool present_only)
{
    extent n = extent_number(1);
    for (int i = from; i < to; i++)
        if (!present_only || x->has[i]) n = extent_multiply(e->a, e->shape->at, n, x->size[i]);
    return n;
}

/* Row `row`'s index along axes from..to-1, taken as one axis. */
static const expression *run_index(emission *e, const axes *x, int from, int to, const expression *row)
{
    const extent after = product(e, x, to, x->count, false), size = product(e, x, from, to, false);
    const expression *index = row;
    index = c_quotient(e->pool, index, extent_c(e, &after));
    if (from > 0) index = c_remainder(e->pool, index, extent_c(e, &size));
    return index;
}

static bool same_rows(emission *e, const ir_value *x, const ir_value *y)
{
    const extent a = value_rows(e->a, x), b = value_rows(e->a, y);
    return extent_equal(&a, &b);
}

const expression *row_of(emission *e, const ir_value *operand, const ir_value *of, const expression *row)
{
    const axes x = match_axes(operand, of);
    if (same_rows(e, operand, of)) return row;
    if (x.present == 0) return c_number(e->pool, 0);
    const expression *sum = NULL;
    for (int from = 0; from < x.count; from++) {
        if (!x.has[from]) continue;
        int to = from;
        while (to < x.count && x.has[to]) to++;
        const extent step = product(e, &x, to, x.count, true);
        const expression *index = run_index(e, &x, from, to, row);
        index = c_product(e->pool, index, extent_c(e, &step));
        sum = sum ? c_sum(e->pool, sum, index) : index;
        from = to;
    }
    return sum;
}

const expression *first_row_condition(emission *e, const ir_value *operand, const ir_value *of, const expression *row)
{
    const axes x = match_axes(operand, of);
    if (same_rows(e, operand, of)) return NULL;
    const expression *all = NULL;
    for (int from = 0; from < x.count; from++) {
        if (x.has[from]) continue;
        int to = from;
        while (to < x.count && !x.has[to]) to++;
        all = c_both(e->pool, all, c_equal(e->pool, run_index(e, &x, from, to, row), c_number(e->pool, 0)));
        from = to;
    }
    return all;
}

const expression *scaled(emission *e, const expression *row, long long stride)
{
    return stride == 1 ? row : c_product(e->pool, row, c_long(e->pool, stride));
}

int value_partials(const plan *p, const ir_value *v) { return p->partials[v->id] ? p->partials[v->id] : 1; }

const expression *address(emission *e, const ir_value *v, const expression *row, const expression *column, bool written)
{
    const view w = view_of(e->a, v);
    const expression *base = use_value(e, v, written);
    const expression *at = c_sum(e->pool, base, w.step ? c_product(e->pool, row, step_c(e, &w)) : scaled(e, row, w.stride));
    return c_shifted(e->pool, c_sum(e->pool, at, column), w.offset);
}

void write_row_function(emission *e, writer *w, position at, const char *type, const char *name, const ir_value *v, bool written)
{
    const expression *first = address(e, v, c_int(e->pool, "row"), c_number(e->pool, 0), written);
    write_line(w, "DEV static %s%s *%s(const args &p, int row)", written ? "" : "const ", type, name);
    write_body(w);
    write_spec_line(w, at, "return %s;", c_text(e->a, first));
    end_body(w);
}
