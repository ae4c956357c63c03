/* usage: attention_h200 compile DIR             needs NVRTC only; keeps the compiled cases in DIR
 *        attention_h200 run DIR [check|time]    needs a Hopper GPU and libcuda
 * Out: checks of attention_h200.hip against sums in double on the CPU, then times by events over rotating buffers.
 * Refuses (exit 1) any wrong element, write outside the result, API error, hang, or compiler remark about spills or serialised products. */
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <nvrtc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum layout { dense, fused, cached }; /* [B, S, H, hd]; slices of [B, S, (H + 2 KV) * hd]; keys and values [B, KV, T, hd] */

typedef struct problem {
    int B, S, T, H, KV, hd;
    bool causal;
    enum layout layout;
    int window;
    float softcap;
    bool ragged, f16;
} problem;

typedef struct tuned {
    int block_q, block_k, stages, pack;
} tuned;

typedef struct probe_args { /* as in attention_h200.hip */
    CUtensorMap q, k, v;
    CUdeviceptr o, lengths;
    int B, S, T;
} probe_args;

typedef struct tensor {
    CUdeviceptr base;
    uint16_t *host;                /* NULL when only timed */
    long long offset, head, token, batch, count; /* strides in elements */
} tensor;

typedef struct buffers {
    tensor q, k, v;
    CUdeviceptr memory[3], o, lengths;
    int *host_lengths;
    size_t o_bytes;
} buffers;

