/* One small kernel whose facts are known by hand: 24 bytes of arguments, 1024 of shared memory, 256 threads. Every
 * compiler takes it. */
#ifndef TFGEN_TINY_KERNEL_H
#define TFGEN_TINY_KERNEL_H

#define TINY_PREFIX                                                                                                    \
    "// Written by tfgen: tiny of specs/tiny.yaml for tests, wave 32. Try an edited one with run --replace-source.\n"                 \
    "#if !defined(__HIPCC_RTC__) && !defined(__CUDACC_RTC__)\n"                                                        \
    "#define __global__ __attribute__((global))\n"                                                                     \
    "#define __device__ __attribute__((device))\n"                                                                     \
    "#define __shared__ __attribute__((shared))\n"                                                                     \
    "#endif\n"                                                                                                         \
    "#ifdef __CUDACC_RTC__\n"                                                                                          \
    "#define THREADS(n) __launch_bounds__(n)\n"                                                                        \
    "#define TID threadIdx.x\n"                                                                                        \
    "#define BARRIER() __syncthreads()\n"                                                                              \
    "#else\n"                                                                                                          \
    "#define THREADS(n) __attribute__((amdgpu_flat_work_group_size(1, n)))\n"                                          \
    "#define TID __builtin_amdgcn_workitem_id_x()\n"                                                                   \
    "#define BARRIER() __builtin_amdgcn_s_barrier()\n"                                                                 \
    "#endif\n"

#define TINY_KERNEL                                                                                                    \
    "#line 10 \"tiny.hip\"\n"                                                                                          \
    "struct phase { struct args { const float *x; float *y; int n; }; };\n"                                            \
    "extern \"C\" __global__ void THREADS(256) tiny(const phase::args p)\n"                                            \
    "{\n"                                                                                                              \
    "    __shared__ float t[256];\n"                                                                                   \
    "    int i = TID;\n"                                                                                               \
    "    t[i] = p.x[i]; // !26:5\n"                                                                                    \
    "    BARRIER();\n"                                                                                                 \
    "    if (i < p.n) p.y[i] = t[255 - i];\n"                                                                          \
    "}\n"

/* A private array indexed at run time: it cannot live in registers. */
#define SCRATCH_KERNEL                                                                                                 \
    "extern \"C\" __global__ void THREADS(256) scratch(float *x, const int *at)\n"                                     \
    "{\n"                                                                                                              \
    "    float v[256];\n"                                                                                              \
    "    int t = TID;\n"                                                                                               \
    "    for (int i = 0; i < 256; ++i) v[i] = x[i * 1024 + t];\n"                                                      \
    "    float s = 0;\n"                                                                                               \
    "    for (int i = 0; i < 64; ++i) s += v[at[i] & 255];\n"                                                          \
    "    x[t] = s;\n"                                                                                                  \
    "}\n"
#endif
