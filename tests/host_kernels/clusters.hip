// Kernels whose blocks access each other's shared memory in clusters of four: correct ones, and one for each mistake.
#define MEMBERS 4
struct cluster_args { int *out; int n; };

static int *shared_of(int member) { return (int *)tf_hs_cluster_shared(member); }
static void meet()
{
    tf_hs_cluster_arrive();
    tf_hs_cluster_wait();
}

// In each turn a thread reads its neighbour's number in every block of the cluster, beginning with its own block.
extern "C" __global__ void gather(const cluster_args p)
{
    TF_SHARED_DYN(int, own);
    const int rank = tf_hs_cluster_rank(), thread = (int)threadIdx.x, threads = (int)blockDim.x;
    unsigned sum = 0; // wraps around
    for (int turn = 0; turn < p.n; turn++) {
        own[thread] = (int)blockIdx.x * 10000 + thread * 10 + turn;
        meet();
        for (int i = 0; i < MEMBERS; i++) sum = sum * 3 + (unsigned)shared_of((rank + i) % MEMBERS)[(thread + 1) % threads];
        tf_hs_cluster_arrive(); // the other blocks may now write again
        sum ^= (unsigned)turn;
        tf_hs_cluster_wait();
    }
    p.out[blockIdx.x * blockDim.x + threadIdx.x] = (int)sum;
}
TF_EXPORT_CLUSTER(gather, MEMBERS)

extern "C" __global__ void hasty(const cluster_args p)
{
    TF_SHARED_DYN(int, own);
    own[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    if (p.n == 1) meet();
    const int *other = shared_of((tf_hs_cluster_rank() + 1) % MEMBERS) + p.n / 2;
    p.out[blockIdx.x * blockDim.x + threadIdx.x] = other[threadIdx.x]; // line: other
    meet();
}
TF_EXPORT_CLUSTER(hasty, MEMBERS)

extern "C" __global__ void gone(const cluster_args p)
{
    if (tf_hs_cluster_rank() != p.n) meet();
}
TF_EXPORT_CLUSTER(gone, MEMBERS)
