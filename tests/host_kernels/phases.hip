// A kernel that completes each kind of emulated barrier a given number of times, then waits at two barriers of the block at once. The test
// puts the templates' texts before this one.
struct phases_args {
    int n;
};
struct phases_shared {
    unsigned long long reserved[128]; // group_barrier's
    bulk_arrival bulk;
    unsigned long long barrier;
    alignas(16) unsigned long long bytes[4];
};

extern "C" __global__ void phases(const phases_args p)
{
    TF_SHARED_STRUCT(phases_shared, s);
    static const unsigned long long source[4] = {1, 2, 3, 4};
    const shared_address barrier = shared_at(&s.barrier);
    const int threads = static_cast<int>(blockDim.x);
    if (thread_index() == 0) {
        barrier_init_done();
        barrier_init(barrier, threads);
        s.bulk.clear();
    }
    __syncthreads();
    for (int i = 0; i < p.n; i++) group_barrier(1, threads);
    for (int i = 0; i < p.n; i++) {
        barrier_arrive_if(barrier, true);
        barrier_wait(barrier, i % 2);
    }
    for (int i = 0; i < p.n && thread_index() == 0; i++) group_arrive(2, 1);
    for (int i = 0; i < p.n && thread_index() == 0; i++) {
        bulk_copy(s.bytes, source, sizeof source, s.bulk);
        s.bulk.wait(i % 2);
    }
    if (thread_index() & 1)
        __syncthreads();
    else {
        s.bytes[0] = 0;
        __syncthreads();
    }
}
TF_EXPORT(phases)
