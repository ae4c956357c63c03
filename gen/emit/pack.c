/* Writes the members of a pack kernel's spec struct (docs/packing.md). The kernel packs the weights of a gemm phase once, when they are
 * bound. Padding is zeros. */
#include "gen/emit/emit.h"

typedef struct packing {
    emission *e;
    writer *w;
    long long K;
} packing;

/* The weight's element for column col and index k along K, as a float. In the caller's memory the weight is [out, in] or [in, out]. */
static const expression *weight_at(packing *g, const ir_op *linear, const ir_value *weight, const expression *k)
{
    const bool in_out = linear->attributes.layout == layout_in_out;
    const expression *column = c_int(g->e->pool, "col");
    return c_call(g->e->pool, "load_one", in_out ? address(g->e, weight, k, column, false) : address(g->e, weight, column, k, false));
}

/* The element to pack. Beyond the weight's end along K it is an element of the second weight, which continues the first one. If a norm's
 * weight is folded in, the element is multiplied by that. */
static const char *element_of(packing *g, const ir_op *linear)
{
    emission *e = g->e;
    expression_pool *p = e->pool;
    const ir_value *weight = linear->inputs[1], *fold = linear->attributes.fold, *rest = linear->attributes.continued;
    const expression *k = c_int(p, "k"), *value = weight_at(g, linear, weight, k);
    if (rest) {
        long long first = 0;
        extent_is_number(&weight->shape[linear->attributes.layout == layout_out_in], &first);
        value = c_choice(p, c_less(p, k, c_number(p, first)), value, weight_at(g, linear, rest, c_shifted(p, k, -first)));
    }
    if (!fold) return c_text(e->a, value);
    const expression *factor = c_call(p, "load_one", address(e, fold, c_number(p, 0), k, false));
    if (linear->attributes.fold_offset) factor = c_call(p, "op_add", factor, c_name(p, "1.0f"));
    return c_text(e->a, c_call(p, "op_mul", value, factor));
}

/* The packed column n, counted from the start of the segment. */
static const char *in_segment(packing *g, const gemm_segment *s)
{
    return c_text(g->e->a, c_shifted(g->e->pool, c_int(g->e->pool, "n"), -s->packed_start));
}

static void write_plain(packing *g, const gemm_segment *s)
{
    write_line(g->w, "const int col = %s;", in_segment(g, s));
    write_spec_line(g->w, s->first->at, "return col < %lld ? %s : 0.0f;", s->columns, element_of(g, s->first));
}

static void write_pairs(packing *g, const gemm_segment *s)
{
    const int both = 2 * packed_granule;
    write_line(g->w, "const int at = %s, in = at %% %d, %s = at / %d * %d + in %% %d;", in_segment(g, s), both,
               s->kind == segment_pair_join ? "col" : "pair", both, packed_granule, packed_granule);
    if (s->kind == segment_pair_join) {
        write_line(g->w, "if (col >= %lld) return 0.0f;", s->pairs);
        write_spec_line(g->w, s->first->at, "if (in < %d) return %s;", packed_granule, element_of(g, s->first));
        write_spec_line(g->w, s->second->at, "return %s;", element_of(g, s->second));
        return;
    }
    write_line(g->w, "const int head = pair / %lld, j = pair %% %lld, col = head * %lld + j + (in < %d ? 0 : %lld);", s->padded, s->padded,
               2 * s->pairs, packed_granule, s->pairs);
    write_spec_line(g->w, s->first->at, "return j < %lld ? %s : 0.0f;", s->pairs, element_of(g, s->first));
}

static void write_segments(packing *g)
{
    const segment_list *list = &g->e->segments;
    for (int i = 0; i < list->count; i++) {
        const gemm_segment *s = &list->items[i];
        const bool last = i + 1 == list->count;
        if (!last) write_head(g->w, (position){0}, "if (n < %lld)", s->packed_start + s->packed_count);
        if (s->kind == segment_plain)
            write_plain(g, s);
        else
            write_pairs(g, s);
        if (!last) end_head(g->w, "}");
    }
}

/* With several weights, element() loads their pointers before it branches. Otherwise HIPRTC 5.2 copies the arguments to scratch memory and
 * selects a pointer there. */
static void write_element(packing *g)
{
    writer *to = g->w, segments = {.a = g->e->a};
    const int before = g->e->argument_count;
    g->w = &segments;
    const segment_list *list = &g->e->segments;
    g->e->loaded_arguments = list->count > 1 || list->items[0].kind == segment_pair_join || list->items[0].first->attributes.continued;
    write_segments(g);
    g->w = to;
    write_line(to, "DEV static float element(const args &p, int n, int k)");
    write_body(to);
    for (int i = before; i < g->e->argument_count && g->e->loaded_arguments; i++) {
        const char *name = g->e->arguments[i].name;
        write_line(to, "const auto *const %s = p.%s;", name, name);
    }
    g->e->loaded_arguments = false;
    write_line(to, "if (k >= %lld) return 0.0f;", g->K);
    writer_splice(to, &segments);
    end_body(to);
}

void emit_pack(emission *e, writer *w, int index)
{
    const packed_weight *pack = &e->plan->packs[index];
    packing g = {e, w, pack->K};
    write_line(w, "static constexpr int packed_n = %lld, packed_k = %lld, threads = %d;", pack->columns, pack->length, pack->threads);
    write_line(w, "using type = %s;", dtype_c_name(pack->format->type));
    if (pack->format->passes > 1) {
        write_line(w, "using own = %s;", dtype_c_name(e->segments.items[0].first->inputs[1]->type));
        write_line(w, "static constexpr int passes = %d;", pack->format->passes);
    }
    write_element(&g);
    write_line(w, "DEV static type *out(const args &p) { return %s; }", c_text(e->a, use_packed(e, index, true)));
}
