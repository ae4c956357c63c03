/* In: a phase and a target. Out: its tile settings. Refuses what tile.h says. Defaults first, then settings of the
 * program's own text (a plan that is read back), then lines of the tuning table; what results is checked as a whole. */
#include "gen/layer.h"
#include "gen/layer_amd.h"
#include "gen/layer_mma.h"
#include "gen/spilled.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_settings = 12 };

typedef struct settings {
    tile_setting items[most_settings];
    int count;
} settings;

static const char *const family_names[] = {"rows", "gemm", "attention", "decode", "combine", "align"};

static bool is_host(const tile_request *r) { return strcmp(r->target->family, "host") == 0; }

static void put(settings *s, const char *key, long long value)
{
    s->items[s->count++] = (tile_setting){key, (int)value};
}

static long long power_of_two_up(long long n)
{
    long long p = 1;
    while (p < n) p *= 2;
    return p;
}

static long long power_of_two_in(long long n, long long most)
{
    long long p = 1;
    while (2 * p <= most && n % (2 * p) == 0) p *= 2;
    return p;
}

/* ---- rows. V: columns a thread takes at a time */
static long long least(long long x, long long y) { return x < y ? x : y; }

/* What V must divide, so that no vector lies across a head, a piece of a concat, or the end of a slice. */
static long long whole_columns(const tile_request *r, const ir_op *op, long long most)
{
    const long long N = r->space.columns;
    long long v = most;
    for (int i = 0; i < op->input_count + op->output_count; i++) {
        const ir_value *x = i < op->input_count ? op->inputs[i] : op->outputs[i - op->input_count];
        if (x->rank > 0 && value_columns(x) != 1 && value_columns(x) != N && op->kind != op_kv_append)
            v = power_of_two_in(value_columns(x), v);
    }
    const ir_attributes *t = &op->attributes;
    if (op->kind == op_slice) v = power_of_two_in(value_columns(op->outputs[0]), power_of_two_in(t->offset, v));
    if (op->kind == op_concat)
        for (int i = 0; i < op->input_count; i++) v = power_of_two_in(value_columns(op->inputs[i]), v);
    if (op->kind == op_reshape)
        v = power_of_two_in(value_columns(op->inputs[0]), power_of_two_in(value_columns(op->outputs[0]), v));
    if (op->kind == op_rope) {
        const long long head = value_head_size(op->outputs[0], t->heads);
        v = power_of_two_in(t->pairing == pairing_half ? t->rotary / 2 : t->rotary, power_of_two_in(head, v));
    }
    if (op->kind == op_kv_append) v = power_of_two_in(value_columns(op->outputs[0]), v);
    return v;
}

static long long aligned_columns(const ir_value *x, long long N, long long most)
{
    if (value_columns(x) != N) return most;
    most = power_of_two_in(N, most);
    if (x->root && x->root_stride) most = power_of_two_in(x->root_offset, power_of_two_in(x->root_stride, most));
    return most;
}

static long long rows_vector(const tile_request *r)
{
    long long v = is_host(r) ? 16 : 8;
    for (int i = 0; i < r->phase->op_count; i++) {
        const ir_op *op = r->phase->ops[i];
        if (op_is_view(op)) continue;
        v = whole_columns(r, op, v);
        if (is_host(r)) continue;
        for (int k = 0; k < op->input_count; k++) v = aligned_columns(op->inputs[k], r->space.columns, v);
        v = aligned_columns(op->outputs[0], r->space.columns, v);
    }
    return v;
}

/* Values that a row reads in whole: one, or more. */
static bool reads_several(const tile_request *r)
{
    const ir_value *first = NULL;
    for (int i = 0; i < r->phase->op_count; i++)
        for (int k = 0; k < r->phase->ops[i]->input_count; k++) {
            const ir_value *v = r->phase->ops[i]->inputs[k];
            const extent rows = value_rows(r->a, v);
            if (value_columns(v) != r->space.columns || !extent_equal(&rows, &r->space.rows) || (v->def && phase_of(r->program, v->def) == r->phase)) continue;
            if (first && first != v) return true;
            first = v;
        }
    return false;
}

