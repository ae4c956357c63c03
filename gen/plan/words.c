/* Contract: gen/plan/words.h. */
#include "gen/plan/words.h"
#include "gen/plan/accesses.h"
#include "gen/program/program.h"
#include <string.h>

/* ---- how a phase reads what another one stores */
typedef enum reading {
    reads_no_words, /* in a way for which there is no code */
    reads_rows,     /* each tile reads whole rows: operand A of a product */
    reads_columns,  /* each tile reads the columns that it computes */
    reads_heads,    /* the queries, or a new row of keys or values, of some heads */
    reads_old_rows  /* rows of a cache that were stored before the launch */
} reading;

static int phase_that_makes(const launch *l, const ir_value *v)
{
    for (int i = 0; i < l->work_count; i++)
        if (v->def && phase_has(l->work[i].phase, v->def)) return i;
    return -1;
}

/* Rows of 16-bit elements that begin at multiples of 8 of them, and consist of fours. */
static bool has_wordable_rows(const ir_value *v)
{
    return !v->root && dtype_size(v->type) == 2 && value_stride(v) % 8 == 0 && value_columns(v) % 4 == 0;
}

static bool has_rows_of(arena *a, const ir_value *v, const ir_value *as)
{
    const extent x = value_rows(a, v), y = value_rows(a, as);
    return extent_equal(&x, &y);
}

static bool is_one(const extent *x)
{
    long long n;
    return extent_is_number(x, &n) && n == 1;
}

/* The rows that an attention's operand (1: keys, 2: values) appends to a cache; NULL: it is no such cache, or an unsuitable one. */
static const ir_value *appended(const ir_op *attention, int operand)
{
    const ir_value *cache = attention->inputs[operand];
    const ir_op *append = cache->def;
    const ir_value *at = attention->attributes.at;
    if (!append || append->kind != op_kv_append || !at || append->attributes.at != at || value_run_length(cache)) return NULL;
    return append->inputs[0];
}

static bool is_query_of_one_token(const ir_value *q) { return q->rank == 3 && is_one(value_tokens(q)); }

static reading reads_in_product(arena *a, const ir_phase *phase, const ir_op *op, const ir_value *v)
{
    const ir_op *product = phase_first(phase, class_PRODUCT);
    const bool sums = op->kind == op_row_sumsq && op->role != role_epilogue;
    if (!has_wordable_rows(v)) return reads_no_words;
    if (op_table[op->kind].class == class_PRODUCT || sums)
        return v == product->inputs[0] && op->kind != op_matmul && has_rows_of(a, v, product->outputs[0]) ? reads_rows : reads_no_words;
    const bool beside = op_is_elementwise(op) && op->role == role_epilogue && value_columns(v) == value_columns(op->outputs[0]);
    return beside && has_rows_of(a, v, op->outputs[0]) ? reads_columns : reads_no_words;
}

static reading reads_in_attention(const ir_op *op, const ir_value *v)
{
    const ir_value *k = appended(op, 1), *x = appended(op, 2), *q = op->inputs[0];
    if (op_table[op->kind].class != class_ATTENTION || !k || !x || !is_query_of_one_token(q) || q->root) return reads_no_words;
    if (v == q) return has_wordable_rows(v) ? reads_heads : reads_no_words;
    const ir_value *rows = v == op->inputs[1] ? k : v == op->inputs[2] ? x : NULL;
    return rows && has_wordable_rows(rows) && rows->rank == 3 && is_one(value_tokens(rows)) ? reads_old_rows : reads_no_words;
}

static reading how_reads(arena *a, const launch_phase *w, const ir_op *op, const ir_value *v)
{
    const ir_phase *phase = w->phase;
    if (w->program->kind == program_gemm_ring) return reads_in_product(a, phase, op, v);
    return w->program->kind == program_decode_mma ? reads_in_attention(op, v) : reads_no_words;
}

/* ---- edges: what a phase reads that another one writes */
typedef struct edge {
    int from, to;           /* phases; from -1: the layer before */
    const ir_value *value;  /* that has the words */
    const ir_value *read;   /* operand of the reading op */
    reading how;
} edge;
typedef struct edges {
    arena *a;
    access_list all; /* accesses of the launch */
    edge *list;
    int count, capacity;
    const ir_value *in; /* stack_values.in, or NULL */
    const ir_value *out;
} edges;

static void add_edge(edges *e, edge one)
{
    if (e->count == e->capacity) {
        edge *list = arena_alloc(e->a, (size_t)(e->capacity = 2 * e->capacity + 8) * sizeof *list);
        if (e->count) memcpy(list, e->list, (size_t)e->count * sizeof *list);
        e->list = list;
    }
    e->list[e->count++] = one;
}

/* An attention that reads a cache also reads the rows that were appended to it. */
static void add_reads(edges *e, const launch *l, const access *read)
{
    const ir_value *v = read->value;
    const int from = first_writer(&e->all, value_root(v)), to = read->phase;
    const bool carried = value_root(v) == e->in;
    if ((from < 0 && !carried) || from == to) return;
    const reading how = how_reads(e->a, &l->work[to], read->op, v);
    add_edge(e, (edge){carried ? -1 : from, to, carried ? e->out : how == reads_old_rows ? NULL : v, v, how});
    if (how != reads_old_rows) return;
    const ir_value *rows = appended(read->op, v == read->op->inputs[1] ? 1 : 2);
    add_edge(e, (edge){phase_that_makes(l, rows), to, rows, v, reads_heads});
}

static edges edges_of(arena *a, const plan *p, const launch *l)
{
    edges e = {.a = a, .all = accesses_of(a, l), .in = p->stack.in, .out = p->stack.out};
    for (int i = 0; i < e.all.count; i++)
        if (!e.all.list[i].writes) add_reads(&e, l, &e.all.list[i]);
    return e;
}

