// Histogram with many bins: each block of a cluster has a part of them in its shared memory, and the
// other blocks count there, too.

#define BINS 8192

__device__ unsigned rank_of_block() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ unsigned blocks_of_cluster() {
    unsigned blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

// All threads of the cluster meet.
__device__ void meet() {
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

// The place of something in the shared memory of this block, in that of another one.
__device__ unsigned *in_block(unsigned *here, unsigned rank) {
    unsigned *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(here), "r"(rank));
    return there;
}

// Blocks need BINS / (blocks of a cluster) words of dynamic shared memory.
extern "C" __global__ void histogram_cluster(int n, const unsigned short *__restrict__ keys,
                                             unsigned *__restrict__ bins) {
    extern __shared__ unsigned own[];
    unsigned part = BINS / blocks_of_cluster();
    for (unsigned bin = threadIdx.x; bin < part; bin += blockDim.x) {
        own[bin] = 0;
    }
    meet();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(in_block(own, keys[i] / part) + keys[i] % part, 1u);
    }
    meet();
    for (unsigned bin = threadIdx.x; bin < part; bin += blockDim.x) {
        if (own[bin] > 0) {
            atomicAdd(&bins[rank_of_block() * part + bin], own[bin]);
        }
    }
}
