/* The recorder of accesses, against closed forms for kernels written for it and against independent counts. */
#include "tests/host/test_host_common.h"
#include "runtime/cli/access/recorder.h"
#include "runtime/cli/access/reuse.h"
#include "ir/base/arena.h"

typedef struct access_args {
    float *a, *b;
    int n, stride;
} access_args;

static arena *a;
static access_recorder *recorder;

/* A recorder attached to an engine, in the geometry of a device that tfgen knows. */
static void watch_some(const char *device, size_t limit, int at_once)
{
    a = arena_new();
    const access_options options =
        {.device = device_model_find(a, device), .limit = limit, .seed = 1, .at_once = at_once};
    recorder = access_recorder_new(&options);
    ck_assert(options.device && recorder);
    host_engine_close(engine);
    engine = host_engine_open(&(host_engine_options){.workers = 2, .watch = access_recorder_watch(recorder)});
    ck_assert_ptr_nonnull(engine);
}

static void watch(const char *device, size_t limit) { watch_some(device, limit, 0); }

static void unwatch(void)
{
    access_recorder_free(recorder);
    arena_free(a);
}

static const access_launch *run(const char *kernel, unsigned blocks, unsigned threads, unsigned wave, access_args args)
{
    host_module *m = load_checked("access.hip");
    launch_ok(m, kernel, (host_launch_dims){.grid = {blocks}, .block = {threads}, .wave = wave, .shared_bytes = 1 << 14}, &args);
    host_module_free(m);
    int count;
    bool lost;
    const access_launch *all = access_recorder_launches(recorder, &count, &lost);
    ck_assert(count > 0 && !lost);
    return &all[count - 1];
}

static const access_row *row_of(const access_launch *l, const char *memory, host_access_kind kind)
{
    for (int i = 0; i < l->row_count; i++) {
        const access_row *row = &l->rows[i];
        if (row->kind == kind && (memory ? row->memory && strcmp(row->memory, memory) == 0 : !row->memory)) return row;
    }
    ck_abort_msg("%s: no such access of %s", l->kernel, memory ? memory : "shared memory");
}

static access_args args(size_t n, int stride)
{
    return (access_args){floats(n * (size_t)stride, "a"), floats(n, "b"), (int)n, stride};
}

/* ---- memory */
START_TEST(a_copy_uses_every_byte_of_its_sectors)
{
    static const struct { const char *device; int wave, sectors; } cases[] = {{"h200", 32, 4}, {"mi210", 64, 4}, {"mi300x", 64, 2},
                                                                               {"rx7900xtx", 32, 1}};
    watch(cases[_i].device, 1 << 20);
    const access_launch *l = run("copies", 4, 128, (unsigned)cases[_i].wave, args(512, 1));
    for (int k = 0; k < 2; k++) {
        const access_row *row = row_of(l, k ? "b" : "a", k ? HOST_WRITE : HOST_READ);
        ck_assert_double_eq(row->requests, 512 / cases[_i].wave);
        ck_assert_double_eq(row->lanes, 512);
        ck_assert_double_eq(row->asked, 2048);
        ck_assert_double_eq(row->used, 2048);
        ck_assert_double_eq(row->sectors, row->requests * cases[_i].sectors);
        ck_assert_double_eq(row->least, row->sectors);
        ck_assert_double_eq(row->lines, row->requests * (cases[_i].wave / 32));
        ck_assert_double_eq(row->brought, row->sectors);
        ck_assert_double_eq(row->kept, 2048);
        ck_assert(!row->fault && row->width == 4);
    }
    ck_assert_double_eq(l->touched, 4096);
    unwatch();
}
END_TEST

START_TEST(lanes_beyond_the_end_take_no_part)
{
    watch("h200", 1 << 20);
    const access_launch *l = run("copies", 1, 64, 32, args(40, 1));
    const access_row *row = row_of(l, "a", HOST_READ);
    ck_assert_double_eq(row->requests, 2);
    ck_assert_double_eq(row->lanes, 40);
    ck_assert_double_eq(row->sectors, 5);
    unwatch();
}
END_TEST

