/* Wave operations and matrix instructions of the host engine, every lane and element, against independent implementations. */
#include "tests/host/test_host_common.h"

enum { N = 128 }; /* threads: two waves of 64 or four of 32 */
static unsigned in[1024], *out;

static void run(const char *kernel, unsigned wave)
{
    host_module *m = load("waves.hip");
    struct { unsigned *in, *out; } args = {memory(1024 * 4, "in"), memory(4096 * 4, "out")};
    for (unsigned i = 0; i < 1024; i++) args.in[i] = in[i] = i * 37 % 101 + 1;
    out = args.out;
    launch_ok(m, kernel, (host_launch_dims){.grid = {1}, .block = {N}, .wave = wave, .shared_bytes = 1024}, &args);
    host_module_free(m);
}

/* ---- lane moves: the lane from which thread t gets its word; -1: the old value (7); -2: 0 ---- */

typedef int (*source)(int lane, int wave);
static int xor5(int l, int w) { return (void)w, l ^ 5; }
static int xor8in8(int l, int w) { return (void)w, l / 8 % 2 ? l - 8 : l; } /* leaves the group only downwards */
static int pick(int l, int w) { return (void)w, l / 16 * 16 + l * 7 % 16; }
static int down3(int l, int w) { return (void)w, l % 16 < 13 ? l + 3 : l; }
static int up3(int l, int w) { return (void)w, l < 3 ? l : l - 3; }
static int first(int l, int w) { return (void)l, (void)w, 0; }
static int lane9(int l, int w) { return (void)l, (void)w, 9; }
static int bpermute(int l, int w) { return (3 * l + 1) % w; }
static int permute(int l, int w) { return (void)w, l ^ 6; }
static int swizzle_xor(int l, int w) { return (void)w, l ^ 16 ^ 3; }
static int swizzle_quad(int l, int w) { return (void)w, l - l % 4 + 3 - l % 4; }
static int swizzle_broadcast(int l, int w) { return (void)w, l / 8 * 8 + 5; }
static int permlanex(int l, int w) { return (void)w, l ^ 16; }
static int permlane_turn(int l, int w) { return (void)w, l / 16 * 16 + 15 - l % 16; }
static int dpp_quad(int l, int w) { return (void)w, l ^ 2; }
static int dpp_shl(int l, int w) { return (void)w, l % 16 < 13 ? l + 3 : -2; }
static int dpp_shr(int l, int w) { return (void)w, l % 16 ? l - 1 : -1; }
static int dpp_ror(int l, int w) { return (void)w, l / 16 * 16 + (l % 16 + 12) % 16; }
static int dpp_mirror(int l, int w) { return (void)w, l / 16 * 16 + 15 - l % 16; }
static int dpp_half_mirror(int l, int w) { return (void)w, l / 8 * 8 + 7 - l % 8; }
static int dpp_bcast15(int l, int w) { return (void)w, l / 16 % 2 ? l / 16 * 16 - 1 : -1; }
static int dpp_bcast31(int l, int w) { return (void)w, l >= 32 ? 31 : -1; }
static int dpp_share(int l, int w) { return (void)w, l / 16 * 16 + 5; }
static int dpp_xmask(int l, int w) { return (void)w, l ^ 3; }
static int dpp_banks(int l, int w)
{
    const int row = l / 16, bank = l / 4 % 4;
    return (void)w, row % 2 == 0 && (bank == 1 || bank == 2) ? l ^ 1 : -1;
}
static int mov_dpp8(int l, int w) { return (void)w, l / 8 * 8 + (0xfac688 >> 3 * (l % 8) & 7); }

static const struct { const char *kernel; source from; int least; } moves[] = {
    {"xor5", xor5, 32}, {"xor8in8", xor8in8, 32}, {"pick", pick, 32}, {"down3", down3, 32}, {"up3", up3, 32}, {"first", first, 32},
    {"lane9", lane9, 32}, {"bpermute", bpermute, 32}, {"permute", permute, 32}, {"swizzle_xor", swizzle_xor, 32},
    {"swizzle_quad", swizzle_quad, 32}, {"swizzle_broadcast", swizzle_broadcast, 32}, {"permlanex", permlanex, 32},
    {"permlane_turn", permlane_turn, 32}, {"dpp_quad", dpp_quad, 32}, {"dpp_shl", dpp_shl, 32}, {"dpp_shr", dpp_shr, 32},
    {"dpp_ror", dpp_ror, 32}, {"dpp_mirror", dpp_mirror, 32}, {"dpp_half_mirror", dpp_half_mirror, 32},
    {"dpp_bcast15", dpp_bcast15, 32}, {"dpp_bcast31", dpp_bcast31, 64}, {"dpp_share", dpp_share, 32}, {"dpp_xmask", dpp_xmask, 32},
    {"dpp_banks", dpp_banks, 32}, {"dpp_float", dpp_mirror, 32}, {"mov_dpp8", mov_dpp8, 32},
};
START_TEST(a_shuffle_returns_the_word_of_the_source_lane)
{
    for (int wave = moves[_i].least; wave <= 64; wave *= 2) {
        run(moves[_i].kernel, (unsigned)wave);
        for (int t = 0; t < N; t++) {
            const int from = moves[_i].from(t % wave, wave);
            const unsigned expected = from == -1 ? 7 : from == -2 ? 0 : in[t / wave * wave + from];
            ck_assert_msg(out[t] == expected, "%s, wave %d, thread %d: %u, not %u", moves[_i].kernel, wave, t, out[t], expected);
        }
    }
}
END_TEST