static int reductions_of(const ir_phase *phase)
{
    int count = 0;
    for (int i = 0; i < phase->op_count; i++) count += op_table[phase->ops[i]->kind].class == class_REDUCE;
    return count;
}

/* Vectors of a thread under way at once. An angle's reduction holds many registers: with eight, old compilers spill. Four where an H200 has
 * threads for all rows at once, of 2048 x 2048: add and rmsnorm 9.6 us, 10.8 with eight; rmsnorm 5.4 and 5.6; but layernorm, which adds up
 * twice, 6.1 and 5.9. */
static long long rows_most_vectors(const tile_request *r, long long vectors)
{
    enum { h200_threads = 132 * 2048 };
    const long long rows = extent_value(&r->space.rows, &r->program->dims);
    for (int i = 0; i < r->phase->op_count; i++)
        if (r->phase->ops[i]->kind == op_sin || r->phase->ops[i]->kind == op_cos) return 2;
    if (strcmp(r->target->family, "hopper") != 0 || rows * vectors > 4 * h200_threads) return 8;
    return reads_several(r) || reductions_of(r->phase) == 1 ? 4 : 8;
}

/* Threads a row. Eight vectors each are enough to have in flight, and a row inside a wave needs no barrier; with few rows more threads share
 * one, until each has one vector or the machine (most_threads of it) is busy. */
static long long rows_team(const tile_request *r, long long vectors)
{
    enum { most_threads = 65536 };
    const long long most_vectors = rows_most_vectors(r, vectors);
    const long long rows = extent_value(&r->space.rows, &r->program->dims);
    long long team = least(power_of_two_up(vectors), r->target->wave);
    while (team < 1024 && team * most_vectors < vectors) team *= 2;
    while (team < 256 && team < vectors && rows * team < most_threads) team *= 2;
    return team;
}

static void rows_defaults(const tile_request *r, settings *s)
{
    const long long v = rows_vector(r), vectors = (r->space.columns + v - 1) / v, team = is_host(r) ? 1 : rows_team(r, vectors);
    put(s, "threads", is_host(r) ? 1 : team > 128 ? team : 128);
    put(s, "team", team);
    put(s, "v", v);
}

/* ---- gemm */
typedef struct gemm_tile {
    int most_rows, m, n, k, thread_m, thread_n; /* for at most so many rows; 0: any number */
    int threads; /* more than cover the tile: few rows, waves share out K; 0: as many as cover it */
} gemm_tile;

static const gemm_tile host_tiles[] = {
    {4, 4, 256, 64, 4, 32, 0}, {16, 16, 128, 64, 8, 32, 0}, {48, 32, 128, 64, 8, 32, 0}, {0, 128, 128, 64, 8, 32, 0}};
static const gemm_tile gpu_tiles[] = {
    {1, 1, 32, 16, 1, 8, 256},   {2, 2, 32, 16, 2, 8, 256},   {4, 4, 32, 16, 4, 8, 256}, {16, 8, 32, 16, 8, 8, 256},
    {48, 32, 64, 32, 2, 8, 0}, {96, 64, 64, 16, 4, 8, 0}, {0, 128, 128, 16, 8, 8, 0}};
static const gemm_tile narrow_tile = {0, 128, 64, 16, 8, 8, 0}; /* few columns */

static void put_wgmma(const tile_request *r, settings *s)
{
    const wgmma_tile t = r->layer == layer_wgmma3 ? wgmma3_defaults(r) : wgmma_defaults(r);
    put(s, "layer", r->layer);
    put(s, "m", t.m), put(s, "n", t.n), put(s, "k", t.k);
    put(s, "threads", t.threads), put(s, "slots", t.slots), put(s, "group", t.group), put(s, "cluster", t.cluster);
    put(s, "split", t.split), put(s, "stage", t.stage);
}

static void put_amd(const tile_request *r, settings *s)
{
    const amd_tile t = amd_defaults(r);
    put(s, "layer", r->layer);
    put(s, "m", t.m), put(s, "n", t.n), put(s, "k", t.k);
    put(s, "threads", t.threads), put(s, "slots", t.slots), put(s, "group", t.group);
    put(s, "chiplets", t.chiplets), put(s, "chunk", t.chunk);
}

