/* Occupancy, against CUDA's calculator and LLVM's report; the predicted time of a launch, against a closed form. */
#include "gen/plan/predict.h"
#include "ir/devices/occupancy.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a unit holds */
typedef struct held {
    const char *device;
    kernel_need need; /* threads, registers, AGPRs in a file of their own, SGPRs, bytes of shared memory */
    int groups, waves;
    unsigned limits;
} held;

/* NVIDIA: the occupancy calculator of CUDA 13. AMD: waves by registers as LLVM 22 reports, rounded down to whole workgroups;
 * LDS sizes are rounded up to allocation units. */
static const held known[] = {
    {"h200", {384, 168, 0, 0, 199744}, 1, 3, 1u << by_registers | 1u << by_shared},
    {"h200", {256, 64, 0, 0, 0}, 4, 8, 1u << by_registers},
    {"h200", {1024, 32, 0, 0, 0}, 2, 16, 1u << by_waves},
    {"h200", {32, 16, 0, 0, 0}, 32, 8, 1u << by_groups},
    {"h200", {128, 40, 0, 0, 30000}, 7, 7, 1u << by_shared},
    {"a100", {256, 128, 0, 0, 40000}, 2, 4, 1u << by_registers},
    {"a100", {128, 255, 0, 0, 0}, 2, 2, 1u << by_registers},
    {"mi210", {256, 128, 0, 20, 0}, 4, 4, 1u << by_registers},
    {"mi210", {512, 256, 0, 30, 65536}, 1, 2, 1u << by_registers | 1u << by_shared},
    {"mi300x", {256, 20, 0, 30, 20000}, 3, 3, 1u << by_shared},
    {"mi300x", {64, 8, 0, 16, 0}, 32, 8, 1u << by_waves},
    {"mi100", {64, 20, 128, 20, 0}, 8, 2, 1u << by_sums},
    {"mi100", {64, 20, 0, 96, 0}, 32, 8, 1u << by_scalars},
    {"mi355x", {512, 128, 0, 40, 140000}, 1, 2, 1u << by_shared},
    {"rx7900xtx", {256, 168, 0, 40, 0}, 4, 8, 1u << by_registers},
    {"rx9070xt", {128, 250, 0, 40, 60000}, 2, 2, 1u << by_shared},
};

START_TEST(occupancy_is_that_of_the_vendors_calculators)
{
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        occupancy o;
        ck_assert(occupancy_of(device_model_find(a, known[i].device), &known[i].need, &o));
        ck_assert_msg(o.groups == known[i].groups && o.waves == known[i].waves && o.limits == known[i].limits,
                      "%s, case %zu: %d workgroups, %d waves, limits %x", known[i].device, i, o.groups, o.waves, o.limits);
    }
    arena_free(a);
}
END_TEST

/* With exactly step[limit] registers (or bytes) one more workgroup fits; with one more of them it does not. */
START_TEST(the_step_is_the_largest_size_at_which_one_more_workgroup_fits)
{
    arena *a = arena_new();
    int steps = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const device_model *d = device_model_find(a, known[i].device);
        occupancy o, more;
        ck_assert(occupancy_of(d, &known[i].need, &o));
        for (int limit = by_registers; limit <= by_shared; limit++) {
            if (!(o.limits >> limit & 1) || o.step[limit] < 0) continue;
            for (int above = 0; above < 2; above++) {
                kernel_need need = known[i].need;
                if (limit == by_registers) need.registers = (int)o.step[limit] + above;
                if (limit == by_sums) need.sums = (int)o.step[limit] + above;
                if (limit == by_scalars) need.scalars = (int)o.step[limit] + above;
                if (limit == by_shared) need.shared = o.step[limit] + above;
                ck_assert(occupancy_of(d, &need, &more));
                ck_assert_msg(above ? more.by[limit] <= o.by[limit] : more.by[limit] > o.by[limit],
                              "%s, case %zu, limit %d, step %lld + %d: "
                              "%d, before %d",
                              known[i].device, i, limit, o.step[limit], above, more.by[limit], o.by[limit]);
            }
            steps++;
        }
    }
    ck_assert_int_ge(steps, 10);
    arena_free(a);
}
END_TEST

START_TEST(every_gpu_target_is_in_the_table)
{
    arena *a = arena_new();
    size_t count;
    const target_info *list = target_list(&count);
    for (size_t i = 0; i < count; i++) {
        occupancy o;
        ck_assert_msg(occupancy_of(device_model_default(a, &list[i]), &(kernel_need){64, 32, 0, 16, 0}, &o) ==
                          (list[i].vendor != vendor_host),
                      "%s: ir/devices/occupancy.def", list[i].name);
    }
    arena_free(a);
}
END_TEST

/* Workgroups with one wave per SIMD. If they need nothing else, a unit holds as many as it has threads for; if each needs half of the
 * unit's registers, it holds two. */
