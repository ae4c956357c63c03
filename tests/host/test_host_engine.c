/* The host engine runs common kernels: results against plain C, in the GPU's and the CPU's geometries. */
#include "tests/host/test_host_common.h"
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

START_TEST(vectors_of_any_length_are_added)
{
    host_module *m = load("basics.hip");
    const int lengths[] = {1, 2, 63, 64, 65, 1000, 4099};
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const int n = lengths[k];
        struct { float *a, *b, *c; int n; } args = {floats(n, "a"), floats(n, "b"), floats(n, "c"), n};
        for (int i = 0; i < n; i++) args.a[i] = number(i), args.b[i] = number(i + 77);
        launch_ok(m, "vadd", (host_launch_dims){.grid = {5}, .block = {64}, .wave = 32}, &args);
        for (int i = 0; i < n; i++) ck_assert_float_eq(args.c[i], args.a[i] + args.b[i]);
    }
    host_module_free(m);
}
END_TEST

/* u of float32, and what K terms of absolute sum `size`, added in any order, are off by at most (ir/reference/ref.h: 2 sqrt(K) u
 * sum |t|). */
#define UNIT 0x1p-24
static double sum_error(int terms, double size) { return 2 * sqrt(terms) * UNIT * size; }

static void norm(const char *kernel, unsigned threads, unsigned wave)
{
    host_module *m = load("basics.hip");
    const int rows = 7, n = 528;
    struct { float *x, *w, *y; int n; float eps; } args = {floats(rows * n, "x"), floats(n, "w"), floats(rows * n, "y"), n, 1e-5f};
    for (int i = 0; i < rows * n; i++) args.x[i] = number(i);
    for (int i = 0; i < n; i++) args.w[i] = number(i + 5);
    launch_ok(m, kernel, (host_launch_dims){.grid = {rows}, .block = {threads}, .wave = wave, .shared_bytes = 4096}, &args);
    for (int r = 0; r < rows; r++) {
        double s = 0;
        for (int i = 0; i < n; i++) s += (double)args.x[r * n + i] * args.x[r * n + i];
        for (int i = 0; i < n; i++) {
            const double y = args.x[r * n + i] / sqrt(s / n + 1e-5) * args.w[i];
            /* half the relative error of the sum of squares, and 6 u: quotient, sum, root, reciprocal, two products */
            ck_assert_double_le(fabs(args.y[r * n + i] - y), fabs(y) * (0.5 * sum_error(n, s) / s + 6 * UNIT));
        }
    }
    host_module_free(m);
}

/* threads, wave: GPU geometries, partial waves, waves of one lane, one thread a block */
static const unsigned geometries[][2] = {{256, 64}, {256, 32}, {96, 64}, {100, 32}, {8, 64}, {64, 1}, {7, 1}, {1, 1}, {1024, 64}};
START_TEST(a_norm_is_right_in_every_geometry) { norm("rmsnorm", geometries[_i][0], geometries[_i][1]); }
END_TEST
START_TEST(a_norm_is_right_with_one_thread_a_row) { norm("rmsnorm_row", 1, 1); }
END_TEST

START_TEST(threads_see_their_block_and_thread_indices)
{
    host_module *m = load("basics.hip");
    const unsigned g[3] = {3, 2, 2}, b[3] = {5, 4, 3}, threads = 60;
    unsigned *out = memory(12 * threads * 8 * 4, "out");
    launch_ok(m, "geometry", (host_launch_dims){.grid = {3, 2, 2}, .block = {5, 4, 3}, .wave = 32}, &out);
    for (unsigned i = 0; i < 12 * threads; i++) {
        const unsigned block = i / threads, t = i % threads, *o = out + i * 8;
        ck_assert_uint_eq(o[0] + g[0] * (o[1] + g[1] * o[2]), block);
        ck_assert_uint_eq(o[3] + b[0] * (o[4] + b[1] * o[5]), t);
        ck_assert_uint_eq(o[6], 32);
        ck_assert_uint_eq(o[7], t % 32);
    }
    host_module_free(m);
}
END_TEST

