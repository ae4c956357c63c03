/* In: nothing but a Hopper GPU, libcuda, NVRTC, cuBLAS; arguments choose rows of the tables by number (checks, then times).
 * PROBE_OPTION: one more option for NVRTC. Out: checks of product_h200.hip against sums in double, then times beside cuBLAS in the
 * same run. Refuses (exit 1) any wrong element, API error, hang, or compiler remark about spills or serialised products. */
#define _GNU_SOURCE
#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <nvrtc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { kind_plain, kind_pair, kind_residual, kind_two };
static const char *const kind_names[] = {"plain", "pair", "residual", "two-phase"};

typedef struct shape {
    int m, n, k, f; /* f: the middle of two phases */
    enum kind kind;
} shape;

typedef struct tuned {
    bool staged;
    int group;
} tuned;

/* Layouts of the spec structs in product_h200.hip. */
typedef struct product_args {
    CUtensorMap a, b;
    CUdeviceptr x, w, y, residual, scale, sums;
    int m;
} product_args;
typedef struct two_args {
    product_args p0, p1;
    CUdeviceptr words;
} two_args;

typedef struct gpu {
    CUcontext context;
    CUmodule helpers;
    CUfunction fill, reference;
    cublasHandle_t blas;
    int units, failures;
} gpu;

typedef struct buffers {
    CUdeviceptr x, w, w1, h, y, residual, scale, sums, words;
    size_t y_bytes;
} buffers;

static struct driver {
#define DRIVER(F)                                                                                                                    \
    F(cuInit) F(cuDeviceGet) F(cuDeviceGetAttribute) F(cuDeviceGetName) F(cuDevicePrimaryCtxRetain) F(cuCtxSetCurrent)               \
    F(cuCtxSynchronize) F(cuMemAlloc_v2) F(cuMemFree_v2) F(cuMemsetD8_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyHtoD_v2)                      \
    F(cuModuleLoadData) F(cuModuleUnload) F(cuModuleGetFunction) F(cuFuncSetAttribute) F(cuLaunchKernel) F(cuEventCreate)            \
    F(cuEventRecord) F(cuEventSynchronize) F(cuEventElapsedTime_v2) F(cuTensorMapEncodeTiled) F(cuGetErrorString)
#define F(name) __typeof__(&name) name;
    DRIVER(F)
#undef F
} cu;

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(CUresult r, const char *what)
{
    const char *why = "unknown";
    if (r == CUDA_SUCCESS)
        return;
    cu.cuGetErrorString(r, &why);
    die(what, why);
}
#define CU(call) check(cu.call, #call)

static void open_driver(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib)
        die("libcuda.so.1", dlerror());
#define F(name) *(void **)&cu.name = dlsym(lib, #name);
    DRIVER(F)
#undef F
    if (!cu.cuEventElapsedTime_v2)
        *(void **)&cu.cuEventElapsedTime_v2 = dlsym(lib, "cuEventElapsedTime");
    if (!cu.cuInit || !cu.cuTensorMapEncodeTiled)
        die("libcuda.so.1", "too old");
}

static char *read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    if (!f)
        die(name, "cannot be read");
    char *text = calloc(1, 1 << 20);
    if (fread(text, 1, (1 << 20) - 1, f) == 0)
        die(name, "is empty");
    fclose(f);
    return text;
}

static CUmodule compile(const shape *s, const tuned *t)
{
    char defines[6][64];
    const char *options[16] = {"--gpu-architecture=sm_90a", "-std=c++17", "-default-device", "-I.", "--no-cache", "--ptxas-options=-v"};
    int n = 6; /* without --no-cache a second compilation has no log */
    snprintf(defines[0], 64, "-DPROBE_N=%d", s->n);
    snprintf(defines[1], 64, "-DPROBE_K=%d", s->k);
    snprintf(defines[2], 64, "-DPROBE_F=%d", s->f ? s->f : 1);
    snprintf(defines[3], 64, "-DPROBE_KIND=%d", s->kind);
    snprintf(defines[4], 64, "-DPROBE_STAGED=%s", t->staged ? "true" : "false");
    snprintf(defines[5], 64, "-DPROBE_GROUP=%d", t->group);
    for (int i = 0; i < 6; i++)
        options[n++] = defines[i];
    if (getenv("PROBE_OPTION"))
        options[n++] = getenv("PROBE_OPTION");
    char *source = read_file("tests/probes/product_h200.hip");
    nvrtcProgram p;
    nvrtcCreateProgram(&p, source, "product_h200.hip", 0, NULL, NULL);
    const nvrtcResult r = nvrtcCompileProgram(p, n, options);
    size_t size;
    nvrtcGetProgramLogSize(p, &size);
    char *log = malloc(size + 1);
    nvrtcGetProgramLog(p, log);
    const char *part = strstr(log, "'probe'");
    if (r || strstr(log, "(C75") || !part || !strstr(part, " 0 bytes spill stores"))
        die("compile", log);
    nvrtcGetCUBINSize(p, &size);
    char *code = malloc(size);
    nvrtcGetCUBIN(p, code);
    CUmodule module;
    CU(cuModuleLoadData(&module, code));
    nvrtcDestroyProgram(&p);
    free(code), free(log), free(source);
    return module;
}

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr p;
    CU(cuMemAlloc_v2(&p, bytes + 4096));
    return p;
}