static struct driver {
#define DRIVER(F)                                                                                                                    \
    F(cuInit) F(cuDeviceGet) F(cuDeviceGetAttribute) F(cuDevicePrimaryCtxRetain) F(cuCtxSetCurrent) F(cuCtxSynchronize)              \
    F(cuMemAlloc_v2) F(cuMemFree_v2) F(cuMemsetD8_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyHtoD_v2) F(cuModuleLoadData)                      \
    F(cuModuleUnload) F(cuModuleGetFunction) F(cuFuncSetAttribute) F(cuLaunchKernel) F(cuEventCreate) F(cuEventRecord)               \
    F(cuEventSynchronize) F(cuEventElapsedTime_v2) F(cuTensorMapEncodeTiled) F(cuGetErrorString)
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

static int open_gpu(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    CUdevice device;
    CUcontext context;
    int units;
    if (!lib)
        die("libcuda.so.1", dlerror());
    void *found;
#define F(name)                                                                                                                      \
    found = dlsym(lib, #name);                                                                                                       \
    memcpy(&cu.name, &found, sizeof found);
    DRIVER(F)
#undef F
    if (!cu.cuEventElapsedTime_v2) {
        found = dlsym(lib, "cuEventElapsedTime");
        memcpy(&cu.cuEventElapsedTime_v2, &found, sizeof found);
    }
    if (!cu.cuInit || !cu.cuTensorMapEncodeTiled)
        die("libcuda.so.1", "too old");
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    return units;
}

/* ---- code */

enum { most_shared = 232448 };

static float scale_of(const problem *p) { return 1 / sqrtf(p->hd); }

static int panels(const problem *p) { return (p->hd + 63) / 64; }

static int shared_bytes(const problem *p, const tuned *t)
{
    const int fixed = 1024 + t->stages * (panels(p) * t->block_k * 128 + 16), queries = t->block_q / 64 * (panels(p) * 8192 + 16);
    return fixed + 2 * queries <= most_shared ? fixed + 2 * queries : fixed + queries;
}

static tuned default_tuning(const problem *p)
{
    tuned t = {p->hd <= 64 ? 192 : 128, p->hd <= 128 ? 128 : p->hd <= 192 ? 112 : 80, 8, 1};
    while (shared_bytes(p, &t) > most_shared)
        t.stages--;
    while (p->H / p->KV % (2 * t.pack) == 0 && t.pack < 64)
        t.pack *= 2;
    return t;
}

static void code_name(char *name, const char *folder, const problem *p, const tuned *t)
{
    sprintf(name, "%s/h%d-%d-d%d%s%s-w%d-c%g%s-q%d-k%d-s%d-p%d.cubin", folder, p->H, p->KV, p->hd, p->causal ? "-causal" : "",
            p->f16 ? "-f16" : "", p->window, p->softcap, p->ragged ? "-ragged" : "", t->block_q, t->block_k, t->stages, t->pack);
}

static char *read_file(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    if (!f)
        return NULL;
    char *text = calloc(1, 1 << 22);
    *size = fread(text, 1, (1 << 22) - 1, f);
    fclose(f);
    return text;
}

static void compile(const char *folder, const problem *p, const tuned *t)
{
    char name[512], defines[14][64];
    const char *options[32] = {"--gpu-architecture=sm_90a", "-std=c++17", "-default-device", "-I.", "--no-cache", "--ptxas-options=-v"};
    int n = 6, d = 0;
    size_t size;
    code_name(name, folder, p, t);
    if (access(name, R_OK) == 0)
        return;
    sprintf(defines[d++], "-DPROBE_TYPE=%s", p->f16 ? "f16" : "bf16");
    sprintf(defines[d++], "-DPROBE_HD=%d", p->hd);
    sprintf(defines[d++], "-DPROBE_HEADS=%d", p->H);
    sprintf(defines[d++], "-DPROBE_KV=%d", p->KV);
    sprintf(defines[d++], "-DPROBE_CAUSAL=%d", p->causal);
    sprintf(defines[d++], "-DPROBE_WINDOW=%d", p->window);
    sprintf(defines[d++], "-DPROBE_SOFTCAP=%ff", p->softcap);
    sprintf(defines[d++], "-DPROBE_SCALE=%.9ef", scale_of(p));
    sprintf(defines[d++], "-DPROBE_RAGGED=%d", p->ragged);
    sprintf(defines[d++], "-DPROBE_BLOCK_Q=%d", t->block_q);
    sprintf(defines[d++], "-DPROBE_BLOCK_K=%d", t->block_k);
    sprintf(defines[d++], "-DPROBE_SLOTS=%d", t->stages);
    sprintf(defines[d++], "-DPROBE_PACK=%d", t->pack);
    for (int i = 0; i < d; i++)
        options[n++] = defines[i];
    char *source = read_file("tests/probes/attention_h200.hip", &size);
    nvrtcProgram program;
    nvrtcCreateProgram(&program, source, "attention_h200.hip", 0, NULL, NULL);
    const nvrtcResult r = nvrtcCompileProgram(program, n, options);
    nvrtcGetProgramLogSize(program, &size);
    char *log = malloc(size + 1);
    nvrtcGetProgramLog(program, log);
    if (r || strstr(log, "(C75") || !strstr(log, " 0 bytes spill stores"))
        die(name, log);
    nvrtcGetCUBINSize(program, &size);
    char *code = malloc(size);
    nvrtcGetCUBIN(program, code);
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(code, 1, size, f) != size || fclose(f))
        die(name, "cannot be written");
    nvrtcDestroyProgram(&program);
    free(code), free(log), free(source);
}

/* ---- data */

static uint16_t half_bits(float x, bool f16)
{
    if (f16) {
        const _Float16 h = (_Float16)x;
        uint16_t bits;
        memcpy(&bits, &h, 2);
        return bits;
    }
    uint32_t u;
    memcpy(&u, &x, 4);
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

static double half_value(uint16_t bits, bool f16)
{
    if (f16) {
        _Float16 h;
        memcpy(&h, &bits, 2);
        return (double)h;
    }
    const uint32_t u = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Normal data; above a million elements it repeats with an odd period. */
static uint16_t *random_halves(long long count, uint64_t seed, bool f16)
{
    enum { period = 1048573 };
    uint16_t *data = malloc(2 * count);
    const long long fresh = count < period ? count : period;
    for (long long i = 0; i < fresh; i++) {
        const uint64_t z = next_random(&seed);
        const double u = ((uint32_t)z + 1.0) / 4294967296.0, v = (z >> 32) / 4294967296.0;
        data[i] = half_bits((float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v)), f16);
    }
    for (long long i = fresh; i < count; i++)
        data[i] = data[i - period];
    return data;
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr p;
    CU(cuMemAlloc_v2(&p, bytes + 4096));
    return p;
}

static void poison(tensor *x, const problem *p, const int *lengths)
{
    for (int b = 0; b < p->B; b++)
        for (int t = lengths[b]; t < p->T; t++)
            for (int h = 0; h < p->KV; h++)
                memset(x->host + x->offset + b * x->batch + t * x->token + h * x->head, 0xff, 2 * p->hd);
}

static buffers make_buffers(const problem *p, uint64_t seed, bool keep)
{
    const long long hd = p->hd, width = (p->H + 2 * p->KV) * hd, H = p->H, KV = p->KV, S = p->S, T = p->T, B = p->B;
    buffers b = {.o_bytes = 2ull * B * S * H * hd};
    if (p->layout == fused) { /* S == T */
        b.q = (tensor){.head = hd, .token = width, .batch = width * S, .count = width * S * B};
        b.k = b.v = b.q;
        b.k.offset = H * hd, b.v.offset = (H + KV) * hd;
    } else {
        b.q = (tensor){.head = hd, .token = H * hd, .batch = H * hd * S, .count = H * hd * S * B};
        b.k = (tensor){.head = hd, .token = KV * hd, .batch = KV * hd * T, .count = KV * hd * T * B};
        if (p->layout == cached)
            b.k.head = T * hd, b.k.token = hd;
        b.v = b.k;
    }
    tensor *all[3] = {&b.q, &b.k, &b.v};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && p->layout == fused)
            all[i]->host = b.q.host, all[i]->base = b.q.base;
        else {
            all[i]->host = random_halves(all[i]->count, seed + i, p->f16);
            b.memory[i] = all[i]->base = allocate(2 * all[i]->count);
        }
    }
    b.host_lengths = calloc(B, sizeof(int));
    b.lengths = allocate(4 * B);
    for (int i = 0; i < B; i++)
        b.host_lengths[i] = p->ragged ? (i == 1 ? 0 : (int)((i * 37 + 5) * 41 % (T + 1))) : (int)T;
    if (p->ragged) {
        poison(&b.k, p, b.host_lengths);
        poison(&b.v, p, b.host_lengths);
    }
    CU(cuMemcpyHtoD_v2(b.lengths, b.host_lengths, 4 * B));
    for (int i = 0; i < 3; i++)
        if (b.memory[i])
            CU(cuMemcpyHtoD_v2(b.memory[i], all[i]->host, 2 * all[i]->count));
    if (!keep)
        for (int i = 0; i < 3; i++) {
            if (b.memory[i])
                free(all[i]->host);
            all[i]->host = NULL;
        }
    b.o = allocate(b.o_bytes);
    return b;
}

