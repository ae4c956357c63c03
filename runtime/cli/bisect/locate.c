/* In: a wrong value and its element. Out: what computes it: op and line of the spec, launch, phase, the tile with the element, line of the
 * emitted source. NULL: unknown. */
#include "gen/base/names.h"
#include "ir/graph/segments.h"
#include "runtime/cli/bisect/bisect.h"
#include "runtime/cli/plan_words.h"
#include <stdlib.h>
#include <string.h>

/* ---- the spec */
static const char *trimmed(arena *a, const char *from, size_t size)
{
    while (size && strchr(" \t\r", from[size - 1])) size--;
    while (size && strchr(" \t", *from)) from++, size--;
    return arena_strndup(a, from, size);
}

static const char *line_of_text(arena *a, const char *text, int line)
{
    for (; line > 1 && text; line--) text = (text = strchr(text, '\n')) ? text + 1 : NULL;
    return text ? trimmed(a, text, strcspn(text, "\n")) : NULL;
}

static const char *spec_line(const bisection *b, const ir_op *op)
{
    size_t size;
    if (op->at.line < 1) return NULL;
    if (!b->request.from_ir) return line_of_text(b->a, b->request.text, op->at.line);
    return b->o->spec ? line_of_text(b->a, cli_read_file(b->a, b->o->spec, &size), op->at.line) : NULL;
}

/* The op of the judged graph that makes the result of `op`, or that was lowered to several ops, among them `op`; else `op` itself. */
static const ir_op *spec_op(const bisection *b, const ir_op *op)
{
    const ir_value *v = b->graph ? graph_value(b->graph, op->outputs[0]->name) : NULL;
    if (v && v->def) return v->def;
    return b->graph && op->origin >= 0 && op->origin < b->graph->op_count ? b->graph->ops[op->origin] : op;
}

/* ---- the tile */
static int field_of(const ir_phase *phase, const char *name)
{
    const int i = tile_field_find(phase->tile.program, name);
    return i < 0 ? 0 : phase->tile.at[i];
}

/* The element's row and column in the phase's space; a row of that space may consist of several rows of the value. */
static bool in_space(arena *a, const ir_phase *phase, const ir_value *v, const dim_table *dims, long long index, long long *row,
                     long long *column)
{
    const extent own = value_rows(a, v), space = phase_space(a, phase).rows;
    const long long columns = value_columns(v), rows = extent_value(&own, dims), walked = extent_value(&space, dims);
    if (columns < 1 || walked < 1 || rows % walked != 0) return false;
    const long long each = rows / walked;
    *row = index / columns / each, *column = index / columns % each * columns + index % columns;
    return true;
}

/* The packed column of a phase's product that a value's column is computed in; -1: none. */
static long long packed_column(arena *a, const ir_phase *phase, const ir_value *v, long long column)
{
    segment_list list;
    if (!gemm_segments(a, phase, &list)) return -1;
    const gemm_segment *s = segment_of(&list, phase, v->def);
    for (int i = 0; !s && i < list.count; i++)
        if (list.items[i].first == v->def || list.items[i].second == v->def) s = &list.items[i];
    for (long long n = 0; s && n < s->packed_count; n++) {
        bool second;
        if (segment_column(s, n, &second) == column && (s->kind != segment_pair_join || second == (v->def == s->second)))
            return s->packed_start + n;
    }
    return -1;
}

static const char *span(arena *a, const char *what, long long at, int size, long long end)
{
    const long long from = at / size * size, to = from + size < end ? from + size : end;
    return to - from == 1 ? arena_printf(a, "%s %lld", what, from) : arena_printf(a, "%ss %lld to %lld", what, from, to - 1);
}

static const char *product_tile(arena *a, const launch_phase *l, const ir_value *v, const dim_table *dims, long long index)
{
    const ir_phase *phase = l->phase;
    long long row, column;
    const int m = field_of(phase, "m"), n = field_of(phase, "n");
    if (!m || !n || !in_space(a, phase, v, dims, index, &row, &column)) return NULL;
    const char *rows = span(a, "row", row, m, extent_value(&l->extents.rows, dims));
    const long long packed = value_columns(v) > 1 ? packed_column(a, phase, v, column) : -1;
    segment_list list;
    if (packed < 0 || !gemm_segments(a, phase, &list)) return rows;
    return arena_printf(a, "%s, %s", rows, span(a, "packed column", packed, n, list.packed_columns));
}