START_TEST(a_barrier_orders_accesses_before_it_and_after_it)
{
    host_module *m = load("basics.hip");
    const unsigned threads = geometries[_i][0], turns = 37;
    struct { int *out; int turns; } args = {memory(3 * threads * 4, "out"), (int)turns};
    launch_ok(m, "relay", (host_launch_dims){.grid = {3}, .block = {threads}, .wave = geometries[_i][1], .shared_bytes = 8192}, &args);
    for (unsigned i = 0; i < 3 * threads; i++)
        ck_assert_int_eq(args.out[i], (int)((i % threads + (turns / threads + 1) * threads - turns) % threads + turns));
    host_module_free(m);
}
END_TEST

/* One wave has left the barrier and spins; the others still meet at it. */
START_TEST(a_wave_that_leaves_barriers_is_not_waited_for)
{
    host_module *m = _i ? load_checked("basics.hip") : load("basics.hip");
    const unsigned threads = 96, turns = 37;
    struct { int *out; int turns; } args = {memory(3 * threads * 4, "out"), (int)turns};
    launch_ok(m, "apart", (host_launch_dims){.grid = {3}, .block = {threads + 32}, .wave = 32, .shared_bytes = 8200}, &args);
    for (unsigned i = 0; i < 3 * threads; i++)
        ck_assert_int_eq(args.out[i], (int)((i % threads + (turns / threads + 1) * threads - turns) % threads + turns));
    host_module_free(m);
}
END_TEST

START_TEST(a_barrier_waits_for_polling_waves_but_not_for_ended_ones)
{
    host_module *m = load("basics.hip");
    const unsigned threads = geometries[_i][0];
    int *out = memory((3 * threads + 1) * 4, "out");
    launch_ok(m, "late", (host_launch_dims){.grid = {3}, .block = {threads}, .wave = geometries[_i][1], .shared_bytes = 8}, &out);
    for (unsigned i = 0; i < 3 * threads; i++) {
        const unsigned t = i % threads;
        ck_assert_int_eq(out[i], t % 3 == 1 && t != threads - 1 ? 0 : 42);
    }
    ck_assert_int_eq(out[3 * threads], (int)(3 * threads));
    host_module_free(m);
}
END_TEST

START_TEST(stacks_of_waves_are_as_large_as_the_kernel_declares)
{
    host_module *m = load("basics.hip");
    int *out = memory(64 * 4, "out");
    launch_ok(m, "deep", (host_launch_dims){.grid = {2}, .block = {64}, .wave = 64}, &out);
    for (int i = 0; i < 64; i++) ck_assert_int_eq(out[i], 7 * 512 % 256 + i);
    host_module_free(m);
}
END_TEST

/* Without the engine's handler, running into the guard page would end the process. */
START_TEST(stacks_of_waves_hold_the_largest_frame_of_the_compiler)
{
    host_module *m = load("basics.hip");
    const host_engine_options quiet = {.workers = 2, .no_signals = true};
    host_engine *own = host_engine_open(&quiet);
    int *out = host_alloc(own, 64 * sizeof *out, "out");
    void *params[] = {&out};
    const host_launch_dims d = {.grid = {1}, .block = {64}, .wave = _i ? 64 : 1};
    host_log log = {0};
    ck_assert_msg(host_launch(own, m, "deeper", &d, params, &log) == HOST_OK, "%s", log.text ? log.text : "");
    for (int i = 0; i < 64; i++) ck_assert_int_eq(out[i], (signed char)(512 * 7 + i));
    host_log_free(&log);
    host_module_free(m);
    host_engine_close(own);
}
END_TEST

