/* In: launches and work. Out: predict.h. Refuses devices without a bandwidth. What is measured is in the device files; the constants here
 * are shares and times of an H200 (docs/performance.md), for devices that nobody has measured. */
#include "gen/base/predict.h"
#include "ir/program/segments.h"
#include <math.h>

/* Of an H200: 4.3 of 4.8 TB/s, 790 of 989 TFLOP/s, an empty launch; what a launch takes to fill and to drain; cycles of the epilogue of a
 * tile of 128 x 256 that no product hides. mma.sync of a machine that has wgmma, and products of vector instructions: of the peak. */
static const double bandwidth_share = 0.9, products_share = 0.8, usual_launch = 0.72e-6, fill = 0.8e-6, epilogue_cycles = 1250;
static const double mma_share = 0.62, simt_share = 0.6;

const char *const predicted_limit_names[] = {"memory", "cache", "products", "arithmetic", "launch"};

double wgmma_stage_cycles(long long n)
{
    const double multiply = 4.0 * (double)n, load = 300 + 2.5 * (double)n;
    return multiply > load ? multiply : load;
}

static double up(double x, double step) { return ceil(x / step) * step; }

static int field_of(const ir_phase *phase, const char *name, int otherwise)
{
    size_t size = 0;
    while (name[size]) size++;
    const int i = tile_field_find(phase->tile.program, name, size);
    return i < 0 ? otherwise : phase->tile.at[i];
}

static const packed_weight *pack_of(const plan *p, const ir_phase *phase)
{
    for (int i = 0; i < p->pack_count; i++)
        if (p->packs[i].phase == phase) return &p->packs[i];
    return NULL;
}

/* ---- tiles */
typedef struct tiles {
    double rows, columns, split; /* tiles along the rows, along the columns; parts of a tile's length */
} tiles;

static tiles tiles_of(const plan *p, const launch *l)
{
    const ir_phase *phase = l->kernel->phases[0];
    const double rows = (double)extent_value(&l->rows, &p->program->dims), split = field_of(phase, "split", 1);
    return (tiles){ceil(rows / l->tile_rows), l->column_tiles / split, split};
}

static bool is_matrix(layer_kind layer) { return layer != layer_simt && layer != layer_few; }

/* What frag on NVIDIA adds where it sums its rows' squares: a product of the rows with themselves beside those of a tile's pieces of
 * columns (templates/isa/mma_pieces.h). */
static double squares_share(const plan *p, const ir_phase *phase)
{
    const bool multiplied = phase_layer(phase) == layer_frag && p->target->vendor == vendor_nvidia && phase_input_sum(phase);
    return multiplied ? (double)piece_columns / field_of(phase, "n", piece_columns) : 0;
}

/* Of a linear: whole tiles, along its length too. */
static double padded_linear(const plan *p, const launch *l, const ir_op *product)
{
    const ir_phase *phase = l->kernel->phases[0];
    const tiles t = tiles_of(p, l);
    const double length = (double)value_columns(product->inputs[0]), columns = (double)pack_of(p, phase)->columns;
    const double all = 2 * t.rows * l->tile_rows * fmax(columns, t.columns * field_of(phase, "n", 0)) * up(length, field_of(phase, "k", 1));
    return all * (1 + squares_share(p, phase));
}

/* Of an attention: with the halves of its blocks that a mask hides. */
static double padded_products(const plan *p, const launch *l, const work *w)
{
    const ir_phase *phase = l->kernel->phases[0];
    const ir_op *product = phase_first(phase, class_PRODUCT), *attention = phase_first(phase, class_ATTENTION);
    if (product && pack_of(p, phase)) return padded_linear(p, l, product);
    if (!attention || !attention->attributes.causal || attention->kind != op_attention) return w->products;
    const dim_table *dims = &p->program->dims;
    const ir_value *q = attention->inputs[0];
    const double queries = (double)extent_value(&q->shape[0], dims) * (double)extent_value(&q->shape[1], dims);
    const double masked = queries * (field_of(phase, "block_k", 1) - 1) / 2;
    return w->products + 4 * masked * (double)attention->attributes.heads * (double)value_head_size(q, attention->attributes.heads);
}

/* Whether a value is the left or a right operand of the phase's products: 0, 1; -1: neither. */
static int side_of(const ir_phase *phase, const ir_value *v)
{
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        if (op_table[op->kind].class != class_PRODUCT) continue;
        if (op->inputs[0] == v) return 0;
        if (op->inputs[1] == v) return 1;
    }
    return -1;
}

/* What tiles that run at once touch, added up over all of them. Tiles go down each column of a group of row tiles, group after group. */
typedef struct touched {
    double rows, columns; /* row tiles, column tiles */
} touched;