static void put_mma(const tile_request *r, settings *s)
{
    const mma_tile t = mma_defaults(r);
    put(s, "layer", r->layer);
    put(s, "m", t.m), put(s, "n", t.n), put(s, "k", t.k);
    put(s, "threads", t.threads), put(s, "slots", t.slots), put(s, "group", t.group);
}

static void gemm_defaults(const tile_request *r, settings *s)
{
    if (r->layer == layer_mma) {
        put_mma(r, s);
        return;
    }
    if (layer_is_amd(r->layer)) {
        put_amd(r, s);
        return;
    }
    if (layer_is_wgmma(r->layer)) {
        put_wgmma(r, s);
        return;
    }
    const gemm_tile *t = is_host(r) ? host_tiles : gpu_tiles;
    const ir_value *out = NULL;
    for (int i = 0; i < r->phase->op_count && !out; i++)
        if (op_table[r->phase->ops[i]->kind].class == class_PRODUCT) out = r->phase->ops[i]->outputs[0];
    const bool matmul = out->def->kind == op_matmul;
    const long long rows = matmul ? extent_value(&out->shape[out->rank - 2], &r->program->dims)
                                  : extent_value(&r->space.rows, &r->program->dims);
    while (t->most_rows && rows > t->most_rows) t++;
    if (!is_host(r) && !t->most_rows && r->packed_n <= 64) t = &narrow_tile;
    put(s, "layer", layer_simt);
    put(s, "m", t->m), put(s, "n", t->n), put(s, "k", t->k);
    put(s, "thread_m", t->thread_m), put(s, "thread_n", t->thread_n);
    put(s, "threads", t->threads ? t->threads : (t->m / t->thread_m) * (t->n / t->thread_n));
    put(s, "slots", 2);
}

/* ---- attention */
static const ir_op *attention_of(const ir_phase *phase)
{
    const ir_op *op = phase->ops[0];
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class_ATTENTION) op = phase->ops[i];
    return op;
}

static long long head_size(const ir_phase *phase)
{
    const ir_op *op = attention_of(phase);
    return op->kind == op_attention_combine ? value_columns(op->inputs[0]) - 2
                                            : value_head_size(op->inputs[0], op->attributes.heads);
}

static long long block_keys(const tile_request *r, long long head)
{
    long long keys = 32;
    while (keys > 4 && 2 * keys * (head + 64) * 4 > tile_shared_limit(r->target)) keys /= 2;
    while (keys > 1 && 2 * keys * head * 4 + 16 > tile_shared_limit(r->target)) keys /= 2;
    return keys;
}

static bool is_nvidia(const tile_request *r) { return strncmp(r->target->name, "sm_", 3) == 0; }

/* Blocks of so many queries are enough for two on each of 132 multiprocessors: then a thread may have a whole row, whose keys it
 * reads once for all its columns and whose scores no lanes exchange (H200, f32, B4 S512 H32 hd64: 663 us with teams of 4, 316 alone). */
static bool fills_machine(const tile_request *r, long long block_q)
{
    const ir_op *op = attention_of(r->phase);
    const extent *shape = op->outputs[0]->shape;
    const dim_table *dims = &r->program->dims;
    const long long blocks = (extent_value(&shape[1], dims) + block_q - 1) / block_q;
    return extent_value(&shape[0], dims) * blocks * op->attributes.heads >= 264;
}

static void attention_defaults(const tile_request *r, settings *s)
{
    if (r->layer == layer_wgmma) {
        const wgmma_attention_tile t = wgmma_attention_defaults(r);
        put(s, "layer", layer_wgmma);
        put(s, "block_q", t.block_q), put(s, "block_k", t.block_k);
        put(s, "slots", t.slots), put(s, "pack", t.pack), put(s, "threads", t.threads);
        return;
    }
    if (layer_is_amd(r->layer)) {
        const amd_attention_tile t = amd_attention_defaults(r);
        put(s, "layer", r->layer);
        put(s, "block_q", t.block_q), put(s, "block_k", t.block_k), put(s, "threads", t.threads);
        put(s, "chiplets", t.chiplets);
        return;
    }
    const long long head = head_size(r->phase);
    long long team = is_host(r) ? 1 : least(power_of_two_up((head + 15) / 16), r->target->wave);
    const bool alone = is_nvidia(r) && head <= 64 && fills_machine(r, 128);
    if (!is_host(r)) put(s, "layer", layer_simt);
    if (alone) team = 1;
    const long long threads = is_host(r) ? 64 : alone ? 128 : 256;
    put(s, "block_q", threads / team);
    put(s, "block_k", alone ? 64 : block_keys(r, head));
    put(s, "team", team);
    put(s, "threads", threads);
}