/* A batch system may give a process one of many processors; workers for the others would only get in the way. */
START_TEST(an_engine_has_as_many_workers_as_the_process_has_processors)
{
    cpu_set_t allowed, one;
    int first = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET(first, &allowed)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    host_engine *narrow = host_engine_open(NULL);
    ck_assert_uint_eq(host_engine_workers(narrow), 1);
    host_engine_close(narrow);
    ck_assert_int_eq(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    host_engine *wide = host_engine_open(NULL);
    ck_assert_uint_eq(host_engine_workers(wide), CPU_COUNT(&allowed) < 256 ? (unsigned)CPU_COUNT(&allowed) : 256);
    host_engine_close(wide);
}
END_TEST

START_TEST(atomics_count_across_workers)
{
    host_module *m = load("basics.hip");
    float *out = floats(5, "out");
    launch_ok(m, "atomics", (host_launch_dims){.grid = {8}, .block = {128}, .wave = 64, .shared_bytes = 24}, &out);
    ck_assert_float_eq(out[0], 128 * 3);
    ck_assert_float_eq(out[1], 64);
    ck_assert_float_eq(out[2], 1000 - 127);
    ck_assert_float_eq(out[3], 127);
    ck_assert_float_eq(out[4], 8 * 128);
    host_module_free(m);
}
END_TEST

static uint16_t half_bits(_Float16 h)
{
    uint16_t b;
    memcpy(&b, &h, 2);
    return b;
}

/* The last -march wins: a processor without F16C, on which the header's own conversions are used. */
START_TEST(half_conversions_round_to_nearest_even)
{
    static const char *const flags[] = {NULL, "-march=x86-64"};
    host_module *m = load_with("basics.hip", (host_compile_options){.optimise = -1, .flags = flags[_i]});
    enum { N = 200000 };
    struct { float *x; uint16_t *h; float *y; int n; } args = {floats(N, "x"), memory(2 * N, "h"), floats(N, "y"), N};
    uint32_t seed = 1;
    for (int i = 0; i < N; i++) {
        static const uint32_t beside[] = {0x1000, 0x0fff, 0x1001, 0}; /* of the 13 dropped bits: a tie, and its neighbours */
        uint32_t bits = seed = seed * 1664525 + 1013904223;
        bits ^= bits >> 15;
        if (i % 2) bits = (bits & 0x807fe000) | (110 + bits % 36) << 23 | beside[i / 2 % 4];
        memcpy(&args.x[i], &bits, 4);
        if (i < 4100) args.x[i] = (float)i / 4 * 0x1p-24f; /* denormals up to the first normal, with ties */
    }
    launch_ok(m, "through_half", (host_launch_dims){.grid = {1}, .block = {32}, .wave = 32}, &args);
    for (int i = 0; i < N; i++) {
        const _Float16 h = (_Float16)args.x[i];
        if (args.x[i] != args.x[i]) ck_assert(args.y[i] != args.y[i]);
        else
            ck_assert_msg(args.h[i] == half_bits(h) && args.y[i] == (float)h, "%a gives %04x, not %04x", args.x[i], args.h[i],
                          half_bits(h));
    }
    host_module_free(m);
}
END_TEST

/* ---- products and attention ---- */

static const struct { const char *kernel; unsigned threads, wave, shared, tile; } products[] = {
    {"gemm_gpu", 256, 64, 16384, 128}, {"gemm_gpu", 256, 32, 16384, 128}, {"gemm_cpu", 64, 64, 65536, 128},
    {"gemm_cpu", 64, 1, 65536, 128},   {"gemm_thin", 256, 64, 2048, 16},
};
START_TEST(products_agree_with_plain_loops)
{
    host_module *m = load("gemm.hip");
    const int n = 256, k = 128;
    struct { float *a, *b, *c; int m, n, k; } args = {floats(n * k, "a"), floats(k * n, "b"), floats(n * n, "c"), n, n, k};
    for (int i = 0; i < n * k; i++) args.a[i] = number(i), args.b[i] = number(i + 1234567);
    const unsigned grid = n / products[_i].tile;
    launch_ok(m, products[_i].kernel, (host_launch_dims){.grid = {grid, grid}, .block = {products[_i].threads},
              .wave = products[_i].wave, .shared_bytes = products[_i].shared}, &args);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0, size = 0;
            for (int q = 0; q < k; q++)
                s += (double)args.a[i * k + q] * args.b[q * n + j], size += fabs((double)args.a[i * k + q] * args.b[q * n + j]);
            ck_assert_double_le(fabs(args.c[i * n + j] - s), sum_error(k, size));
        }
    host_module_free(m);
}
END_TEST