static void launch(CUfunction f, int grid, int block, int shared, void *args)
{
    CU(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, NULL, args, NULL));
}

/* Normal data of [rows, columns] in rows of `stride`, zero in the padding up to padded_rows. */
static CUdeviceptr random_matrix(gpu *g, int rows, int padded_rows, int columns, int stride, unsigned seed, float deviation)
{
    long long count = (long long)padded_rows * stride;
    CUdeviceptr p = allocate(2 * count);
    launch(g->fill, 1024, 256, 0, (void *[]){&p, &rows, &columns, &stride, &count, &seed, &deviation});
    return p;
}

/* Boxes of 64 bf16 (128 bytes) x `box` rows. A matrix whose rows are no multiple of 16 bytes has no map; none is then used. */
static CUtensorMap map_rows(CUdeviceptr p, long long rows, long long columns, long long stride, int box)
{
    CUtensorMap m = {0};
    const cuuint64_t dims[2] = {columns, rows}, strides[1] = {2 * stride};
    const cuuint32_t boxes[2] = {64, box}, steps[2] = {1, 1};
    if (stride % 8 == 0)
        CU(cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)p, dims, strides, boxes, steps,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return m;
}

static product_args make_args(CUdeviceptr x, CUdeviceptr w, CUdeviceptr y, int m, int n, int k)
{
    return (product_args){.a = map_rows(x, m, k, k, 128),
                          .b = map_rows(w, round_up(n, 16), round_up(k, 16), round_up(k, 16), 256),
                          .x = x, .w = w, .y = y, .m = m};
}

typedef struct job {
    CUfunction f;
    int grid, shared;
    union {
        product_args one;
        two_args two;
    } args;
} job;

static int tiles(int m, int n) { return (m + 127) / 128 * ((n + 255) / 256); }
static int weights_n(const shape *s)
{
    return s->kind == kind_pair ? 2 * round_up(s->n, 8) : s->kind == kind_two ? s->f : s->n;
}

static buffers make_buffers(gpu *g, const shape *s, unsigned seed)
{
    const int n0 = weights_n(s), pk = round_up(s->k, 16), n_parts = (s->n + 255) / 256;
    buffers b = {0};
    b.x = random_matrix(g, s->m, s->m, s->k, s->k, seed, 1);
    b.w = random_matrix(g, n0, round_up(n0, 16), s->k, pk, seed + 1, 1 / sqrtf(s->k));
    b.y_bytes = 2ull * s->m * s->n;
    b.y = allocate(b.y_bytes);
    if (s->kind == kind_two) {
        b.h = allocate(2ull * s->m * s->f);
        b.w1 = random_matrix(g, s->n, round_up(s->n, 16), s->f, round_up(s->f, 16), seed + 2, 1 / sqrtf(s->f));
        b.words = allocate(4096);
        CU(cuMemsetD8_v2(b.words, 0, 4096));
    }
    if (s->kind == kind_residual) {
        b.residual = random_matrix(g, s->m, s->m, s->n, s->n, seed + 3, 1);
        b.scale = allocate(4ull * s->m);
        b.sums = allocate(4ull * s->m * n_parts);
        float *scale = malloc(4ull * s->m);
        for (int i = 0; i < s->m; i++)
            scale[i] = 0.5f + 0.001f * (i % 1000);
        CU(cuMemcpyHtoD_v2(b.scale, scale, 4ull * s->m));
        free(scale);
    }
    return b;
}