static void free_buffers(buffers *b)
{
    tensor *all[3] = {&b->q, &b->k, &b->v};
    for (int i = 0; i < 3; i++)
        if (b->memory[i]) {
            CU(cuMemFree_v2(b->memory[i]));
            free(all[i]->host);
        }
    CU(cuMemFree_v2(b->o));
    CU(cuMemFree_v2(b->lengths));
    free(b->host_lengths);
}

/* Boxes of 64 columns x `heads` x `tokens`. */
static CUtensorMap map(const problem *p, const tensor *x, int head_count, int token_count, int heads, int tokens)
{
    CUtensorMap m;
    const cuuint64_t dims[4] = {p->hd, head_count, token_count, p->B}, strides[3] = {2 * x->head, 2 * x->token, 2 * x->batch};
    const cuuint32_t boxes[4] = {64, heads, tokens, 1}, steps[4] = {1, 1, 1, 1};
    CU(cuTensorMapEncodeTiled(&m, p->f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4,
                              (void *)(x->base + 2 * x->offset), dims, strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                              CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return m;
}

typedef struct job {
    CUmodule module;
    CUfunction f;
    int grid, block, shared;
    probe_args args;
} job;

static job make_job(const char *folder, const problem *p, const tuned *t, const buffers *b, CUmodule module, int units)
{
    job j;
    memset(&j, 0, sizeof j);
    char name[512];
    size_t size;
    code_name(name, folder, p, t);
    j.module = module;
    if (!module) {
        char *code = read_file(name, &size);
        if (!code)
            die(name, "not compiled");
        CU(cuModuleLoadData(&j.module, code));
        free(code);
    }
    CU(cuModuleGetFunction(&j.f, j.module, "probe"));
    j.shared = shared_bytes(p, t), j.block = 128 + 2 * t->block_q;
    CU(cuFuncSetAttribute(j.f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, j.shared));
    const int tokens = 64 / t->pack, tiles = (p->S + tokens - 1) / tokens * (p->H / t->pack) * p->B;
    j.grid = tiles < units ? tiles : units;
    j.args = (probe_args){.q = map(p, &b->q, p->H, p->S, t->pack, 64 / t->pack),
                          .k = map(p, &b->k, p->KV, p->T, 1, t->block_k),
                          .v = map(p, &b->v, p->KV, p->T, 1, t->block_k),
                          .o = b->o, .lengths = b->lengths, .B = p->B, .S = p->S, .T = p->T};
    return j;
}

static void run(const job *j)
{
    void *list[] = {(void *)&j->args};
    CU(cuLaunchKernel(j->f, j->grid, 1, 1, j->block, 1, 1, j->shared, NULL, list, NULL));
}

/* ---- checks */

/* One row in double: y[hd], size[hd] = sum of weight times |value|. Returns the largest |score| error in units of 2^-24. */
static double reference_row(const problem *p, const buffers *b, int batch, int token, int head, double *y, double *size)
{
    const int group = head / (p->H / p->KV), position = token + p->T - p->S, keys = b->host_lengths[batch];
    const uint16_t *q = b->q.host + b->q.offset + batch * b->q.batch + token * b->q.token + head * b->q.head;
    double *w = malloc(sizeof(double) * (p->T + 1)), most = -INFINITY, sum = 0, slack = 0;
    for (int t = 0; t < p->T; t++) {
        w[t] = -INFINITY;
        if (t >= keys || (p->causal && t > position) || (p->window && t <= position - p->window))
            continue;
        const uint16_t *k = b->k.host + b->k.offset + batch * b->k.batch + t * b->k.token + group * b->k.head;
        double dot = 0, magnitude = 0;
        for (int d = 0; d < p->hd; d++) {
            const double x = half_value(q[d], p->f16) * half_value(k[d], p->f16);
            dot += x, magnitude += fabs(x);
        }
        const double s = dot * scale_of(p);
        w[t] = p->softcap ? p->softcap * tanh(s / p->softcap) : s;
        const double off = 2 * sqrt(p->hd) * magnitude * scale_of(p) + 4 * fabs(s) + (p->softcap ? 16 * p->softcap : 0) + 8;
        slack = off > slack ? off : slack;
        most = w[t] > most ? w[t] : most;
    }
    memset(y, 0, sizeof(double) * p->hd);
    memset(size, 0, sizeof(double) * p->hd);
    for (int t = 0; t < p->T; t++)
        sum += w[t] = w[t] == -INFINITY ? 0 : exp(w[t] - most);
    for (int t = 0; t < p->T; t++) {
        const uint16_t *v = b->v.host + b->v.offset + batch * b->v.batch + t * b->v.token + group * b->v.head;
        if (w[t] > 0)
            for (int d = 0; d < p->hd; d++) {
                const double x = w[t] / sum * half_value(v[d], p->f16);
                y[d] += x, size[d] += fabs(x);
            }
    }
    free(w);
    return slack;
}

static bool check_problem(const char *folder, const problem *p, const tuned *t, int units)
{
    buffers b = make_buffers(p, 7, true);
    const job j = make_job(folder, p, t, &b, NULL, units);
    const long long rows = (long long)p->B * p->S * p->H, work = rows * p->T * p->hd;
    const long long step = work > 100000000 ? rows / (100000000 / ((long long)p->T * p->hd)) | 1 : 1;
    uint16_t *got = malloc(b.o_bytes + 4096), *again = malloc(b.o_bytes + 4096);
    for (int r = 0; r < 3; r++) {
        CU(cuMemsetD8_v2(b.o, 0xff, b.o_bytes + 4096));
        run(&j);
        CU(cuCtxSynchronize());
        CU(cuMemcpyDtoH_v2(r ? again : got, b.o, b.o_bytes + 4096));
    }
    const bool moves = memcmp(got, again, b.o_bytes + 4096) != 0;
    long long wrong = 0, first = -1;
    double worst = 0, squares[2] = {0, 0}, y[256], size[256];
    for (int i = 0; i < 2048; i++)
        wrong += got[b.o_bytes / 2 + i] != 0xffff;
    const double u = p->f16 ? 0x1p-11 : 0x1p-8;
    for (long long row = 0; row < rows; row += row + step < rows || row == rows - 1 ? step : rows - 1 - row) {
        const int head = row % p->H, token = row / p->H % p->S, batch = row / p->H / p->S;
        const double slack = reference_row(p, &b, batch, token, head, y, size);
        for (int d = 0; d < p->hd; d++) {
            const double value = half_value(got[row * p->hd + d], p->f16), error = fabs(value - y[d]);
            const double bound =
                1.01 * u * (fabs(y[d]) + size[d]) + 2 * slack * 0x1p-24 * size[d] + 1e-7 * size[d] + (p->f16 ? 6e-8 : 1e-38);
            if (!(error <= bound)) {
                wrong++;
                if (first < 0)
                    first = row * p->hd + d;
            }
            worst = !(error / (bound + 1e-300) <= worst) ? error / (bound + 1e-300) : worst;
            squares[0] += (value - y[d]) * (value - y[d]), squares[1] += y[d] * y[d];
        }
    }
    printf("B%d S%d T%d H%d/%d d%d%s%s%s w%d cap%g %s  q%d k%d stages %d pack %d: error/bound %.3f rms %.2e %s%s", p->B, p->S, p->T, p->H,
           p->KV, p->hd, p->causal ? " causal" : "", p->f16 ? " f16" : "", p->ragged ? " ragged" : "", p->window, p->softcap,
           p->layout == dense ? "dense" : p->layout == fused ? "fused" : "cached", t->block_q, t->block_k, t->stages, t->pack, worst,
           sqrt(squares[0] / (squares[1] + 1e-300)), wrong ? "WRONG" : "ok", moves ? " MOVES" : "");
    if (wrong)
        printf(" (%lld wrong, first at batch %lld token %lld head %lld column %lld)", wrong, first / p->hd / p->H / p->S,
               first / p->hd / p->H % p->S, first / p->hd % p->H, first % p->hd);
    printf("\n");
    fflush(stdout);
    free(got), free(again);
    CU(cuModuleUnload(j.module));
    free_buffers(&b);
    return !wrong && !moves;
}

/* ---- times */

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

enum { most_tries = 8, most_sets = 6, rounds = 15 };

static void time_problem(const char *folder, const problem *p, const tuned *tries, int count, int units)
{
    const double flop = 4.0 * p->B * p->H * (double)p->S * p->T * p->hd * (p->causal ? 0.5 : 1);
    const double bytes = 2.0 * p->B * p->hd * (2.0 * p->H * p->S + 2.0 * p->KV * p->T);
    int sets = (int)(200e6 / bytes) + 2, per = (int)(4e-3 / (flop / 550e12)) + 2;
    sets = sets > most_sets ? most_sets : sets;
    per = per > 60 ? 60 : per;
    buffers b[most_sets];
    job jobs[most_tries][most_sets];
    float times[most_tries][rounds];
    for (int i = 0; i < sets; i++)
        b[i] = make_buffers(p, 100 + 10 * i, false);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < sets; i++)
            jobs[c][i] = make_job(folder, p, &tries[c], &b[i], i ? jobs[c][0].module : NULL, units);
    CUevent start, stop;
    CU(cuEventCreate(&start, 0));
    CU(cuEventCreate(&stop, 0));
    for (int r = -1; r < rounds; r++)
        for (int c = 0; c < count; c++) {
            for (int i = -2; i < per; i++) {
                if (i == 0)
                    CU(cuEventRecord(start, NULL));
                run(&jobs[c][(i + 2) % sets]);
            }
            CU(cuEventRecord(stop, NULL));
            CU(cuEventSynchronize(stop));
            float ms;
            CU(cuEventElapsedTime_v2(&ms, start, stop));
            if (r >= 0)
                times[c][r] = ms * 1e3f / per;
        }
    for (int c = 0; c < count; c++) {
        qsort(times[c], rounds, sizeof(float), ascending);
        const float median = times[c][rounds / 2];
        printf("B%d S%d H%d/%d d%d%s  q%d k%d stages %d pack %d  %8.1f us (%.1f to %.1f)  %6.1f TFLOP/s\n", p->B, p->S, p->H, p->KV, p->hd,
               p->causal ? " causal" : "", tries[c].block_q, tries[c].block_k, tries[c].stages, tries[c].pack, median,
               times[c][rounds / 10], times[c][rounds - 1 - rounds / 10], flop / median * 1e-6);
        CU(cuModuleUnload(jobs[c][0].module));
    }
    fflush(stdout);
    for (int i = 0; i < sets; i++)
        free_buffers(&b[i]);
}

/* B, S, T, H, KV, hd, causal, layout, window, softcap, ragged, f16 */
static const problem checks[] = {
    {1, 1, 1, 1, 1, 64, true, dense, 0, 0, false, false},        {2, 64, 64, 2, 2, 64, false, dense, 0, 0, false, false},
    {2, 127, 127, 4, 2, 64, true, fused, 0, 0, false, false},    {2, 193, 193, 8, 2, 64, true, fused, 0, 0, false, true},
    {1, 521, 521, 6, 2, 64, true, dense, 0, 0, false, false},    {2, 129, 300, 4, 4, 64, true, cached, 0, 0, false, false},
    {2, 300, 301, 4, 4, 128, false, dense, 0, 0, false, false},  {2, 300, 300, 8, 2, 128, true, fused, 0, 0, false, false},
    {1, 257, 257, 16, 4, 128, true, dense, 0, 0, false, true},   {3, 130, 200, 4, 2, 128, false, dense, 0, 0, true, false},
    {3, 200, 200, 4, 2, 64, true, fused, 0, 0, true, false},     {2, 400, 400, 4, 2, 64, true, dense, 100, 0, false, false},
    {2, 400, 400, 4, 2, 128, true, dense, 37, 30, false, false}, {1, 300, 300, 2, 1, 32, true, dense, 0, 0, false, false},
    {1, 300, 300, 2, 2, 80, true, dense, 0, 0, false, false},    {1, 200, 200, 2, 2, 96, false, fused, 0, 0, false, false},
    {1, 300, 300, 2, 1, 192, true, dense, 0, 0, false, false},   {1, 300, 300, 2, 1, 256, true, fused, 0, 0, false, true},
    {2, 97, 97, 4, 4, 256, false, dense, 0, 0, true, false},     {1, 70, 70, 3, 1, 48, true, dense, 0, 0, false, false},
    {3, 1100, 1100, 6, 2, 64, true, fused, 0, 0, false, false},  {40, 200, 200, 8, 8, 64, true, dense, 0, 0, true, false},
    {2, 2000, 2000, 16, 16, 64, false, dense, 0, 0, true, false}, {1, 2048, 2048, 32, 8, 64, true, dense, 0, 0, false, false},
    {2, 8100, 8100, 16, 16, 128, true, dense, 0, 0, false, false}, {5, 330, 330, 8, 4, 128, true, dense, 0, 0, true, false},
};

static const struct timed_case {
    problem p;
    tuned tries[most_tries];
} timed[] = {
    {{4, 512, 512, 32, 32, 64, true, dense, 0, 0, false, false},
     {{192, 128, 8, 1}, {128, 128, 8, 1}, {192, 64, 16, 1}, {128, 64, 16, 1}, {192, 128, 6, 1}}},
    {{8, 128, 128, 8, 8, 64, true, dense, 0, 0, false, false}, {{192, 128, 8, 1}, {192, 64, 16, 1}}},
    {{16, 512, 512, 16, 8, 64, true, dense, 0, 0, false, false}, {{192, 128, 8, 2}, {192, 128, 8, 1}, {192, 64, 16, 2}}},
    {{1, 2048, 2048, 32, 8, 64, true, dense, 0, 0, false, false}, {{192, 128, 8, 4}, {128, 128, 8, 4}, {128, 192, 6, 4}}},
    {{1, 4096, 4096, 32, 8, 128, true, dense, 0, 0, false, false},
     {{128, 128, 6, 4}, {128, 128, 6, 1}, {128, 128, 5, 4}, {128, 176, 4, 4}}},
    {{2, 8192, 8192, 16, 16, 128, true, dense, 0, 0, false, false}, {{128, 128, 6, 1}, {128, 128, 5, 1}, {128, 176, 4, 1}}},
    {{2, 8192, 8192, 16, 16, 128, false, dense, 0, 0, false, false}, {{128, 128, 6, 1}, {128, 128, 5, 1}, {128, 176, 4, 1}}},
    {{2, 8192, 8192, 16, 16, 64, false, dense, 0, 0, false, false}, {{192, 128, 8, 1}, {128, 192, 6, 1}, {128, 128, 6, 1}}},
};

enum { variants = 2 };

/* 0: the default; 1: few stages, so that short sequences are streams. */
static tuned variant(const problem *p, int v)
{
    tuned t = default_tuning(p);
    if (v) t.stages = 4, t.block_k = t.block_k == 128 ? 64 : t.block_k;
    return t;
}

static int try_count(const struct timed_case *t)
{
    int n = 0;
    while (n < most_tries && t->tries[n].block_q)
        n++;
    return n;
}

/* Each row in a child: one that dies or hangs is reported and the next go on. */
static int guarded(int row, const char *folder, bool time)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        alarm(time ? 40 : 15);
        const int units = open_gpu();
        if (time) {
            time_problem(folder, &timed[row].p, timed[row].tries, try_count(&timed[row]), units);
            exit(0);
        }
        bool right = true;
        for (int v = 0; v < variants; v++) {
            const tuned t = variant(&checks[row], v);
            right &= check_problem(folder, &checks[row], &t, units);
        }
        exit(!right);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) || (status && time))
        printf("%s %d DIED (%s)\n", time ? "time" : "check", row, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "error above");
    fflush(stdout);
    return status != 0;
}

int main(int argc, char **argv)
{
    const int check_count = sizeof checks / sizeof *checks, timed_count = sizeof timed / sizeof *timed;
    const char *folder = argc > 2 ? argv[2] : ".", *what = argc > 3 ? argv[3] : "";
    int failures = 0;
    if (argc > 1 && !strcmp(argv[1], "compile")) {
        for (int i = 0; i < check_count; i++) {
            for (int v = 0; v < variants; v++) {
                const tuned t = variant(&checks[i], v);
                compile(folder, &checks[i], &t);
            }
        }
        for (int i = 0; i < timed_count; i++)
            for (int c = 0; c < try_count(&timed[i]); c++)
                compile(folder, &timed[i].p, &timed[i].tries[c]);
        return 0;
    }
    for (int i = 0; i < check_count && strcmp(what, "time"); i++)
        failures += guarded(i, folder, false);
    for (int i = 0; i < timed_count && strcmp(what, "check"); i++)
        failures += guarded(i, folder, true);
    printf("%d failures\n", failures);
    return failures != 0;
}