static touched touched_by(const tiles *t, double group, double at_once)
{
    enum { most = 1 << 16 }; /* the rest is like these */
    const double all = t->rows * t->columns, each = group * t->columns, sets = fmax(1, ceil(all / at_once));
    const int walked = sets < most ? (int)sets : most;
    touched sum = {0, 0};
    for (int set = 0; set < walked; set++) {
        const double from = set * at_once, last = fmin(from + at_once, all) - 1;
        const double first_group = floor(from / each), last_group = floor(last / each);
        const double first_rows = fmin(group, t->rows - first_group * group), last_rows = fmin(group, t->rows - last_group * group);
        const double column = floor((from - first_group * each) / first_rows), to = floor((last - last_group * each) / last_rows);
        const bool one = first_group == last_group;
        const double in_first = (first_group + 1) * each - from, in_last = last - last_group * each + 1; /* tiles */
        sum.rows += one ? fmin(first_rows, last - from + 1)
                        : fmin(first_rows, in_first) + (last_group - first_group - 1) * group + fmin(last_rows, in_last);
        sum.columns += one ? to - column + 1 : last_group - first_group > 1 ? t->columns : fmin(t->columns, t->columns - column + to + 1);
    }
    return (touched){sum.rows * sets / walked, sum.columns * sets / walked};
}

/* Bytes of a product's operands. Every tile asks for its rows and its columns. Tiles that run at once walk along the length together, so
 * what they share comes from memory once. What does not fit half of the last level of cache comes again for those that run next: columns
 * for each group; a group's rows where between two uses of them the columns that pass have no room beside them. */
static void count_product(const plan *p, const launch *l, const work *w, prediction *out)
{
    const ir_phase *phase = l->kernel->phases[0];
    const tiles t = tiles_of(p, l);
    const double together = field_of(phase, "cluster", 1); /* workgroups that one tile of t is for */
    const double group = fmax(1, fmin(floor(field_of(phase, "group", 1) / together), t.rows));
    const double at_once = fmax(1, floor(p->device->units / t.split / together)), room = device_last_level(p->device) / 2;
    const packed_weight *pack = pack_of(p, phase);
    double operands = 0, right = 0, left = 0;
    for (int i = 0; i < w->tensor_count; i++) {
        const int side = side_of(phase, w->tensors[i].value);
        if (side == 0) left += w->tensors[i].read;
        if (side == 1) right += w->tensors[i].read;
        operands += side >= 0 ? w->tensors[i].read : 0;
    }
    if (pack) right = (double)pack->columns * (double)pack->length * dtype_size(pack->type);
    const double others = w->read + w->written - operands;
    const double between = left / t.rows * group + right / t.columns * fmin(ceil(at_once / group), t.columns);
    const bool fits = left + right <= room, kept = fits || between <= room;
    const touched all = kept ? (touched){t.rows, t.columns * ceil(t.rows / group)} : touched_by(&t, group, at_once);
    out->asked = left * t.columns + right * t.rows + others;
    out->moved = left * (all.rows / t.rows) + right * (fits || right <= room ? 1 : all.columns / t.columns) + others;
}

/* Keys and values are asked for by each tile of queries, and are still cached when the next one asks. */
static void count_attention(const plan *p, const launch *l, const work *w, const ir_op *op, prediction *out)
{
    const dim_table *dims = &p->program->dims;
    const double queries = (double)extent_value(&op->inputs[0]->shape[1], dims),
                 head = (double)value_head_size(op->inputs[0], op->attributes.heads);
    const ir_phase *phase = l->kernel->phases[0];
    const double tile = fmin(queries * field_of(phase, "pack", 1), field_of(phase, "block_q", l->tile_rows));
    double once = 0;
    for (int i = 0; i < w->tensor_count; i++)
        if (w->tensors[i].value == op->inputs[1] || w->tensors[i].value == op->inputs[2]) once += w->tensors[i].read;
    const double pairs = w->products / (4 * head), each = 2 * head * dtype_size(op->inputs[1]->type);
    const double again = phase->family == family_attention ? fmax(once, pairs / tile * each) : once; /* a decode's heads share them */
    out->asked = w->read + w->written - once + again;
    out->moved = w->read + w->written;
}

static void count_bytes(const plan *p, const launch *l, const work *w, prediction *out)
{
    const ir_phase *phase = l->kernel->phases[0];
    const ir_op *attention = phase_first(phase, class_ATTENTION);
    out->asked = out->moved = w->read + w->written;
    if (phase->family == family_gemm)
        count_product(p, l, w, out);
    else if (attention && attention->kind != op_attention_combine)
        count_attention(p, l, w, attention, out);
}

/* ---- rates */
static double bandwidth_of(const device_model *d, unsigned *assumed)
{
    if (d->numbers[number_bandwidth_reached].value > 0) return d->numbers[number_bandwidth_reached].value;
    *assumed |= assumed_bandwidth;
    return d->numbers[number_bandwidth].value * bandwidth_share;
}