static uint16_t bf16(float x)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    return (uint16_t)(b >> 16);
}

START_TEST(a_product_on_matrix_instructions_is_exact_for_small_numbers)
{
    host_module *m = load("gemm.hip");
    const int n = 128, k = 96;
    struct { uint16_t *a, *b; float *c; int n, k; } args = {memory(n * k * 2, "a"), memory(n * k * 2, "b"), floats(n * n, "c"), n, k};
    for (int i = 0; i < n * k; i++) args.a[i] = bf16(number(i)), args.b[i] = bf16(number(i + 999));
    launch_ok(m, "gemm_mfma", (host_launch_dims){.grid = {2, 2}, .block = {256}, .wave = 64, .shared_bytes = 9216}, &args);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int q = 0; q < k; q++) s += number(i * k + q) * number(j * k + q + 999);
            ck_assert_float_eq(args.c[i * n + j], s);
        }
    host_module_free(m);
}
END_TEST

START_TEST(attention_agrees_with_two_passes)
{
    static const struct {
        const char *kernel;
        unsigned threads, wave, rows;
    } forms[] = {{"attention_gpu", 256, 64, 32}, {"attention_cpu", 32, 32, 32}, {"attention_cpu", 1, 1, 1}};
    host_module *m = load("attention.hip");
    enum { T = 96, D = 64, H = 2 };
    struct {
        float *q, *k, *v, *o;
        int n;
    } p = {floats(H * T * D, "q"), floats(H * T * D, "k"), floats(H * T * D, "v"), floats(H * T * D, "o"), T};
    for (int i = 0; i < H * T * D; i++) p.q[i] = number(i), p.k[i] = number(i + 31337), p.v[i] = number(i + 4242);
    launch_ok(m, forms[_i].kernel, (host_launch_dims){.grid = {T / forms[_i].rows, H}, .block = {forms[_i].threads},
              .wave = forms[_i].wave, .shared_bytes = 8192}, &p);
    for (int h = 0; h < H; h++)
        for (int i = 0; i < T; i++) {
            double s[T], l = 0, high = -INFINITY, low = INFINITY, o[D] = {0}, sizes[D] = {0}, off = 0;
            const float *q = p.q + (h * T + i) * D, *k = p.k + h * T * D, *v = p.v + h * T * D;
            for (int j = 0; j <= i; j++) {
                double size = 0;
                s[j] = 0;
                for (int d = 0; d < D; d++) s[j] += q[d] * 0.125 * k[j * D + d], size += fabs(q[d] * 0.125 * k[j * D + d]);
                high = fmax(high, s[j]), low = fmin(low, s[j]), off = fmax(off, sum_error(D, size));
            }
            for (int j = 0; j <= i; j++) {
                l += s[j] = exp(s[j] - high);
                for (int d = 0; d < D; d++) o[d] += s[j] * v[j * D + d], sizes[d] += s[j] * fabs(v[j * D + d]);
            }
            /* Error of each weight: its score's error, u of exp's argument and 2 u of exp; both sums run over all weights. */
            const double each = off + (high - low + 4) * UNIT, sums = 2 * sum_error(i + 1, 1);
            for (int d = 0; d < D; d++)
                ck_assert_double_le(fabs(p.o[(h * T + i) * D + d] - o[d] / l),
                                    (2 * each + sums + 2 * UNIT) * sizes[d] / l + 0x1p-126); /* smaller results may be flushed to 0 */
        }
    host_module_free(m);
}
END_TEST

/* ---- the grid ---- */

