// Written by tfgen: access of planted.yaml for tests/host/test_recorder.c, which counts these accesses that are known in closed form.
struct access_args { const float *a; float *b; int n, stride; }; // This file is hand-written: line 1 imitates an emitted one.
extern "C" __global__ void copies(const access_args p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) p.b[i] = p.a[i];
}
TF_EXPORT(copies)

extern "C" __global__ void strides(const access_args p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    p.b[i] = p.a[i * p.stride]; // line: strides
}
TF_EXPORT(strides)

// Each thread sums a row of 16 floats.
extern "C" __global__ void walks(const access_args p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += p.a[i * 16 + k];
    p.b[i] = sum;
}
TF_EXPORT(walks)

// 16 bytes a lane.
struct four { float x[4]; };
extern "C" __global__ void vectors(const access_args p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tf_hs_write_whole((four *)p.b + i, tf_hs_read_whole((const four *)p.a + i));
}
TF_EXPORT(vectors)

// A tile of 32 x 32 is written along its rows and read along its columns; stride: floats from one row of the tile to the next (pitch).
extern "C" __global__ void transposed(const access_args p)
{
    TF_SHARED_DYN(float, tile);
    for (int row = 0; row < 32; row++) tile[row * p.stride + threadIdx.x] = p.a[row * 32 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int column = 0; column < 32; column++) sum += tile[threadIdx.x * p.stride + column];
    p.b[threadIdx.x] = sum;
}
TF_EXPORT(transposed)

// Twice: lanes run a loop of 1 to 4 iterations, reconverge at a barrier and load together; then one more load of all lanes.
extern "C" __global__ void ragged(const access_args p)
{
    float sum = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i <= (int)threadIdx.x % 4; i++) sum += p.a[(turn * 4 + i) * 64 + threadIdx.x];
        __syncthreads();
        sum += p.a[turn * 64 + threadIdx.x];
    }
    p.b[threadIdx.x] = sum + p.a[threadIdx.x];
}
TF_EXPORT(ragged)

// Every workgroup reads the same n floats, twice.
extern "C" __global__ void again(const access_args p)
{
    float sum = 0;
    for (int turn = 0; turn < 2; turn++)
        for (int i = threadIdx.x; i < p.n; i += blockDim.x) sum += p.a[i];
    p.b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
TF_EXPORT(again)

// The recorder leaves out accesses by the engine's code that emulates an instruction; it records those of the instruction.
extern "C" __global__ void stands_in(const access_args p)
{
    float x[4];
    {
        tf_hs_stands_in();
        tf_hs_says(p.a + threadIdx.x * 4, 16, HS_CHECK_READ);
        for (int i = 0; i < 4; i++) x[i] = p.a[threadIdx.x * 4 + i];
    }
    if (threadIdx.x == 0) tf_hs_says(p.a, 4 * p.n, HS_CHECK_READ | HS_CHECK_BULK);
    p.b[threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}
TF_EXPORT(stands_in)

// A kernel with planted faults; comments say which place of the spec each line is from, as in emitted kernels.
struct planted {
    template <class T> static inline __attribute__((always_inline)) T read(const access_args &p, int i)
    {
        return p.a[i * 8]; // !7:5
    }
};
#line 11 "templates/rows/planted.h"
template <class S> static inline __attribute__((always_inline)) void run_planted(const access_args &p)
{
    TF_SHARED_DYN(float, memory);
    const int t = threadIdx.x;
    const float x = S::template read<float>(p, t);
    memory[t * 8] = x;
    __syncthreads();
    p.b[t] = memory[(31 - t) * 8];
}
#line 103 "access.hip"
extern "C" __global__ void planted_kernel(const access_args p) { run_planted<planted>(p); }
TF_EXPORT(planted_kernel)