START_TEST(loads_with_a_stride_of_8_floats_use_an_eighth_of_each_sector)
{
    watch("h200", 1 << 20);
    const access_launch *l = run("strides", 2, 64, 32, args(128, 8));
    const access_row *row = row_of(l, "a", HOST_READ);
    ck_assert_double_eq(row->requests, 4);
    ck_assert_double_eq(row->sectors, 4 * 32);
    ck_assert_double_eq(row->least, 4 * 4);
    ck_assert_double_eq(row->used / (row->sectors * 32), 0.125);
    ck_assert_double_eq(row->lines, 4 * 8);
    char place[64];
    snprintf(place, sizeof place, "access.hip:%d", line_of("access.hip", "strides"));
    ck_assert_str_eq(row->place.source, place);
    ck_assert_double_eq(row->brought, row->sectors);
    ck_assert_double_eq(row->kept, 128 * 4);
    ck_assert(row->fault == access_waste && !row_of(l, "b", HOST_WRITE)->fault);
    unwatch();
}
END_TEST

/* Each lane reads along its own row: 8 requests share each sector, and a workgroup uses all of it. */
START_TEST(a_row_per_lane_requests_each_sector_many_times)
{
    watch("h200", 1 << 20);
    const access_launch *l = run("walks", 2, 32, 32, args(2 * 32 * 16, 1));
    const access_row *row = row_of(l, "a", HOST_READ);
    ck_assert_double_eq(row->requests, 2 * 16);
    ck_assert_double_eq(row->sectors, 2 * 16 * 32);
    ck_assert_double_eq(row->brought, 2 * 32 * 2);
    ck_assert_double_eq(row->kept, 2 * 32 * 64);
    ck_assert_int_eq(row->fault, access_again);
    unwatch();
}
END_TEST

START_TEST(sixteen_bytes_per_lane_are_one_request)
{
    watch("mi300x", 1 << 20);
    const access_launch *l = run("vectors", 1, 64, 64, args(256, 1));
    const access_row *row = row_of(l, "b", HOST_WRITE);
    ck_assert_double_eq(row->requests, 1);
    ck_assert_double_eq(row->sectors, 8);
    ck_assert_int_eq(row->width, 16);
    unwatch();
}
END_TEST

static void add_row(const access_row *row, double *requests, double *lanes, double *lines)
{
    *requests += row->requests, *lanes += row->lanes, *lines += row->lines;
}

START_TEST(lanes_that_reconverge_make_one_request_again)
{
    watch("h200", 1 << 20);
    const access_launch *l = run("ragged", 1, 32, 32, args(512, 1));
    double requests = 0, lanes = 0, lines = 0;
    for (int i = 0; i < l->row_count; i++)
        if (l->rows[i].memory && strcmp(l->rows[i].memory, "a") == 0) add_row(&l->rows[i], &requests, &lanes, &lines);
    ck_assert_double_eq(requests, 2 * (4 + 1) + 1); /* iterations of the longest path, and one request of all lanes together */
    ck_assert_double_eq(lanes, 2 * (32 + 24 + 16 + 8 + 32) + 32);
    ck_assert_double_eq(lines, 2 * (4 + 1) + 1); /* a request that joined both iterations would have two */
    unwatch();
}
END_TEST

START_TEST(emulated_instructions_report_the_requests_of_the_real_ones)
{
    watch("h200", 1 << 20);
    const access_launch *l = run("stands_in", 1, 32, 32, args(128, 1));
    double requests = 0, bulk = 0;
    for (int i = 0; i < l->row_count; i++) {
        const access_row *row = &l->rows[i];
        if (strcmp(row->memory, "a") != 0) continue;
        if (row->bulk) bulk += row->asked;
        else requests += row->requests;
        ck_assert_double_eq(row->sectors, 512 / 32);
    }
    ck_assert_double_eq(requests, 1);
    ck_assert_double_eq(bulk, 512);
    unwatch();
}
END_TEST