START_TEST(values_of_many_words_move_whole)
{
    run("wide", 64);
    for (int t = 0; t < N; t++) ck_assert_uint_eq(out[t], in[t / 64 * 64 + 2] ^ (in[t / 64 * 64 + 2] + 4));
}
END_TEST

START_TEST(swaps_exchange_odd_groups_with_even_groups)
{
    for (int n = 16; n <= 32; n *= 2) {
        run(n == 16 ? "swap16" : "swap32", 64);
        unsigned a[N], b[N];
        for (int t = 0; t < N; t++) a[t] = in[t], b[t] = in[t] + 1000;
        for (int t = 0; t < N; t++)
            if (t / n % 2) {
                const unsigned keep = a[t];
                a[t] = b[t - n];
                b[t - n] = keep;
            }
        for (int t = 0; t < N; t++) {
            ck_assert_uint_eq(out[2 * t], a[t]);
            ck_assert_uint_eq(out[2 * t + 1], b[t]);
        }
    }
}
END_TEST

START_TEST(votes_count_every_lane)
{
    for (unsigned wave = 32; wave <= 64; wave *= 2) {
        run("ballots", wave);
        uint64_t set[4] = {0};
        for (unsigned t = 0; t < N; t++) set[t / wave] |= (uint64_t)(in[t] & 1) << t % wave;
        for (unsigned t = 0; t < N; t++) ck_assert_uint_eq(out[2 * t] | (uint64_t)out[2 * t + 1] << 32, set[t / wave]);
        run("votes", wave);
        for (unsigned t = 0; t < N; t++) {
            unsigned expected = 2 | 8;
            for (unsigned i = t / wave * wave; i < (t / wave + 1) * wave; i++) {
                expected |= in[i] > 90;
                if (in[i] <= 10) expected &= ~8u;
            }
            ck_assert_uint_eq(out[t], expected);
        }
    }
}
END_TEST

START_TEST(reductions_cover_the_wave_or_the_given_width)
{
    for (unsigned wave = 32; wave <= 64; wave *= 2) {
        run("sums", wave);
        for (unsigned t = 0; t < N; t++) {
            unsigned sum = 0, sum8 = 0, low = ~0u;
            int high = -1000;
            for (unsigned i = t / wave * wave; i < (t / wave + 1) * wave; i++) {
                sum += in[i];
                if ((int)in[i] - 50 > high) high = (int)in[i] - 50;
                if (i / 8 == t / 8) sum8 += in[i];
                if (i / 4 == t / 4 && in[i] < low) low = in[i];
            }
            ck_assert_uint_eq(out[t], sum);
            ck_assert_uint_eq(out[1024 + t], sum8);
            ck_assert_int_eq((int)out[2048 + t], high);
            ck_assert_uint_eq(out[3072 + t], low);
        }
    }
}
END_TEST

/* As floats, the words of `in` are denormals whose sums are exact, so the bits must agree in any order of adding. */
START_TEST(a_wave_reduction_has_the_bits_of_its_shuffles)
{
    run("float_sums", 64);
    for (int t = 0; t < N; t++) {
        unsigned high = 0;
        for (int i = t / 64 * 64; i < (t / 64 + 1) * 64; i++) high = in[i] > high ? in[i] : high;
        ck_assert_uint_eq(out[t], out[1024 + t]);
        ck_assert_uint_eq(out[2048 + t], high);
    }
}
END_TEST