/* Keys that a split of a decode step takes at least, and splits at most. */
static long long split_count(const tile_request *r)
{
    const ir_op *op = attention_of(r->phase);
    const ir_value *k = op->inputs[1];
    const long long keys = extent_high(value_tokens(k), &r->program->dims);
    const long long each = is_host(r) ? 512 : 256, most = is_host(r) ? 8 : 32;
    const long long splits = keys / each + (keys % each != 0);
    return splits < 1 ? 1 : least(splits, most);
}

static void decode_defaults(const tile_request *r, settings *s)
{
    const long long head = head_size(r->phase);
    put(s, "team", is_host(r) ? 1 : least(power_of_two_up((head + 7) / 8), r->target->wave));
    put(s, "threads", is_host(r) ? 1 : 256);
    put(s, "splits", split_count(r));
}

static void combine_defaults(const tile_request *r, settings *s)
{
    put(s, "threads", is_host(r) ? 1 : least(power_of_two_up(head_size(r->phase)), 256));
}

static void align_defaults(const tile_request *r, settings *s)
{
    put(s, "threads", is_host(r) ? 1 : 256);
    put(s, "each", 4);
}

/* ---- overrides */
static bool set(settings *s, const char *key, size_t size, int value)
{
    for (int i = 0; i < s->count; i++) {
        if (strlen(s->items[i].key) != size || memcmp(s->items[i].key, key, size) != 0) continue;
        s->items[i].value = value;
        return true;
    }
    return false;
}

static void take_text(const tile_request *r, settings *s)
{
    for (int i = 0; i < r->phase->tile_count; i++) {
        const tile_setting *t = &r->phase->tile[i];
        if (!set(s, t->key, strlen(t->key), t->value))
            bail(r->a, code_unsupported, (position){0}, "phase %s: %s has no setting '%s'", r->phase->name,
                 family_names[r->phase->family], t->key);
    }
}

typedef struct line_setting {
    const char *key;
    size_t key_size;
    int value;
} line_setting;

static int line_value(const tile_request *r, const char *line, const char *at, size_t key, const char **end)
{
    const char *from = at + key + 1;
    *end = from;
    if (at[key] != '=') return 0; /* the line may end here */
    const size_t size = strcspn(from, " \t");
    size_t layers;
    const char *const *names = layer_names(&layers);
    const bool layer = key == 5 && memcmp(at, "layer", 5) == 0;
    for (size_t i = 0; layer && i < layers; i++)
        if (strlen(names[i]) == size && memcmp(names[i], from, size) == 0) return *end = from + size, (int)i;
    if (layer) bail(r->a, code_unsupported, (position){0}, "tuning: '%s': no layer '%.*s'", line, (int)size, from);
    char *stop = NULL;
    const long value = strtol(from, &stop, 10);
    if (value < 0 || value > 1 << 20 || (*stop && *stop != ' ' && *stop != '\t')) return 0;
    return *end = stop, (int)value;
}

/* The setting at *at, which moves behind it; false at the end of the line. */
static bool next_setting(const tile_request *r, const char *line, const char **at, line_setting *out)
{
    *at += strspn(*at, " \t");
    if (!**at || **at == '#') return false;
    const char *end;
    *out = (line_setting){*at, strcspn(*at, "= \t"), 0};
    out->value = line_value(r, line, *at, out->key_size, &end);
    if (end == *at + out->key_size + 1)
        bail(r->a, code_unsupported, (position){0}, "tuning: '%s': expected key=number, at '%s'", line, *at);
    *at = end;
    return true;
}