/* ---- the decision */
static bool stores_fours(const ir_graph *p, const ir_phase *phase)
{
    for (int n = 0; n < phase->op_count; n++) {
        const ir_value *v = phase->ops[n]->outputs[0];
        if (value_stored(p, phase, v) && (value_stride(v) % 4 || value_columns(v) % 4)) return false;
    }
    return true;
}

static bool has_code(const plan *p, const launch *l, const edges *e)
{
    int products = 0;
    for (int i = 0; i < l->work_count; i++) {
        const program_kind kind = l->work[i].program->kind;
        if (kind != program_gemm_ring && kind != program_decode_mma) return false;
        if (!stores_fours(p->ir, l->work[i].phase)) return false;
        products += kind == program_gemm_ring;
    }
    for (int n = 0; n < e->count; n++)
        if (e->list[n].how == reads_no_words) return false;
    return products > 0 && e->count > 0;
}

static void add_words(arena *a, plan *p, const launch *l, const ir_value *v)
{
    if (!v || p->words[v->id]) return;
    const extent all = extent_multiply(a, v->at, value_rows(a, v), extent_number(value_stride(v))); /* a float for each element */
    p->scratches[p->scratch_count] = (scratch){.name = arena_printf(a, "%s.%s.words", l->kernel->name, v->name), .floats = all};
    p->words[v->id] = ++p->scratch_count;
}

void words_find(arena *a, plan *p, launch *l)
{
    const edges e = edges_of(a, p, l);
    if (!has_code(p, l, &e)) return;
    if (p->stack.out && (!has_wordable_rows(p->stack.in) || !has_wordable_rows(p->stack.out))) return;
    const int before = p->scratch_count;
    for (int n = 0; n < e.count; n++) add_words(a, p, l, e.list[n].value);
    l->words = !words_fault(a, p, l);
    if (l->words) return;
    memset(p->words, 0, ((size_t)p->ir->value_count + 1) * sizeof *p->words);
    p->scratch_count = before;
}

/* ---- the proof. Of a stack, it looks at two layers: node n of `work_count` times two is phase n % work_count of layer n / work_count. */
/* all[n]: the nodes all of whose tiles are computed once all tiles of node n are. before[n]: those all of whose tiles are computed before
 * any tile of node n can be. */
typedef struct progress {
    phase_set *all, *before;
} progress;

static void depend(progress *x, const edge *e, int from, int to)
{
    set_join(&x->all[to], &x->all[from]);
    set_join(&x->before[to], e->how == reads_rows ? &x->all[from] : &x->before[from]);
}

static progress progress_of(arena *a, const launch *l, const edges *e)
{
    const int count = l->work_count;
    progress x = {arena_alloc(a, 2 * (size_t)count * sizeof *x.all), arena_alloc(a, 2 * (size_t)count * sizeof *x.before)};
    const int last = e->out ? phase_that_makes(l, e->out) : -1;
    for (int node = 0; node < 2 * count; node++) {
        x.all[node].bits[node / 64] |= 1ull << node % 64;
        for (int n = 0; n < e->count; n++) {
            const edge *one = &e->list[n];
            if (one->to != node % count || one->how == reads_old_rows) continue;
            if (one->from >= 0) depend(&x, one, node - one->to + one->from, node);
            else if (node >= count && last >= 0) depend(&x, one, last, node);
        }
    }
    return x;
}

/* The error if words of a stack may be overwritten too early. */
static const char *stack_fault(arena *a, const launch *l, const edges *e)
{
    const int count = l->work_count;
    const progress x = progress_of(a, l, e);
    for (int n = 0; n < e->count; n++) {
        const edge *one = &e->list[n];
        if (one->how == reads_old_rows) continue;
        const bool carried = one->from < 0;
        const int writer = count + (carried ? phase_that_makes(l, one->value) : one->from), reader = one->to + (carried ? count : 0);
        if (!set_has(&x.before[writer], reader))
            return arena_printf(a, "phase %s may overwrite words of %%%s that phase %s still reads", l->work[writer - count].phase->name,
                                one->value->name, l->work[one->to].phase->name);
    }
    for (int i = 0; i < count; i++) /* the parts that workgroups of a phase hand to each other */
        if (l->work[i].scratch >= 0 && !set_has(&x.before[count + i], i))
            return arena_printf(a, "phase %s may overwrite parts of the layer before", l->work[i].phase->name);
    return NULL;
}

static const char *write_fault(arena *a, const launch *l, const access_list *all)
{
    for (int i = 0; i < all->count; i++) {
        const access *one = &all->list[i];
        const int first = one->writes ? first_writer(all, value_root(one->value)) : one->phase;
        if (first != one->phase)
            return arena_printf(a, "phases %s and %s write the memory of %%%s", l->work[first].phase->name, l->work[one->phase].phase->name,
                                one->value->name);
    }
    return NULL;
}

const char *words_fault(arena *a, const plan *p, const launch *l)
{
    const edges e = edges_of(a, p, l);
    for (int n = 0; n < e.count; n++) {
        const edge *one = &e.list[n];
        const char *to = l->work[one->to].phase->name;
        if (one->how == reads_no_words || (one->how != reads_old_rows && !p->words[one->value->id]))
            return arena_printf(a, "phase %s reads %%%s, which has no words for it", to, one->read->name);
        if (one->from >= one->to || (one->from < 0 && phase_that_makes(l, one->value) < 0))
            return arena_printf(a, "phase %s reads %%%s before it is written", to, one->read->name);
    }
    const char *fault = write_fault(a, l, &e.all);
    return fault || !e.in ? fault : stack_fault(a, l, &e);
}