START_TEST(diverged_lanes_reconverge)
{
    run("divergent", 64);
    for (int t = 0; t < N; t++) {
        const int lane = t % 64, base = t - lane;
        if (lane == 7) continue;
        unsigned r = lane < 20 ? in[base + 3] + 20 : 2 * in[base + 25];
        r += in[t ^ 1];
        unsigned once = 0, twice = 0; /* lanes that run the loop at least once; at least twice; lane 7 has left */
        for (int l = 0; l < 64; l++) once += l != 7 && l % 3 >= 1, twice += l != 7 && l % 3 >= 2;
        r += (lane % 3 >= 1 ? once : 0) + (lane % 3 >= 2 ? twice : 0) + 63;
        ck_assert_msg(out[t] == r, "thread %d: %u, not %u", t, out[t], r);
    }
}
END_TEST

START_TEST(inactive_lanes_vote_zero)
{
    run("alone", 64);
    for (int t = 0; t < N; t++)
        ck_assert_uint_eq(out[t], t % 64 < 20 ? 0 : 1000 * in[t / 64 * 64 + 40] + 1000000 * in[t / 64 * 64 + 20]);
}
END_TEST

START_TEST(lanes_that_skip_a_branch_wait_after_it)
{
    run("helped", 64);
    for (int t = 0; t < N; t++) ck_assert_uint_eq(out[t], (t & 1 ? 32 : 0) + 6400 + (t & 2 ? 320000 : 0));
}
END_TEST

START_TEST(copies_to_lds_go_to_the_first_lanes_address)
{
    run("copied_to_lds", 64);
    for (int t = 0; t < N; t++) ck_assert_uint_eq(out[t], in[t ^ 1]);
}
END_TEST

START_TEST(buffers_read_zero_and_write_nothing_beyond_their_records)
{
    run("buffered", 64);
    for (int t = 0; t < N; t++) {
        unsigned s = 0;
        for (int i = t; i < t + 4 && i < 40; i++) s += in[i];
        ck_assert_uint_eq(out[t], s);
        ck_assert_uint_eq(out[1024 + t], t < 8 ? in[t] : 0);
    }
}
END_TEST

START_TEST(bytes_are_picked_from_two_words)
{
    run("permuted_bytes", 32);
    for (int t = 0; t < N; t++) {
        const unsigned high = in[t] * 0x01030507u, low = in[t] * 0x11131517u; /* selector 0x0c060104 */
        ck_assert_uint_eq(out[t], (high >> 0 & 255) | (low >> 8 & 255) << 8 | (high >> 16 & 255) << 16);
    }
}
END_TEST

/* ---- matrix instructions: the lane and place of each element, computed from the element (the engine computes the reverse) ---- */

enum { F32, F16, BF16 };
enum { CDNA, GFX11, GFX12 };
typedef struct form { const char *kernel; int m, k, type, family; } form;
static const form forms[] = {
    {"mfma_32x32x8_bf16", 32, 8, BF16, CDNA},  {"mfma_16x16x16_bf16", 16, 16, BF16, CDNA}, {"mfma_32x32x8_f16", 32, 8, F16, CDNA},
    {"mfma_16x16x16_f16", 16, 16, F16, CDNA},  {"mfma_32x32x16_bf16", 32, 16, BF16, CDNA}, {"mfma_16x16x32_bf16", 16, 32, BF16, CDNA},
    {"mfma_32x32x16_f16", 32, 16, F16, CDNA},  {"mfma_16x16x32_f16", 16, 32, F16, CDNA},   {"mfma_32x32x2_f32", 32, 2, F32, CDNA},
    {"mfma_16x16x4_f32", 16, 4, F32, CDNA},    {"wmma_f16", 16, 16, F16, GFX11},           {"wmma_bf16", 16, 16, BF16, GFX11},
    {"wmma_f16_gfx12", 16, 16, F16, GFX12},    {"wmma_bf16_gfx12", 16, 16, BF16, GFX12},     {"mfma_32x32x4_bf16", 32, 4, BF16, CDNA},
    {"mfma_16x16x8_bf16", 16, 8, BF16, CDNA},
};

static void put(const form *f, void *to, int at, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    const _Float16 h = (_Float16)v;
    if (f->type == F32) ((float *)to)[at] = v;
    else if (f->type == BF16) ((uint16_t *)to)[at] = (uint16_t)(bits >> 16);
    else memcpy((uint16_t *)to + at, &h, 2);
}

/* Row (or column) i and k of an operand; `each` elements a lane. gfx11 has two lanes for it. */
static void put_operand(const form *f, void *to, int i, int k, float v)
{
    if (f->family == GFX11) {
        put(f, to, i * 16 + k, v);
        put(f, to, (i + 16) * 16 + k, v);
    } else if (f->family == GFX12) {
        put(f, to, (i + 16 * (k / 4 % 2)) * 8 + k / 8 * 4 + k % 4, v);
    } else {
        const int each = f->m * f->k / 64;
        put(f, to, (i + f->m * (k / each)) * each + k % each, v);
    }
}