static void free_buffers(const buffers *b)
{
    const CUdeviceptr all[] = {b->x, b->w, b->w1, b->h, b->y, b->residual, b->scale, b->sums, b->words};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            CU(cuMemFree_v2(all[i]));
}

static job make_job(const gpu *g, const shape *s, const tuned *t, CUmodule module, const buffers *b)
{
    job j;
    memset(&j, 0, sizeof j);
    CU(cuModuleGetFunction(&j.f, module, "probe"));
    j.shared = 1024 + 4 * 49152 + (t->staged ? 32768 : 0) + 64;
    CU(cuFuncSetAttribute(j.f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, j.shared));
    int n = tiles(s->m, weights_n(s));
    if (s->kind == kind_two) {
        j.args.two = (two_args){make_args(b->x, b->w, b->h, s->m, s->f, s->k), make_args(b->h, b->w1, b->y, s->m, s->n, s->f), b->words};
        n += tiles(s->m, s->n);
    } else {
        j.args.one = make_args(b->x, b->w, b->y, s->m, weights_n(s), s->k);
        j.args.one.residual = b->residual, j.args.one.scale = b->scale, j.args.one.sums = b->sums;
    }
    j.grid = n < g->units ? n : g->units;
    return j;
}

static void run(const job *j) { launch(j->f, j->grid, 384, j->shared, (void *[]){(void *)&j->args}); }

/* ---- checks */