START_TEST(all_blocks_wait_for_each_other)
{
    static const char *const kernels[] = {"phases_native", "phases_counter", "phases_fenced"};
    host_module *m = load("grid.hip");
    const unsigned blocks[] = {1, 2, 3, 16};
    for (unsigned k = 0; k < 4; k++) {
        const unsigned n = blocks[k];
        struct { unsigned *buffers, *counter; int phases; } args = {memory(2 * n * 4, "buffers"), memory(4, "counter"), 9};
        unsigned expected[16], next[16];
        for (unsigned i = 0; i < n; i++) args.buffers[i] = expected[i] = i + 1;
        for (int p = 0; p < args.phases; p++) {
            unsigned s = 0;
            for (unsigned i = 0; i < n; i++) s += expected[i];
            for (unsigned i = 0; i < n; i++) next[i] = s * 3 + i;
            memcpy(expected, next, sizeof next);
        }
        launch_ok(m, kernels[_i], (host_launch_dims){.grid = {n}, .block = {64}, .wave = 64, .cooperative = true}, &args);
        for (unsigned i = 0; i < n; i++) ck_assert_uint_eq(args.buffers[(args.phases & 1) * n + i], expected[i]);
    }
    host_module_free(m);
}
END_TEST

/* As on a GPU, each resident block has its own copy, though the module has only one. */
START_TEST(shared_variables_belong_to_their_block)
{
    host_module *m = _i & 2 ? load_checked("variables.hip") : load("variables.hip");
    int *out = memory(4 * 64 * 4, "out");
    for (int k = 0; k < 3; k++) {
        memset(out, 0, 4 * 64 * 4);
        launch_ok(m, _i & 1 ? "variables_in_turn" : "variables",
                  (host_launch_dims){.grid = {4}, .block = {64}, .wave = 32, .cooperative = !(_i & 1)}, &out);
        for (int i = 0; i < 4 * 64; i++) ck_assert_int_eq(out[i], (i / 64) * 1000 + 63 - i % 64);
    }
    host_module_free(m);
}
END_TEST

/* ---- many callers, repeats ---- */

static void *caller(void *argument)
{
    host_module *m = argument;
    struct { int *out; int turns; } args = {memory(4 * 128 * 4, "out"), 11};
    for (int k = 0; k < 200; k++) {
        memset(args.out, 0, 4 * 128 * 4);
        launch_ok(m, "relay", (host_launch_dims){.grid = {4}, .block = {128}, .wave = k & 1 ? 64 : 32, .shared_bytes = 8192}, &args);
        for (int i = 0; i < 4 * 128; i++)
            if (args.out[i] != (i % 128 + 117) % 128 + 11) return "wrong";
    }
    return NULL;
}
START_TEST(several_threads_launch_at_once)
{
    host_module *m = load("basics.hip");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) ck_assert(!pthread_create(&threads[i], NULL, caller, m));
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
    host_module_free(m);
}
END_TEST