/* ---- shared memory */
START_TEST(bank_conflicts_of_a_transposed_tile_depend_on_its_pitch)
{
    static const struct { int stride, ways; } cases[] = {{32, 32}, {33, 1}, {34, 2}, {36, 4}, {40, 8}, {48, 16}, {64, 32}};
    watch(_i % 2 ? "h200" : "rx9070xt", 1 << 20);
    access_args x = args(1024, 1);
    x.stride = cases[_i].stride;
    const access_launch *l = run("transposed", 1, 32, 32, x);
    const access_row *row = row_of(l, NULL, HOST_READ);
    ck_assert_double_eq(row->requests, 32);
    ck_assert_double_eq(row->cycles, 32.0 * cases[_i].ways);
    ck_assert_double_eq(row->least_cycles, 32);
    ck_assert_int_eq(row->ways, cases[_i].ways);
    ck_assert_int_eq(row->fault, cases[_i].ways > 1 ? access_conflicts : access_good);
    ck_assert_int_eq(row_of(l, NULL, HOST_WRITE)->ways, 1);
    unwatch();
}
END_TEST

/* Cycles, by the tables of lanes in the vendors' documents. */
static int other_cycles(const target_info *t, const bank_request *r)
{
    static const int cdna[4][8] = {{0, 1, 2, 3, 20, 21, 22, 23}, {4, 5, 6, 7, 16, 17, 18, 19}, {8, 9, 10, 11, 28, 29, 30, 31},
                                   {12, 13, 14, 15, 24, 25, 26, 27}};
    static const int wide[2][16] = {{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
                                    {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}};
    const bool amd = r->read && r->bytes == 16 && strcmp(t->family, "cdna") == 0, four = strcmp(t->name, "gfx950") == 0;
    const int together = amd ? (four ? 16 : 8) : r->bytes <= 4 ? 32 : 128 / r->bytes, banks = amd && four ? 64 : 32;
    int cycles = 0;
    for (int first = 0; first < r->lanes; first += together) {
        int most = 0;
        for (int bank = 0; bank < banks; bank++) {
            unsigned char seen[4096] = {0};
            int words = 0;
            for (int i = first; i < first + together && i < r->lanes; i++) {
                const int in = i % 32, lane = !amd ? i : i / 32 * 32 + (four ? wide[in / 16][in % 16] : cdna[in / 8][in % 8]);
                for (unsigned long long b = 0; r->present[lane] && b < (unsigned)r->bytes; b++) {
                    const unsigned long long word = (r->place[lane] + b) / 4;
                    if ((int)(word % (unsigned)banks) == bank && !seen[word]) seen[word] = 1, words++;
                }
            }
            if (words > most) most = words;
        }
        cycles += most;
    }
    return cycles;
}

START_TEST(bank_conflicts_are_counted_per_phase_of_lanes_of_each_machine)
{
    size_t count;
    const target_info *targets = target_list(&count);
    unsigned x = 1;
    for (size_t t = 0; t < count; t++)
        for (int turn = 0; turn < 200 && targets[t].lds_banks; turn++) {
            bank_request r = {.lanes = targets[t].wave, .bytes = 1 << turn % 5, .read = turn % 3 > 0};
            const unsigned stride = (x = x * 1664525u + 1013904223u) >> 16 & 63, mask = x >> 24;
            for (int lane = 0; lane < r.lanes; lane++) {
                x = x * 1664525u + 1013904223u;
                r.present[lane] = turn % 4 || x >> 30;
                const unsigned place = turn % 2 ? (unsigned)lane * stride : x >> 20 & mask;
                r.place[lane] = (unsigned long long)(place % 256) * (unsigned)r.bytes;
            }
            ck_assert_msg(banks_cost(&targets[t], &r).cycles == other_cycles(&targets[t], &r), "%s, turn %d: %d, not %d", targets[t].name,
                          turn, banks_cost(&targets[t], &r).cycles, other_cycles(&targets[t], &r));
        }
}
END_TEST

/* ---- planted */
START_TEST(a_bad_kernel_is_named_with_its_lines)
{
    watch("h200", 1 << 20);
    const access_launch *l = run("planted_kernel", 1, 32, 32, args(32, 8));
    const access_row *loads = row_of(l, "a", HOST_READ), *writes = row_of(l, NULL, HOST_WRITE), *reads = row_of(l, NULL, HOST_READ);
    ck_assert(loads->fault == access_waste && writes->fault == access_conflicts && reads->fault == access_conflicts);
    ck_assert(!row_of(l, "b", HOST_WRITE)->fault);
    ck_assert_str_eq(loads->place.spec, "planted.yaml:7:5");
    ck_assert_str_eq(loads->place.source, "templates/rows/planted.h:15");
    ck_assert_str_eq(writes->place.source, "templates/rows/planted.h:16");
    ck_assert_str_eq(reads->place.source, "templates/rows/planted.h:18");
    ck_assert(!writes->place.spec && writes->ways == 8 && reads->ways == 8);
    ck_assert_double_eq(writes->cycles, 8);
    const char *calls = strstr(loads->place.calls, "access.hip:89 [planted.yaml:7:5] ("), *rest = calls ? strchr(calls, '\n') : NULL;
    ck_assert_ptr_nonnull(rest);
    ck_assert(strncmp(rest, "\ntemplates/rows/planted.h:15 (run_planted<planted>)", 51) == 0);
    /* the symboliser of binutils, if it is the only one, does not know the name */
    const char *function = strstr(calls, "(read<float>)") ? strstr(calls, "(read<float>)") : strstr(calls, "(?)");
    ck_assert(function && function < rest);
    ck_assert(l->rows[0].fault && l->rows[1].fault && l->rows[2].fault); /* the worst first */
    unwatch();
}
END_TEST

/* ---- caches */
START_TEST(the_reuse_distance_of_repeated_lines_is_all_other_lines)
{
    watch("mi300x", 1 << 20);
    enum { lines = 24, blocks = 11, chiplets = 8 };
    const access_launch *l = run("again", blocks, 64, 64, args(lines * 32, 1));
    const int written = blocks * 2; /* 64 floats each */
    ck_assert_double_eq(l->own.touches, blocks * lines * 2 + written);
    ck_assert_double_eq(l->own.first, blocks * lines + written);
    ck_assert_double_eq(l->own.distance[5], blocks * lines); /* 23 other lines in between: bucket "16 and more" */
    ck_assert_double_eq(l->touched, 128.0 * (lines + written));
    ck_assert_double_eq(l->working_set, l->touched);
    ck_assert_double_eq(l->chiplet_set, 128.0 * (lines + 2 * 2)); /* chiplets 0 to 2 have two workgroups */
    ck_assert_double_eq(l->shared.hits, l->shared.touches - chiplets * lines - written);
    ck_assert_int_eq(l->spread_count, 1);
    ck_assert_double_eq(l->spread[0].lines, lines);
    ck_assert_double_eq(l->spread[0].fetched, lines * chiplets);
    unwatch();
}
END_TEST

/* 128 threads copy 4 lines to 4 others. */
START_TEST(a_working_set_counts_workgroups_that_run_at_once)
{
    watch_some("h200", 1 << 20, 3);
    const access_launch *l = run("copies", 10, 128, 32, args(1280, 1));
    ck_assert_double_eq(l->touched, 10 * 8 * 128);
    ck_assert_double_eq(l->working_set, 3 * 8 * 128);
    ck_assert_double_eq(l->chiplet_set, l->working_set);
    ck_assert_double_eq(l->shared.first, 10 * 8);
    unwatch();
    watch("h200", 1 << 20);
    l = run("copies", 10, 128, 32, args(1280, 1));
    ck_assert_int_eq(l->at_once, 132 * (2048 / 128 < 233472 / (16384 + 1024) ? 2048 / 128 : 233472 / (16384 + 1024)));
    ck_assert_double_eq(l->working_set, l->touched);
    unwatch();
}
END_TEST

START_TEST(reuse_distances_are_those_of_a_naive_list)
{
    enum { touches = 3000, lines = 200 };
    unsigned stream[touches], list[lines], x = 7;
    int listed = 0;
    access_reuse got = {.rate = 1, .bytes = 50 * 128}, expected = {.rate = 1};
    for (int i = 0; i < touches; i++) stream[i] = (x = x * 1664525u + 1013904223u) >> 16 & (i % 3 ? lines - 1 : 15), stream[i] %= lines;
    for (int i = 0; i < touches; i++) {
        int at = 0, bucket = 0;
        while (at < listed && list[at] != stream[i]) at++;
        if (at == listed) expected.first++, listed++;
        else {
            for (int n = at; n; n /= 2) bucket++;
            expected.distance[bucket]++, expected.hits += at + 1 <= 50;
        }
        memmove(list + 1, list, (size_t)at * sizeof *list);
        list[0] = stream[i];
    }
    reuse_room room;
    ck_assert(reuse_open(&room, lines, touches));
    for (int turn = 0; turn < 2; turn++) { /* the second turn reuses the recorder's memory */
        got = (access_reuse){.rate = 1, .bytes = 50 * 128};
        reuse_count(&room, stream, touches, 128, 1, &got);
        ck_assert(got.first == expected.first && got.hits == expected.hits && got.touches == touches);
        for (int i = 0; i < access_distances; i++) ck_assert_double_eq(got.distance[i], expected.distance[i]);
    }
    ck_assert_int_eq(reuse_distinct(&room, stream, touches), expected.first);
    reuse_close(&room);
}
END_TEST

/* If lines are touched in turn, all of a sample have the same distance; distances are scaled up from the sample. */
START_TEST(sampled_reuse_distances_are_scaled_to_all)
{
    enum { lines = 1 << 14, turns = 3 };
    unsigned *stream = malloc(lines * turns * sizeof *stream);
    for (int i = 0; i < lines * turns; i++) stream[i] = (unsigned)i % lines;
    reuse_room room;
    ck_assert(stream && reuse_open(&room, lines, lines * turns));
    access_reuse u = {.rate = 1.0 / 16};
    reuse_count(&room, stream, lines * turns, 128, 3, &u);
    const double sampled = u.first / 16;
    ck_assert_double_eq_tol(sampled, lines / 16.0, 6 * sqrt(lines / 16.0)); /* a binomial's six deviations */
    ck_assert_double_eq(u.touches, turns * u.first);
    int bucket = 0;
    for (double distance = (sampled - 1) * 16; distance >= 1; distance /= 2) bucket++;
    ck_assert_double_eq(u.distance[bucket], (turns - 1) * u.first);
    reuse_close(&room);
    free(stream);
}
END_TEST

/* ---- limits */
START_TEST(beyond_its_limit_the_recorder_omits_whole_workgroups)
{
    watch("h200", 300);
    const access_launch *l = run("copies", 4, 64, 32, args(256, 1));
    ck_assert(l->accesses == 512 && l->recorded == 256 && l->whole == 2);
    ck_assert_double_eq(row_of(l, "a", HOST_READ)->requests, 4);
    unwatch();
}
END_TEST

START_TEST(a_recorded_kernel_computes_its_usual_results)
{
    watch("h200", 1 << 20);
    access_args x = args(64, 1);
    for (int i = 0; i < 64; i++) x.a[i] = number((size_t)i);
    run("copies", 1, 64, 32, x);
    ck_assert_mem_eq(x.a, x.b, 64 * sizeof(float));
    unwatch();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recorder");
    TCase *c = tcase_create("recorder");
    tcase_add_checked_fixture(c, open_engine, close_engine);
    tcase_add_loop_test(c, a_copy_uses_every_byte_of_its_sectors, 0, 4);
    tcase_add_test(c, lanes_beyond_the_end_take_no_part);
    tcase_add_test(c, loads_with_a_stride_of_8_floats_use_an_eighth_of_each_sector);
    tcase_add_test(c, a_row_per_lane_requests_each_sector_many_times);
    tcase_add_test(c, sixteen_bytes_per_lane_are_one_request);
    tcase_add_test(c, lanes_that_reconverge_make_one_request_again);
    tcase_add_test(c, emulated_instructions_report_the_requests_of_the_real_ones);
    tcase_add_loop_test(c, bank_conflicts_of_a_transposed_tile_depend_on_its_pitch, 0, 7);
    tcase_add_test(c, bank_conflicts_are_counted_per_phase_of_lanes_of_each_machine);
    tcase_add_test(c, a_bad_kernel_is_named_with_its_lines);
    tcase_add_test(c, the_reuse_distance_of_repeated_lines_is_all_other_lines);
    tcase_add_test(c, a_working_set_counts_workgroups_that_run_at_once);
    tcase_add_test(c, reuse_distances_are_those_of_a_naive_list);
    tcase_add_test(c, sampled_reuse_distances_are_scaled_to_all);
    tcase_add_test(c, beyond_its_limit_the_recorder_omits_whole_workgroups);
    tcase_add_test(c, a_recorded_kernel_computes_its_usual_results);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    return run_suite(s);
}