/* What follows the family's name, or NULL when the line is another family's. */
static const char *line_settings(const tile_request *r, const char *line)
{
    const size_t family = strcspn(line, " \t");
    const char *name = family_names[r->phase->family];
    return strlen(name) == family && memcmp(name, line, family) == 0 ? line + family : NULL;
}

static void take_line(const tile_request *r, settings *s, const char *line)
{
    const char *at = line_settings(r, line);
    line_setting one;
    while (at && next_setting(r, line, &at, &one))
        if (!set(s, one.key, one.key_size, one.value))
            bail(r->a, code_unsupported, (position){0}, "tuning: '%s': %s has no setting '%.*s'", line,
                 family_names[r->phase->family], (int)one.key_size, one.key);
}

int tile_asked(const tile_request *r, const char *key)
{
    int value = (int)tile_value(r->phase, key);
    line_setting one;
    for (size_t i = 0; r->tuning && i < r->tuning->count; i++)
        for (const char *line = r->tuning->lines[i], *at = line_settings(r, line); at && next_setting(r, line, &at, &one);)
            if (strlen(key) == one.key_size && memcmp(key, one.key, one.key_size) == 0) value = one.value;
    return value;
}

static void check_lines(const tile_request *r)
{
    for (size_t i = 0; r->tuning && i < r->tuning->count; i++) {
        const char *line = r->tuning->lines[i];
        const size_t size = strcspn(line, " \t");
        bool known = size == 0 || line[0] == '#';
        for (size_t f = 0; f < sizeof family_names / sizeof *family_names; f++)
            known |= strlen(family_names[f]) == size && memcmp(family_names[f], line, size) == 0;
        if (!known)
            bail(r->a, code_unsupported, (position){0}, "tuning: '%s': no family '%.*s'", line, (int)size, line);
    }
}

/* ---- legality */
long long tile_value(const ir_phase *phase, const char *key)
{
    for (int i = 0; i < phase->tile_count; i++)
        if (strcmp(phase->tile[i].key, key) == 0) return phase->tile[i].value;
    return -1;
}

static void need(const tile_request *r, bool holds, const char *rule)
{
    if (!holds)
        bail(r->a, code_unsupported, (position){0}, "tile: phase %s (%s) on %s: %s", r->phase->name,
             family_names[r->phase->family], r->target->name, rule);
}

static bool is_power_of_two(long long n) { return n > 0 && (n & (n - 1)) == 0; }

static void check_rows(const tile_request *r, const ir_phase *p)
{
    const long long threads = tile_value(p, "threads"), team = tile_value(p, "team"), v = tile_value(p, "v");
    need(r, is_power_of_two(team) && is_power_of_two(v) && v <= 16, "team and v are powers of two, v at most 16");
    need(r, threads % team == 0, "team divides threads");
    tile_request wide = *r;
    wide.target = target_find("host");
    need(r, rows_vector(&wide) % v == 0 || v == 1, "v divides head sizes, slices and pieces");
}

static void check_gemm(const tile_request *r, const ir_phase *p)
{
    if (layer_is_amd(layer_of(p))) {
        const char *rule = amd_illegal(r, p);
        need(r, !rule, rule);
        return;
    }
    if (layer_of(p) == layer_mma) {
        const char *rule = mma_illegal(p);
        need(r, !rule, rule);
        return;
    }
    if (layer_is_wgmma(layer_of(p))) {
        const char *rule = layer_of(p) == layer_wgmma3 ? wgmma3_illegal(p) : wgmma_illegal(r, p);
        need(r, !rule, rule);
        return;
    }
    const long long m = tile_value(p, "m"), n = tile_value(p, "n"), k = tile_value(p, "k"),
                    thread_m = tile_value(p, "thread_m");
    const long long thread_n = tile_value(p, "thread_n"), threads = tile_value(p, "threads");
    need(r, m > 0 && n > 0 && k > 0 && thread_m > 0 && thread_n > 0, "m, n, k, thread_m and thread_n are positive");
    need(r, m % thread_m == 0 && n % thread_n == 0, "thread_m divides m and thread_n divides n");
    need(r, thread_n % (2 * r->target->granule) == 0, "thread_n is a multiple of two granules");
    if (threads > (m / thread_m) * (n / thread_n)) {
        const int wave = r->target->wave;
        need(r, m == thread_m && is_power_of_two(m) && m <= 16,
             "threads = m/thread_m * n/thread_n; with more, m = thread_m, a power of two, at most 16");
        need(r, thread_n == 2 * r->target->granule && threads % (wave * (n / thread_n)) == 0,
             "with more threads than cover the tile, thread_n is two granules and as many waves share each");
    } else
        need(r, (m / thread_m) * (n / thread_n) == threads, "threads = m/thread_m * n/thread_n");
    need(r, k % 16 == 0, "k is a multiple of 16");
    need(r, tile_value(p, "slots") >= 1 && tile_value(p, "slots") <= 2, "slots is 1 or 2");
}

