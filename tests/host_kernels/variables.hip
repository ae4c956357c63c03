// __shared__ variables, of which each block has its own, as on a GPU. Grid: a grid barrier is passed while they hold data.
template <bool Grid> static __device__ __forceinline__ void use_variables(int *out)
{
    __shared__ int first[64];
    __shared__ __attribute__((aligned(1024))) char second[64];
    const int t = threadIdx.x;
    first[t] = blockIdx.x * 1000;
    second[t] = (char)t;
    if (Grid) tf_grid_sync();
    else __syncthreads();
    out[blockIdx.x * 64 + t] = first[63 - t] + second[63 - t];
}
extern "C" __global__ void variables(int *out) { use_variables<true>(out); }
TF_EXPORT(variables)
extern "C" __global__ void variables_in_turn(int *out) { use_variables<false>(out); }
TF_EXPORT(variables_in_turn)