/* The tile with an element of [B, S, heads*hd] or [B, S, heads, hd], as text. */
static const char *attention_tile(arena *a, const ir_phase *phase, const ir_value *v, const dim_table *dims, long long index)
{
    const ir_op *op = phase_first(phase, class_ATTENTION);
    if (!op || v->rank < 3) return NULL;
    const long long heads = op->attributes.heads, tokens = extent_value(&v->shape[1], dims);
    const long long width = value_columns(v) * (v->rank > 3 ? extent_value(&v->shape[2], dims) : 1);
    if (heads < 1 || tokens < 1 || width % heads != 0) return NULL;
    const long long token = index / width % tokens, head = index % width / (width / heads);
    const char *where = arena_printf(a, "sequence %lld, head %lld", index / width / tokens, head);
    const int block = field_of(phase, "pack") > 1 ? 0 : field_of(phase, "block_q");
    return block ? arena_printf(a, "%s, %s", where, span(a, "token", token, block, tokens)) : where;
}

static const char *tile_of(arena *a, const launch_phase *l, const ir_value *v, const dim_table *dims, long long index)
{
    const ir_phase *phase = l->phase;
    if (phase->family == family_gemm) return product_tile(a, l, v, dims, index);
    if (phase->family == family_attention) return attention_tile(a, phase, v, dims, index);
    long long row, column;
    const bool columns = phase->family == family_columns;
    if ((phase->family != family_rows && !columns) || !in_space(a, phase, v, dims, index, &row, &column)) return NULL;
    if (columns) {
        const char *where = span(a, "column", column, field_of(phase, "lanes") * field_of(phase, "v"), phase_space(a, phase).columns);
        return arena_printf(a, "row %lld, %s", row, where);
    }
    return span(a, "row", row, l->extents.tile_rows, extent_value(&l->extents.rows, dims));
}

/* ---- the emitted line */
static bool has_word(const char *line, size_t size, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(line + i, word, length) == 0) return true;
    return false;
}

/* The first line from `from` on that has the word. */
static bool find_line(place_made *m, arena *a, const char *source, const char *from, const char *word)
{
    int line = 1;
    for (const char *at = source; *at; line++) {
        const size_t size = strcspn(at, "\n");
        if (at >= from && has_word(at, size, word)) {
            m->line = line, m->text = trimmed(a, at, size);
            return true;
        }
        at += size + (at[size] == '\n');
    }
    return false;
}

/* The line where the value is computed, else where it is stored, else the struct of its phase. */
static void find_source(arena *a, place_made *m, const plan *p, const launch_phase *within, const ir_value *v)
{
    const char *source = source_join(a, &m->launch->source), *stem = names_choose(a, p->ir).values[v->id];
    const char *name = name_marked(a, stem, name_value);
    const char *head = arena_printf(a, "struct %s {", name_marked(a, name_phase_stem(a, m->launch, within), name_struct));
    const char *body = strstr(source, head);
    m->file = m->launch->file;
    if (!body) body = source;
    if (find_line(m, a, source, body, arena_printf(a, " %s = ", name)) || find_line(m, a, source, body, arena_printf(a, "p.%s +", name)) ||
        find_line(m, a, source, body, arena_printf(a, "p.%s[", name)))
        return;
    if (!find_line(m, a, source, body, arena_printf(a, "!%d:%d", v->def->at.line, v->def->at.column))) find_line(m, a, source, body, head);
}

place_made locate(bisection *b, const plan *p, const mismatch *found)
{
    place_made m = {0};
    arena *a = b->a;
    const ir_value *v = graph_value(p->ir, found->value->name);
    m.op = found->value->def ? spec_op(b, found->value->def) : NULL;
    if (m.op) m.spec_text = spec_line(b, m.op);
    const launch_phase *within = v && v->def ? plan_work_of(p, m.phase = phase_of(p->ir, v->def), &m.launch) : NULL;
    if (!within) return m;
    m.computes = kernel_ops(a, b->graph, m.launch->kernel);
    m.tile = tile_text(a, &m.phase->tile);
    const ir_value *shaped = v->def->kind == op_attention_partial ? found->value : v; /* partials are judged as the attention's result */
    m.within = tile_of(a, within, shaped, &p->ir->dims, found->first);
    find_source(a, &m, p, within, v);
    return m;
}