static dtype operands_of(const ir_phase *phase, dtype otherwise)
{
    const ir_op *op = phase_first(phase, class_PRODUCT);
    if (!op) op = phase_first(phase, class_ATTENTION);
    return op ? op->inputs[0]->type : otherwise;
}

/* Of the highest clock, where the power limit leaves less while matrix units are busy. */
static double loaded_share(const device_model *d)
{
    const double loaded = d->numbers[number_clock_loaded].value, highest = d->numbers[number_clock].value;
    return loaded > 0 && highest > 0 ? loaded / highest : 1;
}

/* Narrow tiles of wgmma wait for shared memory: a stage takes wgmma_stage_cycles(), of which 4 a column are products. */
static double full_width(const ir_phase *phase)
{
    const int n = field_of(phase, "n", 256);
    return phase->family == family_gemm && phase_layer(phase) == layer_wgmma ? 4.0 * n / wgmma_stage_cycles(n) : 1;
}

/* Of all units, of which `busy` is the share that multiplies at a time: the power limit leaves them their peak, or what it leaves all. */
static double products_rate(const plan *p, const ir_phase *phase, double busy, unsigned *assumed)
{
    const device_model *d = p->device;
    const dtype type = operands_of(phase, p->program->type);
    const layer_kind layer = phase_layer(phase);
    if (!is_matrix(layer)) return d->rates[rate_vector].of[dtype_f32] * simt_share * busy;
    const double share = layer == layer_mma && target_has(d->target, layer_wgmma) ? mma_share : 1;
    const double peak = d->rates[rate_products].of[type], reached = d->rates[rate_products_reached].of[type];
    if (reached <= 0) *assumed |= assumed_products;
    return fmin(peak * busy, fmin(reached > 0 ? reached : peak * products_share, peak * loaded_share(d))) * share;
}

static double launch_seconds(const device_model *d, const launch *l, unsigned *assumed)
{
    const double overlapped = d->numbers[number_overlap_cost].value, usual = d->numbers[number_launch_cost].value;
    if (l->overlap && overlapped > 0) return overlapped;
    if (usual > 0) return usual;
    *assumed |= assumed_launch;
    return usual_launch;
}

/* Where one workgroup of a unit has tile after tile: nothing hides the end of any. */
static double epilogues(const device_model *d, const launch *l, double groups)
{
    const double clock = d->numbers[number_clock_loaded].value > 0 ? d->numbers[number_clock_loaded].value : d->numbers[number_clock].value;
    return l->resident == 1 && clock > 0 ? ceil(groups / d->units) * epilogue_cycles / clock : 0;
}

static double over(double work, double rate) { return rate > 0 ? work / rate : 0; }

bool launch_predict(const plan *p, const launch *l, const work *w, prediction *out)
{
    const device_model *d = p->device;
    const ir_phase *phase = l->kernel->phases[0];
    *out = (prediction){0};
    if (d->numbers[number_bandwidth].value <= 0) return false;
    const double groups = (double)launch_grid(l, &p->program->dims);
    count_bytes(p, l, w, out);
    out->padded = padded_products(p, l, w);
    out->use = groups / up(groups, d->units);
    /* A product's weights come as its tiles do, unit by unit; of rows, few units draw all that there is. */
    const double drawn = phase->family == family_gemm ? out->use : fmin(1, 2 * groups / d->units);
    out->memory = out->moved / (bandwidth_of(d, &out->assumed) * drawn);
    out->cache = over(out->asked, d->numbers[number_l2_bandwidth].value);
    const double at_once = fmin(1, groups / d->units), busy = at_once * full_width(phase), tail = out->use / at_once;
    out->products = w->products > 0 ? over(out->padded, products_rate(p, phase, busy, &out->assumed) * tail) : 0;
    out->arithmetic = over(w->others, d->rates[rate_vector].of[dtype_f32] * out->use);
    out->epilogues = epilogues(d, l, groups);
    out->fixed = launch_seconds(d, l, &out->assumed) + fill;
    const double computing = out->products + out->arithmetic + out->epilogues, longest = fmax(computing, fmax(out->memory, out->cache));
    out->seconds = out->fixed + longest;
    out->limit = out->fixed > longest               ? limited_by_launch
                 : longest == out->memory           ? limited_by_memory
                 : longest == out->cache            ? limited_by_cache
                 : out->products >= out->arithmetic ? limited_by_products
                                                    : limited_by_arithmetic;
    return true;
}

bool launch_flight(const plan *p, const launch *l, flight *out)
{
    const device_model *d = p->device;
    const double bandwidth = d->numbers[number_bandwidth].value;
    if (!l->under_way || bandwidth <= 0) return false;
    const double groups = fmin(l->resident, ceil((double)launch_grid(l, &p->program->dims) / d->units));
    *out = (flight){.bytes = groups * (double)l->under_way,
                    .needed = bandwidth * device_latency(d) / d->units,
                    .latency = device_latency(d),
                    .assumed = d->numbers[number_latency].value <= 0};
    return true;
}