static float bf16_value(unsigned short h)
{
    const unsigned u = (unsigned)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* Rows and columns to look at: all of a small result; else corners, both sides of the last tile's edges, and a random sample. */
static int choose(int m, int n, int (**where)[2])
{
    const long long all = (long long)m * n;
    const int count = all <= 1 << 20 ? (int)all : 16384;
    *where = malloc(sizeof(int[2]) * count);
    const int rows[] = {0, m - 1, m / 128 * 128 - 1, m / 128 * 128 % m, 127, 128}, columns[] = {0, n - 1, n / 256 * 256 - 1, n / 256 * 256 % n, 7, 8};
    for (int i = 0; i < count; i++) {
        (*where)[i][0] = count == all ? i / n : i < 36 ? rows[i / 6] : rand() % m;
        (*where)[i][1] = count == all ? i % n : i < 36 ? columns[i % 6] : rand() % n;
    }
    return count;
}

/* out[i] = {sum, magnitude} of row where[i][0] of x times row column(where[i][1]) of w. */
static double (*dots(gpu *g, CUdeviceptr x, int x_stride, CUdeviceptr w, int w_stride, int k, int (*where)[2], int count))[2]
{
    double(*out)[2] = malloc(sizeof(double[2]) * count);
    CUdeviceptr at = allocate(8ull * count), result = allocate(16ull * count);
    CU(cuMemcpyHtoD_v2(at, where, 8ull * count));
    launch(g->reference, (count + 7) / 8, 256, 0, (void *[]){&x, &x_stride, &w, &w_stride, &k, &at, &count, &result});
    CU(cuMemcpyDtoH_v2(out, result, 16ull * count));
    CU(cuMemFree_v2(at));
    CU(cuMemFree_v2(result));
    return out;
}

typedef struct verdict {
    double worst, rms; /* largest error over its bound; RMS error over RMS value */
    int wrong;
} verdict;

static void judge(verdict *v, double got, double want, double size, int k, double *squares)
{
    /* bf16 has 8 significant bits: rounding is off by at most 2^-8 of the value */
    const double bound = fabs(want) * 0x1.01p-8 + 2 * sqrt(k) * 0x1p-24 * size + 1e-30, error = fabs(got - want);
    v->wrong += !(error <= bound);
    if (!(error / bound <= v->worst))
        v->worst = error / bound;
    squares[0] += error * error;
    squares[1] += want * want;
}

/* One product y = x * transposed(w) with the kind's epilogue, on the device's own x. */
static verdict check_product(gpu *g, const shape *s, const buffers *b, CUdeviceptr x, CUdeviceptr w, CUdeviceptr y, int n, int k)
{
    int(*where)[2], count = choose(s->m, n, &where), pk = round_up(k, 16);
    verdict v = {0};
    double squares[2] = {0}, (*up)[2] = NULL;
    unsigned short *got = malloc(2ull * s->m * n), *residual = NULL;
    CU(cuMemcpyDtoH_v2(got, y, 2ull * s->m * n));
    if (s->kind == kind_residual) {
        residual = malloc(2ull * s->m * n);
        CU(cuMemcpyDtoH_v2(residual, b->residual, 2ull * s->m * n));
    }
    int(*at)[2] = malloc(sizeof(int[2]) * count);
    for (int i = 0, c; i < count; i++) {
        at[i][0] = where[i][0], c = where[i][1];
        at[i][1] = s->kind == kind_pair ? c / 8 * 16 + c % 8 : c;
    }
    double(*sum)[2] = dots(g, x, k, w, pk, k, at, count);
    if (s->kind == kind_pair) {
        for (int i = 0; i < count; i++)
            at[i][1] += 8;
        up = dots(g, x, k, w, pk, k, at, count);
    }
    for (int i = 0; i < count; i++) {
        const size_t e = (size_t)where[i][0] * n + where[i][1];
        double want = sum[i][0], size = sum[i][1];
        if (s->kind == kind_pair) { /* slope of silu is at most 1.1; __expf is good to 2 ulp + 1 of its argument */
            const double gate = want / (1 + exp(-want));
            size = 1.1 * size * fabs(up[i][0]) + fabs(gate) * up[i][1] + 16 * fabs(gate * up[i][0]);
            want = gate * up[i][0];
        } else if (s->kind == kind_residual) {
            const double scale = (double)(0.5f + 0.001f * (where[i][0] % 1000)), r = bf16_value(residual[e]);
            want = want * scale + r, size = size * scale + fabs(r);
        }
        judge(&v, bf16_value(got[e]), want, size, k, squares);
    }
    v.rms = sqrt(squares[0] / (squares[1] + 1e-300));
    free(got), free(residual), free(at), free(sum), free(up), free(where);
    return v;
}

/* Partial sums of squares against the stored result: within the result's own rounding. */
static int check_sums(const shape *s, const buffers *b)
{
    const int parts = (s->n + 255) / 256;
    unsigned short *y = malloc(b->y_bytes);
    float *sums = malloc(4ull * s->m * parts);
    CU(cuMemcpyDtoH_v2(y, b->y, b->y_bytes));
    CU(cuMemcpyDtoH_v2(sums, b->sums, 4ull * s->m * parts));
    int wrong = 0;
    for (int row = 0; row < s->m; row++)
        for (int t = 0; t < parts; t++) {
            double want = 0;
            for (int c = t * 256; c < s->n && c < (t + 1) * 256; c++)
                want += pow(bf16_value(y[(size_t)row * s->n + c]), 2);
            wrong += !(fabs(sums[row * parts + t] - want) <= want / 100);
        }
    free(y), free(sums);
    return wrong;
}

static bool guard_kept(CUdeviceptr p, size_t bytes)
{
    unsigned char tail[4096];
    CU(cuMemcpyDtoH_v2(tail, p + bytes, sizeof tail));
    for (size_t i = 0; i < sizeof tail; i++)
        if (tail[i] != 0xff)
            return false;
    return true;
}

static void check_shape(gpu *g, const shape *s, const tuned *t)
{
    CUmodule module = compile(s, t);
    const buffers b = make_buffers(g, s, 7);
    const job j = make_job(g, s, t, module, &b);
    verdict v = {0}, v0 = {0};
    int wrong = 0, runs = s->kind == kind_two ? 20 : 2;
    for (int r = 0; r < runs; r++) {
        CU(cuMemsetD8_v2(b.y, 0xff, b.y_bytes + 4096)); /* NaN */
        if (b.h)
            CU(cuMemsetD8_v2(b.h, 0xff, 2ull * s->m * s->f + 4096));
        if (b.sums)
            CU(cuMemsetD8_v2(b.sums, 0xff, 4ull * s->m * ((s->n + 255) / 256)));
        run(&j);
        CU(cuCtxSynchronize());
        if (r != 0 && r != runs - 1)
            continue;
        if (s->kind == kind_two) {
            v0 = check_product(g, s, &b, b.x, b.w, b.h, s->f, s->k);
            v = check_product(g, s, &b, b.h, b.w1, b.y, s->n, s->f);
            unsigned hang;
            CU(cuMemcpyDtoH_v2(&hang, b.words + 4, 4));
            wrong += hang != 0;
        } else {
            v = check_product(g, s, &b, b.x, b.w, b.y, s->n, s->k);
        }
        wrong += v.wrong + v0.wrong + !guard_kept(b.y, b.y_bytes) + (b.sums ? check_sums(s, &b) : 0);
    }
    printf("%-10s %-9s %6dx%dx%d%s%d  error/bound %.3f  rms %.2e  %s\n", kind_names[s->kind], t->staged ? "staged" : "direct", s->m,
           s->n, s->k, s->f ? " middle " : " ", s->f, v.worst > v0.worst ? v.worst : v0.worst, v.rms, wrong ? "WRONG" : "ok");
    fflush(stdout);
    g->failures += wrong != 0;
    free_buffers(&b);
    CU(cuModuleUnload(module));
}

/* ---- times */

static void blas_product(gpu *g, CUdeviceptr x, CUdeviceptr w, CUdeviceptr y, int m, int n, int k)
{
    const float one = 1, zero = 0;
    const cublasStatus_t r =
        cublasGemmEx(g->blas, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, (void *)w, CUDA_R_16BF, round_up(k, 16), (void *)x, CUDA_R_16BF,
                     k, &zero, (void *)y, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (r != CUBLAS_STATUS_SUCCESS)
        die("cublasGemmEx", cublasGetStatusString(r));
}

static void blas_shape(gpu *g, const shape *s, const buffers *b, CUdeviceptr wide)
{
    if (s->kind == kind_two) {
        blas_product(g, b->x, b->w, b->h, s->m, s->f, s->k);
        blas_product(g, b->h, b->w1, b->y, s->m, s->n, s->f);
    } else {
        blas_product(g, b->x, b->w, s->kind == kind_pair ? wide : b->y, s->m, weights_n(s), s->k);
    }
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

enum { candidates = 4, most_sets = 8, rounds = 21 };

static void time_shape(gpu *g, const shape *s)
{
    static const tuned tries[candidates] = {{true, 16}, {true, 8}, {false, 16}, {false, 0}};
    const double flop = 2.0 * s->m * ((double)weights_n(s) * s->k + (s->kind == kind_two ? (double)s->n * s->f : 0));
    const double bytes = 2.0 * (s->m * (double)s->k + (double)weights_n(s) * s->k + (double)s->m * s->n);
    int sets = (int)(400e6 / bytes) + 2, per = (int)(4e-3 / (flop / 650e12)) + 2;
    sets = sets > most_sets ? most_sets : sets;
    per = per > 50 ? 50 : per;
    buffers b[most_sets];
    CUmodule modules[candidates];
    job jobs[candidates - 1][most_sets];
    float times[candidates][rounds];
    for (int i = 0; i < sets; i++)
        b[i] = make_buffers(g, s, 100 + 10 * i);
    CUdeviceptr wide = s->kind == kind_pair ? allocate(2ull * s->m * weights_n(s)) : 0;
    for (int c = 0; c < candidates - 1; c++) {
        modules[c] = compile(s, &tries[c]);
        for (int i = 0; i < sets; i++)
            jobs[c][i] = make_job(g, s, &tries[c], modules[c], &b[i]);
    }
    CUevent start, stop;
    CU(cuEventCreate(&start, 0));
    CU(cuEventCreate(&stop, 0));
    for (int r = -1; r < rounds; r++) /* candidates take turns, so that power and clocks are shared alike */
        for (int c = 0; c < candidates; c++) {
            for (int i = -2; i < per; i++) {
                if (i == 0)
                    CU(cuEventRecord(start, NULL));
                const int set = (i + 2) % sets;
                if (c == candidates - 1)
                    blas_shape(g, s, &b[set], wide);
                else
                    run(&jobs[c][set]);
            }
            CU(cuEventRecord(stop, NULL));
            CU(cuEventSynchronize(stop));
            float ms;
            CU(cuEventElapsedTime_v2(&ms, start, stop));
            if (r >= 0)
                times[c][r] = ms * 1e3f / per;
        }
    for (int c = 0; c < candidates; c++)
        qsort(times[c], rounds, sizeof(float), ascending);
    const float peer = times[candidates - 1][rounds / 2];
    for (int c = 0; c < candidates; c++) {
        const float median = times[c][rounds / 2];
        char name[64];
        snprintf(name, sizeof name, "%s group %d", tries[c].staged ? "staged" : "direct", tries[c].group);
        printf("%-9s %5dx%dx%d%s%d bf16  %-16s %9.1f us  (%.1f to %.1f)  %6.1f TFLOP/s  %.3f of cuBLAS\n", kind_names[s->kind], s->m,
               s->n, s->k, s->f ? " middle " : " ", s->f, c == candidates - 1 ? "cuBLAS" : name, median, times[c][rounds / 10],
               times[c][rounds - 1 - rounds / 10], flop / median * 1e-6, peer / median);
    }
    fflush(stdout);
    for (int c = 0; c < candidates - 1; c++)
        CU(cuModuleUnload(modules[c]));
    for (int i = 0; i < sets; i++)
        free_buffers(&b[i]);
    if (wide)
        CU(cuMemFree_v2(wide));
}

static const shape checks[] = {
    {1, 1, 1, 0, kind_plain},           {7, 13, 5, 0, kind_plain},           {127, 257, 67, 0, kind_plain},
    {129, 257, 64, 0, kind_plain},      {131, 263, 1031, 0, kind_plain},     {333, 500, 1366, 0, kind_plain},
    {1000, 776, 512, 0, kind_plain},    {300, 1004, 252, 0, kind_plain},     {2048, 2048, 5468, 0, kind_plain},
    {2048, 5468, 2048, 0, kind_plain},  {4096, 14336, 4096, 0, kind_plain},  {8192, 8192, 8192, 0, kind_plain},
    {131, 101, 72, 0, kind_pair},       {2048, 5468, 2048, 0, kind_pair},    {131, 263, 136, 0, kind_residual},
    {2048, 2048, 5468, 0, kind_residual}, {129, 257, 65, 261, kind_two},     {1000, 520, 256, 1024, kind_two},
    {2048, 2048, 2048, 5468, kind_two}, {2048, 2048, 2048, 8192, kind_two},
};
static const shape timed[] = {
    {8192, 8192, 8192, 0, kind_plain},   {4096, 14336, 4096, 0, kind_plain},    {2048, 8192, 2048, 0, kind_plain},
    {2048, 5468, 2048, 0, kind_plain},   {2048, 2048, 5468, 0, kind_plain},     {2048, 8192, 2048, 0, kind_pair},
    {2048, 2048, 8192, 0, kind_residual}, {2048, 2048, 2048, 8192, kind_two},
};

static gpu open_gpu(void)
{
    gpu g = {0};
    CUdevice device;
    char name[128];
    open_driver();
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceGetName(name, sizeof name, device));
    CU(cuDeviceGetAttribute(&g.units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CU(cuDevicePrimaryCtxRetain(&g.context, device));
    CU(cuCtxSetCurrent(g.context));
    if (cublasCreate(&g.blas) != CUBLAS_STATUS_SUCCESS)
        die("cublasCreate", "failed");
    g.helpers = compile(&(shape){128, 256, 64, 0, kind_plain}, &(tuned){true, 8});
    CU(cuModuleGetFunction(&g.fill, g.helpers, "fill"));
    CU(cuModuleGetFunction(&g.reference, g.helpers, "reference"));
    printf("%s, %d multiprocessors\n", name, g.units);
    return g;
}

/* Rows run in a child: one that dies or hangs is reported and the next go on in a new one. */
static int run_rows(int *row, int last, int *failures)
{
    const int n_checks = sizeof checks / sizeof *checks, n_rows = n_checks + sizeof timed / sizeof *timed;
    gpu g = open_gpu();
    for (; *row <= last && *row < n_rows; ++*row) {
        alarm(120);
        if (*row < n_checks) {
            for (int staged = 1; staged >= 0; staged--)
                check_shape(&g, &checks[*row], &(tuned){staged, 16});
        } else {
            time_shape(&g, &timed[*row - n_checks]);
        }
        *failures += g.failures;
        g.failures = 0;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *row = shared, *failures = shared + 1;
    const int last = argc > 2 ? atoi(argv[2]) : 1000;
    *row = argc > 1 ? atoi(argv[1]) : 0;
    const int n_rows = sizeof checks / sizeof *checks + sizeof timed / sizeof *timed;
    for (int status = 1; status != 0 && *row < n_rows;) {
        const pid_t child = fork();
        if (child == 0)
            exit(run_rows(row, last, failures));
        waitpid(child, &status, 0);
        if (status) {
            printf("row %d DIED (%s)\n", *row, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "error above");
            fflush(stdout);
            ++*row, ++*failures;
        }
    }
    printf("%d failures\n", *failures);
    return *failures != 0;
}