START_TEST(occupancy_uses_a_units_threads_and_registers_in_full)
{
    static const struct {
        const char *device;
        int threads, registers;
    } known[] = {{"h200", 2048, 65536}, {"a100", 2048, 65536}, {"mi300x", 2048, 131072}, {"mi100", 2560, 65536},
                 {"rx7900xtx", 2048, 196608}};
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const device_model *d = device_model_find(a, known[i].device);
        const unit_room room = unit_room_of(d->target);
        const int threads = room.simds * d->target->wave;
        occupancy o;
        ck_assert_int_eq(room.threads, known[i].threads);
        ck_assert_int_eq(room.registers, known[i].registers);
        ck_assert(occupancy_of(d, &(kernel_need){.threads = threads}, &o));
        ck_assert_int_eq(o.by[by_waves], room.threads / threads);
        ck_assert(occupancy_of(d, &(kernel_need){.threads = threads, .registers = room.registers / threads / 2}, &o));
        ck_assert_int_eq(o.by[by_registers], 2);
    }
    ck_assert_int_eq(unit_room_of(target_find("host")).threads, 0);
    arena_free(a);
}
END_TEST

START_TEST(the_limit_of_occupancy_is_shown_with_the_next_step)
{
    arena *a = arena_new();
    const device_model *d = device_model_find(a, "h200");
    const kernel_need need = {384, 168, 0, 0, 100000}, small = {256, 64, 0, 0, 0};
    occupancy o;
    ck_assert(occupancy_of(d, &need, &o));
    ck_assert_str_eq(occupancy_text(a, d, &need, &o), "1 workgroup of 12 warps per multiprocessor, 3 warps per scheduler of at most 16, "
                                                      "limited by registers; one more with 80 registers instead of 168");
    ck_assert(occupancy_of(d, &small, &o));
    ck_assert_str_eq(occupancy_text(a, d, &small, &o), "4 workgroups of 8 warps per multiprocessor, 8 warps per scheduler of at most 16, "
                                                       "limited by registers; one more with 48 registers instead of 64");
    ck_assert(!occupancy_of(device_model_find(a, "host"), &small, &o));
    arena_free(a);
}
END_TEST

/* ---- the model of time */
static device_model clean(void)
{
    device_model d = {.name = "clean", .target = target_find("sm_90a"), .units = 8, .chiplets = 1, .busy_threads = 512};
    d.numbers[number_clock].value = 1e9, d.numbers[number_clock_loaded].value = 5e8;
    d.numbers[number_bandwidth].value = 2e12, d.numbers[number_bandwidth_reached].value = 1e12;
    d.numbers[number_l2_bandwidth].value = 4e12, d.numbers[number_unit_bandwidth].value = 1e12;
    d.numbers[number_latency].value = 1e-6, d.numbers[number_launch_cost].value = 2e-6, d.numbers[number_overlap_cost].value = 1e-6;
    d.numbers[number_hop_cost].value = 3e-6;
    d.rates[rate_products].of[dtype_bf16] = 8e13, d.rates[rate_products_reached].of[dtype_bf16] = 6e13;
    d.rates[rate_vector_reached].of[dtype_f32] = 8e12;
    return d;
}

typedef struct asked_time {
    const char *what;
    cost_descriptor of;
    double seconds;
} asked_time;

