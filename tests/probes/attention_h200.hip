// In: PROBE_... macros (attention_h200.c has the list). Out: one kernel, `probe`, of the warp-specialised attention with a spec struct as
// the generator writes it.
#define TF_WAVE 32
#define TF_TRACED(...) // untraced sources have no tracing statements (templates/frame/trace.h)
#include "templates/base/device.h"
#include "templates/base/ops.h"
#include "templates/isa/simt.h"
#include "templates/base/sums.h"
#include "templates/isa/nvidia.h"
#include "templates/isa/wgmma.h"
#include "templates/isa/wgmma_wide.h"
#include "templates/frame/frame.h"
#include "templates/frame/frame_ws.h"
#include "templates/attention/attention_ws.h"

struct attention_spec {
    using type = PROBE_TYPE;
    struct args {
        tensor_map q, k, v;
        type *o;
        const int *lengths;
        int B, S, T;
    };
    static constexpr int head_dim = PROBE_HD, heads = PROBE_HEADS, kv_heads = PROBE_KV, block_q = PROBE_BLOCK_Q, block_k = PROBE_BLOCK_K;
    static constexpr int pack_gqa = PROBE_PACK, stages = PROBE_SLOTS, window = PROBE_WINDOW, threads = 128 + 2 * block_q;
    static constexpr bool causal = PROBE_CAUSAL, ragged = PROBE_RAGGED;
    static constexpr float softcap = PROBE_SOFTCAP, scale = PROBE_SCALE;
    DEV static const tensor_map &q_map(const args &p) { return p.q; }
    DEV static const tensor_map &k_map(const args &p) { return p.k; }
    DEV static const tensor_map &v_map(const args &p) { return p.v; }
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch) { return ragged ? p.lengths[batch] : p.T; }
    DEV static int most_keys(const args &p) { return p.T; }
    DEV static int position(const args &p, int, int token) { return token + p.T - p.S; }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int, vec<float, V> o)
    {
        store_aligned<V>(p.o + ((batch * p.S + token) * static_cast<long long>(heads) + head) * head_dim + col, o);
    }
};
TF_KERNEL_ATTENTION_WS(probe, attention_spec)
