// Causal attention with online softmax; TEAM threads share a query and reduce by shuffles.
template <int TEAM> struct attention {
    static constexpr int D = 64, keys = 16;
    struct args { const float *q, *k, *v; float *o; int n; };
    struct shared { float k[keys][D], v[keys][D]; };
    static __forceinline__ void run(const args &p)
    {
        TF_SHARED_STRUCT(shared, sh);
        constexpr int part = D / TEAM;
        const int t = threadIdx.x, rows = blockDim.x / TEAM, row = blockIdx.x * rows + t / TEAM, d0 = t % TEAM * part;
        const size_t head = (size_t)blockIdx.y * p.n * D;
        float q[part], o[part] = {}, m = -__builtin_inff(), l = 0;
        for (int d = 0; d < part; d++) q[d] = p.q[head + row * D + d0 + d] * 0.125f;
        const int last = blockIdx.x * rows + rows;
        for (int k0 = 0; k0 < last; k0 += keys) {
            for (int e = t; e < keys * D; e += blockDim.x) {
                sh.k[e / D][e % D] = k0 + e / D < p.n ? p.k[head + (k0 + e / D) * D + e % D] : 0;
                sh.v[e / D][e % D] = k0 + e / D < p.n ? p.v[head + (k0 + e / D) * D + e % D] : 0;
            }
            __syncthreads();
            for (int j = 0; j < keys; j++) {
                float s = 0;
                for (int d = 0; d < part; d++) s += q[d] * sh.k[j][d0 + d];
                if constexpr (TEAM > 1) s = tf_hs_wave_sum(s, TEAM);
                if (k0 + j > row) continue;
                const float higher = fmaxf(m, s), scale = expf(m - higher), e = expf(s - higher);
                m = higher, l = l * scale + e;
                for (int d = 0; d < part; d++) o[d] = o[d] * scale + e * sh.v[j][d0 + d];
            }
            __syncthreads();
        }
        for (int d = 0; d < part; d++) p.o[head + row * D + d0 + d] = o[d] / l;
    }
};
extern "C" __global__ void attention_gpu(const attention<8>::args p) { attention<8>::run(p); }
TF_EXPORT(attention_gpu)
extern "C" __global__ void attention_cpu(const attention<1>::args p) { attention<1>::run(p); }
TF_EXPORT(attention_cpu)