/* Eight units: sixteen workgroups, one per unit, take two rounds; four leave half of the units idle. */
static const asked_time asked_times[] = {
    {"nothing", {.groups = 1, .per_unit = 1}, 2e-6},
    {"overlapped", {.groups = 1, .per_unit = 1, .overlap = true}, 1e-6},
    {"memory", {.groups = 8, .per_unit = 1, .memory = 1e6}, 2e-6 + 8e-6},
    {"memory of half of the units", {.groups = 4, .per_unit = 1, .memory = 1e6}, 2e-6 + 4e-6 * 1.23114441334},
    {"memory that is not all reached", {.groups = 8, .per_unit = 1, .memory = 1e6, .memory_share = 0.5}, 2e-6 + 16e-6},
    {"L2", {.groups = 8, .per_unit = 1, .asked = 4e6}, 2e-6 + 8e-6},
    {"L2 to one unit", {.groups = 1, .per_unit = 1, .asked = 4e6}, 2e-6 + 4e-6},
    {"a unit's port", {.groups = 8, .per_unit = 1, .asked = 4e6, .taken = 9e6}, 2e-6 + 9e-6},
    {"two rounds", {.groups = 16, .per_unit = 1, .memory = 1e6}, 2e-6 + 16e-6},
    {"a round of two a unit", {.groups = 16, .per_unit = 2, .memory = 1e6}, 2e-6 + 16e-6},
    {"latency", {.groups = 8, .per_unit = 1, .memory = 1e3, .ahead = 1e3, .streamed = 5e3}, 2e-6 + 5e-6},
    {"trips", {.groups = 16, .per_unit = 1, .trips = 2}, 2e-6 + 2 * 2e-6},
    {"hops", {.groups = 8, .per_unit = 1, .hops = 2}, 2e-6 + 6e-6},
    {"a last round in parts", {.groups = 12, .per_unit = 1, .memory = 1e6, .tail = 2, .tail_cycles = 1000}, 2e-6 + 8e-6 + 4e-6 + 1e-6},
    {"too many for parts", {.groups = 16 - 3, .per_unit = 1, .trips = 2, .tail = 2, .tail_cycles = 1000}, 2e-6 + 2 * 2e-6},
    {"ends", {.groups = 24, .per_unit = 1, .end_cycles = 1000}, 2e-6 + 3e-6},
    {"turns", {.groups = 24, .per_unit = 1, .round_cycles = 1000}, 2e-6 + 2e-6},
    {"a beginning beside the launch ahead", {.groups = 8, .per_unit = 1, .memory = 1e6, .start_cycles = -5000}, 8e-6},
    {"a beginning", {.groups = 24, .per_unit = 1, .start_cycles = 1000}, 2e-6 + 1e-6},
    /* all units: clock_loaded is half of clock, so half of the peak is left, 4e13, which is less than products_reached, 6e13 */
    {"products", {.groups = 8, .per_unit = 1, .matrix = true, .type = dtype_bf16, .products = 5e7}, 2e-6 + 8 * 5e7 / 4e13},
    /* a quarter of the units: their peak, at the highest clock */
    {"products of few", {.groups = 2, .per_unit = 1, .matrix = true, .type = dtype_bf16, .products = 5e7}, 2e-6 + 2 * 5e7 / 2e13},
    {"products that wait", {.groups = 2, .per_unit = 1, .matrix = true, .type = dtype_bf16, .products = 5e7, .products_share = 0.5},
     2e-6 + 10e-6},
    {"arithmetic", {.groups = 8, .per_unit = 1, .threads = 512, .others = 1e7}, 2e-6 + 1e-5},
    {"arithmetic of few threads", {.groups = 8, .per_unit = 1, .threads = 128, .others = 1e7}, 2e-6 + 4e-5},
    {"products outside matrix units", {.groups = 8, .per_unit = 1, .threads = 512, .products = 1e7, .products_share = 0.5}, 2e-6 + 2e-5},
    {"products of all, whatever share of its own each reaches", /* power limits the clock */
     {.groups = 8, .per_unit = 1, .matrix = true, .type = dtype_bf16, .products = 5e7, .products_share = 0.5}, 2e-6 + 8 * 5e7 / 4e13},
    {"ends beside busy matrix units",
     {.groups = 8, .per_unit = 1, .matrix = true, .type = dtype_bf16, .products = 5e7, .end_cycles = 1000}, 2e-6 + 1e-5 + 2e-6},
    {"ends beside matrix units that wait",
     {.groups = 8, .per_unit = 1, .matrix = true, .type = dtype_bf16, .products = 5e7, .memory = 1e7, .end_cycles = 1000},
     2e-6 + 8e-5 + 1e-6},
    {"L2 in step", {.groups = 8, .per_unit = 1, .lockstep = true, .asked = 4e6}, 2e-6 + 8e-6 / 1.6},
    {"L2 of two rounds", {.groups = 16, .per_unit = 1, .lockstep = true, .asked = 4e6}, 2e-6 + 16e-6},
    {"stages that wait for memory and for L2",
     {.groups = 8, .per_unit = 1, .lockstep = true, .memory = 1e6, .asked = 6.4e6}, 2e-6 + 8e-6 * 1.12246204831},
    {"the longest of all", {.groups = 8, .per_unit = 1, .threads = 512, .memory = 1e6, .asked = 1e6, .others = 1e6}, 2e-6 + 8e-6},
};

START_TEST(a_predicted_time_is_that_of_the_slowest_resource)
{
    const asked_time *t = &asked_times[_i];
    const device_model d = clean();
    const cost c = cost_of(&d, &t->of);
    ck_assert_msg(fabs(c.seconds / t->seconds - 1) < 1e-9, "%s: %g, expected %g", t->what, c.seconds, t->seconds);
    ck_assert_uint_eq(c.assumed, 0);
}
END_TEST

/* A device with only units and bandwidth known has predicted times, too, with a list of what was assumed. */
START_TEST(unknown_rates_are_assumed_from_known_ones)
{
    device_model d = {.name = "poor", .target = target_find("sm_90a"), .units = 8, .chiplets = 1};
    d.numbers[number_bandwidth].value = 1e12;
    const cost_descriptor x =
        {.groups = 8, .per_unit = 1, .memory = 1e6, .asked = 1e6, .matrix = true, .type = dtype_bf16, .products = 1e6};
    const cost c = cost_of(&d, &x);
    ck_assert_double_gt(c.seconds, 8e-6);
    ck_assert(isfinite(c.seconds));
    ck_assert_uint_eq(c.assumed, assumed_bandwidth | assumed_products | assumed_launch);
}
END_TEST