static int place(const form *f, int i, int j)
{
    if (f->family == GFX11) return (j + 16 * (i % 2)) * 8 + i / 2;
    if (f->family == GFX12) return (j + 16 * (i / 8)) * 8 + i % 8;
    if (f->m == 32) return (j + 32 * (i / 4 % 2)) * 16 + i / 8 * 4 + i % 4;
    return (j + 16 * (i / 4)) * 4 + i % 4;
}

START_TEST(matrix_elements_are_in_the_lanes_of_the_vendor_tables)
{
    const form *f = &forms[_i];
    host_module *m = load("matrix.hip");
    struct { void *a, *b; float *c, *d; } args = {memory(4096, "a"), memory(4096, "b"), floats(1024, "c"), floats(1024, "d")};
    int a[32][32], b[32][32], c[32][32];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < f->m; i++)
            for (int k = 0; k < f->k; k++) {
                a[i][k] = (int)(4 * number((size_t)(round * 5000 + i * 32 + k)));
                b[i][k] = (int)(4 * number((size_t)(round * 7000 + 3000 + i * 32 + k)));
                put_operand(f, args.a, i, k, (float)a[i][k]);
                put_operand(f, args.b, i, k, (float)b[i][k]);
            }
        for (int i = 0; i < f->m; i++)
            for (int j = 0; j < f->m; j++) args.c[place(f, i, j)] = (float)(c[i][j] = i * 100 + j * 3 + round);
        const unsigned lanes = f->family == CDNA ? 64 : 32;
        launch_ok(m, f->kernel, (host_launch_dims){.grid = {1}, .block = {lanes}, .wave = lanes}, &args);
        for (int i = 0; i < f->m; i++)
            for (int j = 0; j < f->m; j++) {
                int s = c[i][j];
                for (int k = 0; k < f->k; k++) s += a[i][k] * b[j][k];
                ck_assert_msg(args.d[place(f, i, j)] == (float)s, "%s: row %d column %d is %g, not %d", f->kernel, i, j,
                              args.d[place(f, i, j)], s);
            }
    }
    host_module_free(m);
}
END_TEST

START_TEST(matrix_instructions_multiply_f16_of_every_kind)
{
    static const float values[] = {1, 0x1p-24f, 0x1.ff8p-15f, 65504, -0x1p-14f, INFINITY};
    host_module *m = load("matrix.hip");
    struct { uint16_t *a, *b; float *c, *d; } args = {memory(4096, "a"), memory(4096, "b"), floats(1024, "c"), floats(1024, "d")};
    for (unsigned i = 0; i < 6; i++) {
        put_operand(&forms[2], args.a, 3, 5, values[i]);
        put_operand(&forms[2], args.b, 4, 5, 1);
        launch_ok(m, "mfma_32x32x8_f16", (host_launch_dims){.grid = {1}, .block = {64}, .wave = 64}, &args);
        ck_assert_float_eq(args.d[place(&forms[2], 3, 4)], values[i]);
    }
    host_module_free(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host waves");
    TCase *t = tcase_create("waves");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_add_loop_test(t, a_shuffle_returns_the_word_of_the_source_lane, 0, sizeof moves / sizeof *moves);
    tcase_add_test(t, values_of_many_words_move_whole);
    tcase_add_test(t, swaps_exchange_odd_groups_with_even_groups);
    tcase_add_test(t, votes_count_every_lane);
    tcase_add_test(t, reductions_cover_the_wave_or_the_given_width);
    tcase_add_test(t, a_wave_reduction_has_the_bits_of_its_shuffles);
    tcase_add_test(t, diverged_lanes_reconverge);
    tcase_add_test(t, inactive_lanes_vote_zero);
    tcase_add_test(t, lanes_that_skip_a_branch_wait_after_it);
    tcase_add_test(t, copies_to_lds_go_to_the_first_lanes_address);
    tcase_add_test(t, buffers_read_zero_and_write_nothing_beyond_their_records);
    tcase_add_test(t, bytes_are_picked_from_two_words);
    tcase_add_loop_test(t, matrix_elements_are_in_the_lanes_of_the_vendor_tables, 0, sizeof forms / sizeof *forms);
    tcase_add_test(t, matrix_instructions_multiply_f16_of_every_kind);
    suite_add_tcase(s, t);
    return run_suite(s);
}