/* A grid of three blocks that wait for each other needs the pool's threads. The child has none of its parent's, and begins anew. */
START_TEST(a_child_process_launches_and_closes)
{
    host_module *m = load("grid.hip");
    const host_launch_dims d = {.grid = {3}, .block = {64}, .wave = 64, .cooperative = true};
    struct { unsigned *buffers, *counter; int phases; } args = {memory(2 * 3 * 4, "buffers"), memory(4, "counter"), 1};
    for (int calls = 0; calls < 2; calls++) {
        launch_ok(m, "phases_native", d, &args);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            for (unsigned i = 0; i < 3; i++) args.buffers[i] = 1;
            if (calls) launch_ok(m, "phases_native", d, &args);
            const bool wrong = calls && args.buffers[3 + 2] != 3 * 3 + 2;
            host_engine_close(engine);
            _exit(wrong);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    host_module_free(m);
}
END_TEST

/* ---- compiling ---- */

static host_status compile(const char *text, host_compile_options o, host_module **m, host_log *log)
{
    host_log_free(log);
    return host_compile(text, strlen(text), &o, m, log);
}
#define TINY "extern \"C\" __global__ void f(int *p) { *p = 1; }\nTF_EXPORT(f)\n"

START_TEST(a_second_compile_comes_from_the_cache)
{
    host_module *first, *second, *other;
    host_log log = {0};
    const host_compile_options o = {.cache_dir = cache, .optimise = 1}, p = {.cache_dir = cache, .optimise = 2};
    ck_assert_int_eq(compile(TINY "// cached\n", o, &first, &log), HOST_OK);
    ck_assert_int_eq(compile(TINY "// cached\n", o, &second, &log), HOST_OK);
    ck_assert_int_eq(compile(TINY "// cached\n", p, &other, &log), HOST_OK);
    ck_assert(!host_module_cached(first) && host_module_cached(second) && !host_module_cached(other));
    ck_assert(host_module_has(second, "f") && !host_module_has(second, "g"));
    host_module_free(second);
    const host_compile_options usual = {.cache_dir = cache, .optimise = -1};
    setenv("TFGEN_HOST_OPTIMISE", "2", 1); /* the level that was asked for by number is in the cache */
    ck_assert_int_eq(compile(TINY "// cached\n", usual, &second, &log), HOST_OK);
    ck_assert(host_module_cached(second));
    setenv("TFGEN_HOST_OPTIMISE", "3", 1); /* level 3, the usual one, has not been compiled yet */
    host_module_free(second);
    ck_assert_int_eq(compile(TINY "// cached\n", usual, &second, &log), HOST_OK);
    ck_assert(!host_module_cached(second));
    host_module_free(second);
    unsetenv("TFGEN_HOST_OPTIMISE");
    ck_assert_int_eq(compile(TINY "// cached\n", usual, &second, &log), HOST_OK);
    ck_assert(host_module_cached(second));
    setenv("TFGEN_HOST_OPTIMISE", "4", 1);
    host_module *none;
    ck_assert_int_eq(compile(TINY, usual, &none, &log), HOST_NO_COMPILER);
    ck_assert_msg(strstr(log.text, "TFGEN_HOST_OPTIMISE=4 is not an optimisation level") != NULL, "%s", log.text);
    host_module_free(first);
    host_module_free(second);
    host_module_free(other);
    host_log_free(&log);
}
END_TEST

/* Damages every object in the cache and compiles again. */
static void damage(const char *directory, int how)
{
    DIR *d = opendir(directory);
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        struct stat s;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (stat(path, &s) || !S_ISREG(s.st_mode)) continue;
        if (how == 0) ck_assert(!truncate(path, s.st_size / 2));
        if (how == 1) ck_assert(!truncate(path, 0));
        if (how == 2) ck_assert(!chmod(path, 0666));
        if (how == 3) {
            FILE *f = fopen(path, "r+b");
            fseek(f, 3000, SEEK_SET);
            fputc(0xee, f);
            fclose(f);
        }
    }
    closedir(d);
}
START_TEST(a_damaged_cache_is_not_trusted)
{
    char directory[128];
    snprintf(directory, sizeof directory, "%s/damaged%d/deep", cache, _i);
    const host_compile_options o = {.cache_dir = directory, .optimise = 0};
    host_module *m;
    host_log log = {0};
    ck_assert_int_eq(compile(TINY, o, &m, &log), HOST_OK);
    host_module_free(m);
    strcat(directory, "/host");
    damage(directory, _i);
    *strrchr(directory, '/') = 0;
    ck_assert_int_eq(compile(TINY, o, &m, &log), HOST_OK);
    ck_assert(!host_module_cached(m));
    int *p = memory(4, "p");
    launch_ok(m, "f", (host_launch_dims){.grid = {1}, .block = {1}}, &p);
    ck_assert_int_eq(*p, 1);
    host_module_free(m);
    host_log_free(&log);
}
END_TEST

START_TEST(errors_of_the_compiler_name_lines_of_the_template)
{
    host_module *m;
    host_log log = {0};
    ck_assert_int_eq(compile("#line 40 \"templates/norm.h\"\nint f() { return nothing; }\n", (host_compile_options){.optimise = -1}, &m,
                             &log),
                     HOST_COMPILE_FAILED);
    says(&log, "templates/norm.h:40:18");
    says(&log, "nothing");
    ck_assert_int_eq(compile("#error stop\n", (host_compile_options){.name = "a \"b\\\n.hip"}, &m, &log), HOST_COMPILE_FAILED);
    says(&log, "a _b__.hip:1:2");
    host_log_free(&log);
}
END_TEST