/* ---- how long a launch should take */
static const char model[] =
    "name: clean\nlabel: x\ntarget: sm_90a\nunits: {is: 8, chosen: x}\nchiplets: {is: 1, chosen: x}\n"
    "clock: {is: 1e9, chosen: x}\nclock_loaded: {is: 2e8, chosen: x}\nl2: {is: 1e6, chosen: x}\nbandwidth: {is: 2e12, chosen: x}\n"
    "bandwidth_reached: {is: 1e12, chosen: x}\nproducts: {bf16: 2e14, chosen: x}\n"
    "products_reached: {bf16: 5e13, chosen: x}\nvector: {f32: 1e13, chosen: x}\n"
    "launch_cost: {is: 1e-6, chosen: x}\noverlap_cost: {is: 1e-6, chosen: x}\n";

typedef struct foreseen {
    arena *a;
    const char *yaml, *tile, *device;
    int index;
    prediction got;
    flight in_flight;
    work work;
} foreseen;

static void foresee(void *argument)
{
    foreseen *f = argument;
    const tuning lines = {.lines = &f->tile, .count = f->tile ? 1 : 0};
    compile_request r = {.text = f->yaml,
                         .size = strlen(f->yaml),
                         .name = "p.yaml",
                         .target = "sm_90a",
                         .level = fusion_tile,
                         .device_model = f->device,
                         .tuning = &lines};
    compiled c;
    compile_inside(f->a, &r, &c);
    const launch *l = &c.plan->launches[f->index];
    f->work = launch_work(f->a, c.plan, l, NULL, NULL);
    ck_assert(launch_predict(f->a, c.plan, l, &f->work, &f->got));
    ck_assert_int_eq(launch_flight(c.plan, l, &f->in_flight), l->work->extents.in_flight > 0);
}

static foreseen foreseen_on(const char *device, const char *yaml, const char *tile, int index)
{
    foreseen f = {.a = arena_new(), .yaml = yaml, .tile = tile, .device = device, .index = index};
    ck_assert_msg(arena_run(f.a, foresee, &f) == code_ok, "%s", arena_diagnostics(f.a));
    arena_free(f.a);
    return f;
}

static foreseen foreseen_of(const char *yaml, const char *tile, int index)
{
    return foreseen_on(model, yaml, tile, index);
}

#define WHOLE "gemm layer=wgmma m=128 own_tiles=0" /* both warpgroups compute a tile */

/* 512 x 512 x 1024 in tiles of 128 x 128: 4 x 4 tiles take two rounds on 8 units; the weight is as large as the cache. */
START_TEST(a_products_time_counts_rounds_of_tiles)
{
    const char *yaml = "block: p\ndtype: bf16\ndims: {M: 512, N: 512, K: 1024}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                       "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    const prediction p = foreseen_of(yaml, WHOLE " n=128 group_m=2 stages=4", 0).got;
    const double x = 512 * 1024 * 2, w = 512 * 1024 * 2, y = 512 * 512 * 2, operations = 2.0 * 512 * 512 * 1024;
    ck_assert_double_eq(p.asked, 4 * x + 4 * w + y);
    ck_assert_double_eq(p.moved, x + 2 * w + y); /* two groups of two row tiles, all four column tiles at once */
    ck_assert_double_eq(p.padded, operations);
    ck_assert_double_eq(p.use, 1);
    ck_assert_double_eq_tol(p.products, operations / (2e14 * 2e8 / 1e9),
                            1e-12); /* the peak at the clock under load, a lower limit than the rate reached */
    ck_assert_double_gt(p.seconds, 1e-6 + p.products);
    ck_assert_int_eq(p.limit, limited_by_products);
    ck_assert_uint_eq(p.assumed, 0);
}
END_TEST

#define ONE_ROW(N, K)                                                                               \
    "block: p\ndtype: bf16\ndims: {N: " N ", K: " K "}\ninputs: {x: [1, K]}\nparams: {w: [N, K]}\n" \
    "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"

#define PRODUCT(M, N, K)                                                                                        \
    "block: p\ndtype: bf16\ndims: {M: " M ", N: " N ", K: " K "}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n" \
    "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"

/* us: time per launch on an H200, in chains of launches that took turns with chains of other kernels. The model may be off by a fifth. With
 * 129 rows, the second tile has 127 rows of zeros. */