/* On GPUs a wave has a row in registers, some of each lane's; more columns than that spill on every target. */
static void check_head(const tile_request *r)
{
    enum { most_columns = 32 };
    const long long head = head_size(r->phase), most = (long long)r->target->wave * most_columns;
    if (!is_host(r) && head > most)
        bail(r->a, code_unsupported, attention_of(r->phase)->at, "attention: heads have %lld columns; kernels for %s take at most %lld", head,
             r->target->name, most);
}

static void check_attention(const tile_request *r, const ir_phase *p)
{
    check_head(r);
    if (layer_of(p) != layer_simt) {
        const char *rule = layer_is_amd(layer_of(p)) ? amd_attention_illegal(p) : wgmma_attention_illegal(p);
        need(r, !rule, rule);
        return;
    }
    const long long threads = tile_value(p, "threads"), team = tile_value(p, "team");
    need(r, is_power_of_two(team) && team <= r->target->wave, "team is a power of two, at most a wave");
    need(r, threads % team == 0, "team divides threads");
    if (p->family == family_attention) {
        need(r, tile_value(p, "block_k") > 0, "block_k is positive");
        need(r, tile_value(p, "block_q") * team == threads, "threads = block_q * team");
    } else
        need(r, tile_value(p, "splits") >= 1 && tile_value(p, "splits") <= 1024, "splits is 1 to 1024");
}

static void check(const tile_request *r, const ir_phase *p)
{
    const long long threads = tile_value(p, "threads");
    if (threads < 1 || threads > r->target->max_threads)
        need(r, false, arena_printf(r->a, "%lld threads; a workgroup has 1 to %d", threads, r->target->max_threads));
    if (p->family == family_rows)
        check_rows(r, p);
    else if (p->family == family_gemm)
        check_gemm(r, p);
    else if (p->family == family_align)
        need(r, tile_value(p, "each") >= 1 && tile_value(p, "each") <= 16, "each is 1 to 16");
    else if (p->family != family_combine)
        check_attention(r, p);
    const long long shared = tile_shared_bytes(r, p);
    const int most = layer_of(p) == layer_simt ? tile_shared_limit(r->target) : r->target->lds_bytes;
    if (shared > most)
        need(r, false, arena_printf(r->a, "%lld bytes of shared memory; a workgroup has %d", shared, most));
}

bool tile_choose(const tile_request *r, ir_phase *phase)
{
    static void (*const defaults[])(const tile_request *, settings *) = {
        rows_defaults, gemm_defaults, attention_defaults, decode_defaults, combine_defaults, align_defaults};
    settings s = {.count = 0};
    defaults[phase->family](r, &s);
    if (!r->second) take_text(r, &s);
    check_lines(r);
    for (size_t i = 0; !r->second && r->tuning && i < r->tuning->count; i++) take_line(r, &s, r->tuning->lines[i]);
    ir_phase tried = *phase;
    tried.tile = arena_alloc(r->a, (size_t)s.count * sizeof *tried.tile);
    memcpy(tried.tile, s.items, (size_t)s.count * sizeof *tried.tile);
    tried.tile_count = s.count;
    check(r, &tried);
    for (; tile_has_spilled(&tried); check(r, &tried))
        if (!tile_make_smaller(r, &tried)) return false;
    phase->tile = tried.tile;
    phase->tile_count = s.count;
    return true;
}