START_TEST(a_missing_compiler_is_named_with_its_package)
{
    host_module *m;
    host_log log = {0};
    setenv("PATH", "/nowhere", 1);
    unsetenv("TFGEN_HOST_CC");
    ck_assert_int_eq(compile(TINY, (host_compile_options){0}, &m, &log), HOST_NO_COMPILER);
    says(&log, "apt-get install --no-install-recommends clang");
    setenv("TFGEN_HOST_CC", "clang-1", 1);
    ck_assert_int_eq(compile(TINY, (host_compile_options){0}, &m, &log), HOST_NO_COMPILER);
    says(&log, "clang-1 ($TFGEN_HOST_CC)");
    host_log_free(&log);
}
END_TEST

static void write_program(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", cache, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    ck_assert(!chmod(path, 0700));
}

/* A linker that finds no libraries by itself works when clang passes their folders. */
START_TEST(the_compiler_links_if_ld_finds_no_library)
{
    host_module *m;
    host_log log = {0};
    char path[4096], told[256];
    write_program("ld", "#!/bin/sh\n"
                        "case \" $*\" in *' -L'*) echo told >>${0%/*}/told; PATH=${PATH#*:} exec ld \"$@\" ;; esac\n"
                        "echo no libraries >&2\nexit 1\n");
    snprintf(path, sizeof path, "%s:%s", cache, getenv("PATH"));
    setenv("PATH", path, 1);
    ck_assert_int_eq(compile(TINY, (host_compile_options){0}, &m, &log), HOST_OK);
    ck_assert_msg(log.size == 0, "%s", log.text);
    snprintf(told, sizeof told, "%s/told", cache);
    ck_assert_int_eq(access(told, R_OK), 0);
    host_module_free(m);
    write_program("ld", "#!/bin/sh\necho no libraries >&2\nexit 1\n");
    ck_assert_int_eq(compile(TINY "\n", (host_compile_options){0}, &m, &log), HOST_COMPILE_FAILED);
    says(&log, "no libraries");
    host_log_free(&log);
}
END_TEST

START_TEST(a_compiler_that_hangs_is_stopped)
{
    char path[128];
    snprintf(path, sizeof path, "%s/slow", cache);
    write_program("slow", "#!/bin/sh\necho working\nsleep 100 & sleep 100\n");
    host_module *m;
    host_log log = {0};
    for (unsigned ms = 200; !log.text || !strstr(log.text, "working"); ms *= 2) { /* a busy machine may stop it before it says so */
        host_log_free(&log);
        log = (host_log){0};
        ck_assert_int_eq(compile(TINY, (host_compile_options){.compiler = path, .time_limit_ms = ms}, &m, &log), HOST_COMPILE_TIMEOUT);
    }
    host_log_free(&log);
}
END_TEST

START_TEST(launches_that_make_no_sense_are_refused)
{
    host_module *m = load("basics.hip");
    const int zero = 0;
    void *params[] = {(void *)&zero};
    const host_launch_dims bad[] = {
        {.grid = {0}, .block = {1}}, {.grid = {1}, .block = {0}}, {.grid = {1}, .block = {1025}}, {.grid = {1}, .block = {64, 64, 64}},
        {.grid = {1}, .block = {1}, .wave = 48}, {.grid = {1}, .block = {1}, .wave = 128}, {.grid = {65536, 65536}, .block = {1}},
        {.grid = {1}, .block = {1}, .shared_bytes = ~0u}, {.grid = {1u << 20}, .block = {1024}, .cooperative = true},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        host_log log = {0};
        ck_assert_int_eq(host_launch(engine, m, "empty", &bad[i], params, &log), HOST_BAD_CALL);
        ck_assert_uint_gt(log.size, 0);
        host_log_free(&log);
    }
    ck_assert_int_eq(host_launch(engine, m, "nothing", &(host_launch_dims){.grid = {1}, .block = {1}}, params, NULL), HOST_NO_KERNEL);
    host_module_free(m);
}
END_TEST