START_TEST(predicted_times_are_near_those_of_an_h200)
{
    static const struct {
        const char *yaml, *tile;
        double us;
    } cases[] = {{PRODUCT("256", "4096", "4096"), WHOLE " n=64 cluster=1 split_k=1 smem_epilogue=1 stages=8", 17.33},
                 {PRODUCT("256", "4096", "4096"), WHOLE " n=128 cluster=1 split_k=1 smem_epilogue=1 stages=6", 22.03},
                 {PRODUCT("1024", "768", "3072"), WHOLE " n=64 cluster=1 split_k=1 smem_epilogue=1 stages=8", 11.27},
                 {PRODUCT("129", "4096", "4096"), WHOLE " n=64 cluster=1 split_k=1 smem_epilogue=1 stages=8", 36.59},
                 {PRODUCT("128", "1024", "4096"), WHOLE " n=64 cluster=1 split_k=4 smem_epilogue=1 stages=8", 8.92},
                 {PRODUCT("64", "14336", "4096"), "gemm layer=swap_ab m=64 n=224 k=64 threads=544 stages=6 row_stages=6 split_k=2", 31.33},
                 {PRODUCT("128", "4096", "4096"), "gemm layer=swap_ab m=128 n=64 k=64 threads=160 stages=5 row_stages=4 split_k=2", 13.93},
                 {PRODUCT("254", "2296", "3392"),
                  "gemm layer=swap_ab m=128 n=128 threads=288 stages=7 row_stages=7 cluster=1 cluster_m=1 split_k=1 in_turn=0 tail=3",
                  19.82},
                 {PRODUCT("904", "528", "1600"),
                  "gemm layer=swap_ab m=120 n=128 threads=288 stages=7 row_stages=7 cluster=1 cluster_m=1 split_k=1 in_turn=0 tail=3",
                  16.30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double us = foreseen_on("h200", cases[i].yaml, cases[i].tile, 0).got.seconds * 1e6;
        ck_assert_msg(fabs(us / cases[i].us - 1) < 0.2, "%s: %g us, took %g", cases[i].tile, us, cases[i].us);
    }
}
END_TEST

/* Llama decode blocks as several launches (tile) and as one launch whose phases wait for each other (block): times in microseconds. Where
 * the levels differ by more than 3 %, the faster one is predicted to be faster. */
START_TEST(a_block_is_predicted_as_an_h200_timed_it)
{
#define DIMS(b, l, d, h, kv, hd, f) \
    {{"B", b}, {"L", l}, {"D", d}, {"H", h}, {"KV", kv}, {"hd", hd}, {"F", f}}
    static const struct {
        dim_override dims[7];
        double tile, block;
    } cases[] = {{DIMS(1, 1024, 2048, 32, 8, 64, 8192), 38.8, 34.3},       {DIMS(1, 2048, 4096, 32, 8, 128, 14336), 112.4, 108.0},
                 {DIMS(1, 512, 2048, 16, 16, 128, 5468), 36.9, 30.2},      {DIMS(1, 8192, 8192, 64, 8, 128, 28672), 422.4, 409.9},
                 {DIMS(1, 2048, 5120, 40, 8, 128, 17408), 181.4, 158.8},   {DIMS(1, 2300, 5120, 64, 16, 80, 21136), 220.2, 193.1},
                 {DIMS(1, 492, 1728, 32, 16, 80, 4352), 31.6, 26.0},       {DIMS(1, 288, 2560, 32, 8, 80, 7424), 49.3, 41.7},
                 {DIMS(2, 777, 576, 9, 3, 64, 1536), 13.9, 15.2},          {DIMS(2, 1000, 2560, 32, 8, 64, 13824), 70.4, 67.1},
                 {DIMS(2, 2090, 2688, 28, 4, 96, 10240), 61.3, 64.6},      {DIMS(2, 2554, 2048, 16, 8, 128, 7094), 44.9, 46.8},
                 {DIMS(4, 3395, 3584, 56, 8, 64, 9728), 96.9, 85.2},       {DIMS(4, 1125, 2496, 28, 4, 64, 6304), 43.7, 47.6},
                 {DIMS(8, 1024, 2048, 32, 8, 64, 8192), 43.9, 46.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double took[] = {cases[i].tile, cases[i].block};
        double us[] = {0, 0};
        for (int k = 0; k < 2; k++) {
            rig *r = rig_plan(&(rig_request){.path = "specs/llama-decode.yaml", .target = "sm_90a", .dims = cases[i].dims, .dim_count = 7,
                                             .level = k ? fusion_block : fusion_tile});
            ck_assert(plan_predict(r->a, r->c.plan, &us[k]));
            us[k] *= 1e6;
            ck_assert_msg(fabs(us[k] / took[k] - 1) < (k ? 0.08 : 0.13), "case %zu at level %s: %g us, took %g", i, k ? "block" : "tile",
                          us[k], took[k]);
            rig_close(r);
        }
        const bool differ = fmax(took[0], took[1]) > 1.03 * fmin(took[0], took[1]);
        ck_assert_msg(!differ || (us[1] < us[0]) == (took[1] < took[0]), "case %zu: %g and %g us, took %g and %g", i, us[0], us[1], took[0],
                      took[1]);
    }
#undef DIMS
}
END_TEST

/* Three cases: two tiles, of which each has a unit, whose four waves have two pieces of 32 columns each in flight; a tile of only seven
 * pieces; two workgroups per unit. */
START_TEST(weights_in_flight_are_those_that_waves_load_ahead)
{
    static const struct {
        const char *yaml;
        double bytes;
    } cases[] = {{ONE_ROW("64", "1024"), 4 * 2 * 2 * 1024}, {ONE_ROW("64", "200"), 7 * 2 * 1024}, {ONE_ROW("512", "1024"), 2 * 16384}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const flight f = foreseen_of(cases[i].yaml, "gemm layer=register_fed n=32 threads=128 ahead=2", 0).in_flight;
        ck_assert_double_eq(f.bytes, cases[i].bytes);
        ck_assert_double_eq_tol(f.needed, 2e12 * 1e-6 / 8, 1e-6);
        ck_assert(f.assumed);
    }
}
END_TEST

/* A group of four row tiles fills the units with two column tiles at a time, and its rows do not fit in half of the cache. */
START_TEST(rows_of_a_raster_group_are_read_again_for_each_set_of_columns)
{
    const char *yaml = "block: p\ndtype: bf16\ndims: {M: 512, N: 512, K: 1024}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                       "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    const prediction p = foreseen_of(yaml, WHOLE " n=128 group_m=4 stages=4", 0).got;
    ck_assert_double_eq(p.moved, 2 * 512 * 1024 * 2 + 512 * 1024 * 2 + 512 * 512 * 2);
}
END_TEST

/* Products of 512 rows, K = 1024. The operands of concurrent tiles do not fit in half of the cache, which has 1 MB, as much as all rows. */
static const struct {
    const char *columns, *tile;
    double rows, weight; /* how often each is loaded from memory */
} walks[] = {
    /* 4 x 5 tiles in groups of two row tiles, 8 tiles at a time: first four columns of the first group; then its fifth column and three
     * columns of the second group; then the second group's last two columns */
    {"640", WHOLE " n=128 group_m=2 stages=4", (2 + 4 + 2) / 4.0, (4 + 4 + 2) / 5.0},
    /* groups of three row tiles and of one: the second eight tiles are seven of the first group and one of the second */
    {"640", WHOLE " n=128 group_m=3 stages=4", (3 + 4 + 1) / 4.0, (3 + 4 + 4) / 5.0},
    /* with three columns: the last four tiles are one of the first group and three of the second */
    {"384", WHOLE " n=128 group_m=3 stages=4", (3 + 2) / 4.0, (3 + 3) / 3.0},
    /* clusters of two take 256 rows: 2 x 4 tiles, 4 at a time; a group is one cluster or both */
    {"512", WHOLE " n=128 group_m=2 cluster=2 stages=4", (1 + 1) / 2.0, (4 + 4) / 4.0},
    {"512", WHOLE " n=128 group_m=4 cluster=2 stages=4", (2 + 2) / 2.0, (2 + 2) / 4.0},
};

START_TEST(operands_of_concurrent_tiles_are_read_again_by_the_next_ones)
{
    const double columns = atof(walks[_i].columns), x = 512 * 1024 * 2, w = columns * 1024 * 2, y = 512 * columns * 2;
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "block: p\ndtype: bf16\ndims: {M: 512, N: %s, K: 1024}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
             "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n",
             walks[_i].columns);
    const prediction p = foreseen_of(yaml, walks[_i].tile, 0).got;
    ck_assert_double_eq_tol(p.moved, walks[_i].rows * x + walks[_i].weight * w + y, 1e-6);
}
END_TEST

/* Half of the cache holds the 256 rows of a group, which take 3/8 of it, and the four column tiles that are loaded between two uses of the
 * rows, if the tiles have 64 columns (3/8), but not if they have 128 (6/8). */
START_TEST(rows_of_a_group_stay_cached_if_the_columns_between_fit_too)
{
    const char *yaml = "block: p\ndtype: bf16\ndims: {M: 512, N: 2048, K: 384}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                       "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    const double x = 512 * 384 * 2, w = 2048 * 384 * 2, y = 512 * 2048 * 2;
    ck_assert_double_eq(foreseen_of(yaml, WHOLE " n=128 group_m=2 stages=4", 0).got.moved, 4 * x + 2 * w + y);
    ck_assert_double_eq(foreseen_of(yaml, WHOLE " n=64 group_m=2 stages=4", 0).got.moved, x + 2 * w + y);
}
END_TEST

/* The sum of squares of a row is computed as a product with itself: one piece in addition to the tile's two. */
START_TEST(sums_of_squares_on_matrix_units_are_counted)
{
    const char *yaml = "block: p\ndtype: bf16\ndims: {M: 8, N: 512, K: 512}\ninputs: {x: [M, K]}\nparams: {w: [N, K], g: [K]}\n"
                       "ops:\n  - {out: h, op: rmsnorm, in: [x, g]}\n  - {out: y, op: linear, in: [h, w]}\noutputs: {y: y}\n";
    const prediction p = foreseen_of(yaml, "gemm layer=register_fed m=8 n=32", 0).got;
    ck_assert_double_eq(p.padded, 2.0 * 8 * 512 * 512 * 1.5);
}
END_TEST

START_TEST(padded_rows_cost_as_much_as_real_rows)
{
    const char *yaml = "block: p\ndtype: bf16\ndims: {M: 130, N: 128, K: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                       "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    const foreseen f = foreseen_of(yaml, WHOLE " n=128 stages=4", 0);
    ck_assert_double_eq(f.work.products, 2.0 * 130 * 128 * 64);
    ck_assert_double_eq(f.got.padded, 2.0 * 256 * 128 * 64);
    ck_assert_double_eq(f.got.use, 2 / 8.0);
}
END_TEST

START_TEST(row_kernels_take_the_time_of_their_bytes)
{
    const char *yaml = "block: n\ndtype: bf16\ndims: {M: 65536, D: 1024}\ninputs: {x: [M, D]}\nparams: {w: [D]}\n"
                       "ops:\n  - {out: y, op: rmsnorm, in: [x, w]}\noutputs: {y: y}\n";
    const foreseen f = foreseen_of(yaml, NULL, 0);
    const double bytes = 2.0 * 65536 * 1024 * 2 + 1024 * 2;
    ck_assert_double_eq(f.got.moved, bytes);
    ck_assert_double_eq(f.got.asked, bytes);
    ck_assert_double_eq_tol(f.got.memory, bytes / 1e12, 1e-10);
    ck_assert_double_eq(f.got.fixed, 1e-6);
    ck_assert_int_eq(f.got.limit, limited_by_memory);
}
END_TEST

START_TEST(attention_reads_its_keys_once_per_tile_of_queries)
{
    const char *yaml = "block: a\ndtype: bf16\ndims: {B: 2, S: 1024, H: 4, KV: 2, hd: 64}\n"
                       "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd]}\n"
                       "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: H, kv_heads: KV}\noutputs: {y: y}\n";
    const foreseen f = foreseen_of(yaml, "attention layer=simt block_q=32 team=4 threads=128", 0);
    const double each = 2.0 * 1024 * 64 * 2, queries = 2.0 * 1024 * 4 * 64 * 2;
    ck_assert_double_eq(f.got.asked, 2 * queries + 2 * 4 * 32 * each); /* batches, heads, tiles of queries */
    ck_assert_double_eq(f.got.moved, 2 * queries + 2 * 2 * each);
    ck_assert_double_eq(f.work.products, 4.0 * 64 * 4 * 2 * 1024 * 1024);
}
END_TEST

/* 136 KV heads on 132 multiprocessors do not take two rounds. The ends of hundreds of short sequences overlap with loads of the next keys,
 * unless the sequences are shorter than these loads take. */
START_TEST(keys_of_all_sequences_are_one_stream_with_stages)
{
    static const struct {
        const char *dims;
        double most; /* largest accepted ratio of the predicted time to the time of loading the cache at the reached bandwidth */
    } cases[] = {{"B: 17, L: 20000, KV: 8", 1.05}, {"B: 207, L: 1000, KV: 8", 1.05}, {"B: 1000, L: 100, KV: 8", 2.4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[1024];
        snprintf(yaml, sizeof yaml, "block: a\ndtype: bf16\ndims: {%s, S: 1, H: 32, hd: 64}\n"
                 "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
                 "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"
                 "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n"
                 "  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"
                 "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, causal: true, at: pos}\noutputs: {y: y}\n",
                 cases[i].dims);
        const prediction p = foreseen_on("h200", yaml, "attention layer=decode_mma keys=32 threads=256 splits=1 stages=2", 1).got;
        ck_assert_msg(p.seconds < cases[i].most * p.memory, "%s: %g s, its bytes %g s", cases[i].dims, p.seconds, p.memory);
        ck_assert_double_gt(p.seconds, p.memory);
    }
}
END_TEST

START_TEST(blocks_of_keys_that_a_mask_cuts_are_multiplied_whole)
{
    const char *yaml = "block: a\ndtype: bf16\ndims: {B: 2, S: 1024, H: 4, hd: 64}\n"
                       "inputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd]}\n"
                       "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: H, causal: true}\noutputs: {y: y}\n";
    const foreseen f = foreseen_of(yaml, "attention layer=wgmma block_q=128 block_k=64 stages=8 threads=384", 0);
    ck_assert_double_eq(f.work.products, 4.0 * 64 * 4 * 2 * (1024 * 1025 / 2.0));
    ck_assert_double_eq(f.got.padded, f.work.products + 4.0 * 64 * 4 * 2 * 1024 * 63 / 2.0);
}
END_TEST

static void foresee_unknown(void *argument)
{
    foreseen *f = argument;
    compile_request r = {.text = f->yaml, .size = strlen(f->yaml), .name = "p.yaml", .target = "host", .level = fusion_tile};
    compiled c;
    compile_inside(f->a, &r, &c);
    f->work = launch_work(f->a, c.plan, &c.plan->launches[0], NULL, NULL);
    ck_assert(!launch_predict(f->a, c.plan, &c.plan->launches[0], &f->work, &f->got));
    r.target = "gfx942";
    compile_inside(f->a, &r, &c);
    ck_assert(launch_predict(f->a, c.plan, &c.plan->launches[0], &f->work, &f->got));
    ck_assert_uint_eq(f->got.assumed, assumed_bandwidth | assumed_launch);
    ck_assert_double_eq_tol(f->got.memory, f->got.moved / (5.3e12 * 0.9), 1e-12);
}

static void foresee_twice(void *argument)
{
    foreseen *f = argument;
    compile_request r = {.text = f->yaml, .size = strlen(f->yaml), .name = "p.yaml", .target = "sm_90a", .level = fusion_tile,
                         .device_model = model};
    compiled c;
    compile_inside(f->a, &r, &c);
    const launch *one = c.plan->launches;
    const launch_phase work[] = {*one->work, *one->work};
    launch both = *one;
    both.work = (launch_phase *)work, both.work_count = 2;
    ck_assert_int_eq(launch_tiles(&both, &c.plan->ir->dims), 2 * launch_tiles(one, &c.plan->ir->dims));
    f->work = launch_work(f->a, c.plan, one, NULL, NULL);
    ck_assert(launch_predict(f->a, c.plan, one, &f->work, &f->got));
    const prediction alone = f->got;
    ck_assert(launch_predict(f->a, c.plan, &both, &f->work, &f->got));
    ck_assert_double_ge(f->got.seconds, alone.fixed + alone.epilogues + 2 * alone.memory);
    ck_assert_double_gt(f->got.seconds, alone.seconds);
    ck_assert_double_le(f->got.seconds, 2 * alone.seconds - alone.fixed);
    ck_assert_double_eq(f->got.fixed, alone.fixed);
    ck_assert_double_eq(f->got.memory, 2 * alone.memory);
    ck_assert_double_eq(f->got.latency, alone.latency);
    ck_assert_double_eq(f->got.moved, 2 * alone.moved);
}

START_TEST(concurrent_phases_share_the_machine_in_one_launch)
{
    foreseen f = {.a = arena_new(), .yaml = PRODUCT("512", "512", "1024")};
    ck_assert_msg(arena_run(f.a, foresee_twice, &f) == code_ok, "%s", arena_diagnostics(f.a));
    arena_free(f.a);
}
END_TEST

START_TEST(missing_facts_of_a_device_are_listed_and_without_bandwidth_nothing_is_predicted)
{
    foreseen f = {.a = arena_new(),
                  .yaml = "block: n\ndtype: f32\ndims: {M: 65536, D: 512}\ninputs: {x: [M, D]}\n"
                          "ops:\n  - {out: y, op: exp, in: [x]}\noutputs: {y: y}\n"};
    ck_assert_msg(arena_run(f.a, foresee_unknown, &f) == code_ok, "%s", arena_diagnostics(f.a));
    arena_free(f.a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("predict");
    TCase *units = tcase_create("units"), *times = tcase_create("times");
    tcase_add_test(units, occupancy_is_that_of_the_vendors_calculators);
    tcase_add_test(units, the_step_is_the_largest_size_at_which_one_more_workgroup_fits);
    tcase_add_test(units, every_gpu_target_is_in_the_table);
    tcase_add_test(units, occupancy_uses_a_units_threads_and_registers_in_full);
    tcase_add_test(units, the_limit_of_occupancy_is_shown_with_the_next_step);
    tcase_add_loop_test(times, a_predicted_time_is_that_of_the_slowest_resource, 0, sizeof asked_times / sizeof *asked_times);
    tcase_add_test(times, unknown_rates_are_assumed_from_known_ones);
    tcase_add_test(times, a_products_time_counts_rounds_of_tiles);
    tcase_add_test(times, predicted_times_are_near_those_of_an_h200);
    tcase_add_test(times, a_block_is_predicted_as_an_h200_timed_it);
    tcase_add_test(times, weights_in_flight_are_those_that_waves_load_ahead);
    tcase_add_test(times, rows_of_a_raster_group_are_read_again_for_each_set_of_columns);
    tcase_add_loop_test(times, operands_of_concurrent_tiles_are_read_again_by_the_next_ones, 0, sizeof walks / sizeof *walks);
    tcase_add_test(times, rows_of_a_group_stay_cached_if_the_columns_between_fit_too);
    tcase_add_test(times, sums_of_squares_on_matrix_units_are_counted);
    tcase_add_test(times, padded_rows_cost_as_much_as_real_rows);
    tcase_add_test(times, row_kernels_take_the_time_of_their_bytes);
    tcase_add_test(times, attention_reads_its_keys_once_per_tile_of_queries);
    tcase_add_test(times, keys_of_all_sequences_are_one_stream_with_stages);
    tcase_add_test(times, blocks_of_keys_that_a_mask_cuts_are_multiplied_whole);
    tcase_add_test(times, concurrent_phases_share_the_machine_in_one_launch);
    tcase_add_test(times, missing_facts_of_a_device_are_listed_and_without_bandwidth_nothing_is_predicted);
    suite_add_tcase(suite, units);
    suite_add_tcase(suite, times);
    return run_suite(suite);
}