/* Launches with all blocks resident: as many as the engine holds run, one more is refused. */
START_TEST(a_cooperative_grid_is_limited_to_the_blocks_that_the_engine_holds)
{
    const unsigned zero = 0;
    void *params[] = {(void *)&zero};
    const struct { unsigned threads, wave, plain, checked; } sizes[] = {{512, 32, 128, 128}, {1024, 32, 64, 64}, {64, 1, 1024, 32}};
    host_module *m = load("basics.hip"), *checked = load_checked("basics.hip");
    for (int i = 0; i < 3; i++) {
        const unsigned threads = sizes[i].threads, wave = sizes[i].wave;
        ck_assert_uint_eq(host_most_resident(engine, m, threads, wave), sizes[i].plain);
        ck_assert_uint_eq(host_most_resident(engine, checked, threads, wave), sizes[i].checked);
        const host_launch_dims one_more = {.grid = {sizes[i].checked + 1}, .block = {threads}, .wave = wave, .cooperative = true};
        ck_assert_int_ne(host_launch(engine, checked, "empty", &one_more, params, NULL), HOST_OK);
    }
    ck_assert_uint_eq(host_most_resident(engine, m, 0, 32), 0);
    host_module_free(m);
    host_module_free(checked);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host engine");
    TCase *t = tcase_create("engine");
    const int shapes = sizeof geometries / sizeof *geometries;
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_add_test(t, vectors_of_any_length_are_added);
    tcase_add_loop_test(t, a_norm_is_right_in_every_geometry, 0, shapes);
    tcase_add_test(t, a_norm_is_right_with_one_thread_a_row);
    tcase_add_test(t, threads_see_their_block_and_thread_indices);
    tcase_add_loop_test(t, a_barrier_orders_accesses_before_it_and_after_it, 0, shapes);
    tcase_add_loop_test(t, a_wave_that_leaves_barriers_is_not_waited_for, 0, 2);
    tcase_add_loop_test(t, a_barrier_waits_for_polling_waves_but_not_for_ended_ones, 0, shapes);
    tcase_add_test(t, stacks_of_waves_are_as_large_as_the_kernel_declares);
    tcase_add_loop_test(t, stacks_of_waves_hold_the_largest_frame_of_the_compiler, 0, 2);
    tcase_add_test(t, an_engine_has_as_many_workers_as_the_process_has_processors);
    tcase_add_test(t, atomics_count_across_workers);
    tcase_add_loop_test(t, half_conversions_round_to_nearest_even, 0, 2);
    tcase_add_loop_test(t, products_agree_with_plain_loops, 0, sizeof products / sizeof *products);
    tcase_add_test(t, a_product_on_matrix_instructions_is_exact_for_small_numbers);
    tcase_add_loop_test(t, attention_agrees_with_two_passes, 0, 3);
    tcase_add_loop_test(t, all_blocks_wait_for_each_other, 0, 3);
    tcase_add_loop_test(t, shared_variables_belong_to_their_block, 0, 4);
    tcase_add_test(t, several_threads_launch_at_once);
    tcase_add_test(t, a_child_process_launches_and_closes);
    tcase_add_test(t, a_second_compile_comes_from_the_cache);
    tcase_add_loop_test(t, a_damaged_cache_is_not_trusted, 0, 4);
    tcase_add_test(t, errors_of_the_compiler_name_lines_of_the_template);
    tcase_add_test(t, a_missing_compiler_is_named_with_its_package);
    tcase_add_test(t, the_compiler_links_if_ld_finds_no_library);
    tcase_add_test(t, a_compiler_that_hangs_is_stopped);
    tcase_add_test(t, launches_that_make_no_sense_are_refused);
    tcase_add_test(t, a_cooperative_grid_is_limited_to_the_blocks_that_the_engine_holds);
    suite_add_tcase(s, t);
    return run_suite(s);
}
