// Clusters: histograms, reductions and a ring over the shared memory of several blocks; occupancy,
// attributes and launches that are refused.

#include "check.h"
#include <cooperative_groups.h>
#include <cstdint>
#include <vector>
namespace cg = cooperative_groups;

const int BINS = 512;

// Each block of a cluster has a part of the bins.
__global__ void histogram(const int *values, int n, int *bins) {
    extern __shared__ int mine[];
    cg::cluster_group cluster = cg::this_cluster();
    int part = BINS / cluster.num_blocks();
    for (int k = threadIdx.x; k < part; k += blockDim.x)
        mine[k] = 0;
    cluster.sync();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        int *theirs = cluster.map_shared_rank(mine, values[k] / part);
        atomicAdd(theirs + values[k] % part, 1);
    }
    cluster.sync();
    for (int k = threadIdx.x; k < part; k += blockDim.x)
        atomicAdd(bins + cluster.block_rank() * part + k, mine[k]);
}

__global__ void __cluster_dims__(4, 1, 1) reduce(const float *values, float *sums) {
    __shared__ float part[32], whole;
    cg::cluster_group cluster = cg::this_cluster();
    float x = values[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step; step /= 2)
        x += __shfl_down_sync(~0u, x, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        x = 0;
        for (int k = 0; k < blockDim.x / 32; k++)
            x += part[k];
        whole = x;
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        x = 0;
        for (int rank = 0; rank < 4; rank++)
            x += *cluster.map_shared_rank(&whole, rank);
        sums[blockIdx.x / 4] = x;
    }
    cluster.sync();
}

__device__ uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

// A value goes around the blocks of a cluster: each waits for its barrier, adds, tells the next one.
__global__ void ring(int *out, int rounds) {
    __shared__ int slot;
    __shared__ uint64_t barrier;
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t next, next_barrier, to = (cluster.block_rank() + 1) % cluster.num_blocks();
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(next) : "r"(shared_address(&slot)), "r"(to));
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(next_barrier) : "r"(shared_address(&barrier)), "r"(to));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;"
                     ::"r"(shared_address(&barrier)));
    }
    cluster.sync();
    int value = 0;
    for (int round = 0; round < rounds && threadIdx.x == 0; round++) {
        if (cluster.block_rank() != 0 || round != 0) {
            asm volatile("{ .reg .pred %p;\n"
                         "again: mbarrier.try_wait.parity.shared::cta.b64 %p, [%0], %1;\n"
                         "@!%p bra again; }"
                         ::"r"(shared_address(&barrier)), "r"((round - (cluster.block_rank() == 0)) & 1)
                         : "memory");
            value = *(volatile int *)&slot;
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;"
                         ::"r"(shared_address(&barrier)));
        }
        value += 1 + cluster.block_rank();
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                     ::"r"(next), "r"(value), "r"(next_barrier) : "memory");
    }
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = value;
}

__global__ void sizes(int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        out[blockIdx.x] = 100 * cluster.num_blocks() + cluster.block_rank();
}

template <class... Parameters, class... Arguments>
cudaError_t launch(int cluster, int grid, int block, int shared, void (*kernel)(Parameters...),
                   Arguments... arguments) {
    cudaLaunchConfig_t how = {};
    how.gridDim = grid;
    how.blockDim = block;
    how.dynamicSmemBytes = shared;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    how.attrs = attribute;
    how.numAttrs = cluster > 0;
    return cudaLaunchKernelEx(&how, kernel, arguments...);
}

int main() {
    int has = 0;
    CK(cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, 0));
    OK(has == 1);
    const int n = 10000;
    std::vector<int> values(n), counts(BINS), expected(BINS);
    for (int k = 0; k < n; k++)
        expected[values[k] = (k * 7919 + k / 13) % BINS]++;
    int *in, *out;
    CK(cudaMalloc(&in, n * sizeof(int)));
    CK(cudaMalloc(&out, BINS * sizeof(int)));
    CK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    for (int cluster = 1; cluster <= 8; cluster *= 2) {
        CK(cudaMemset(out, 0, BINS * sizeof(int)));
        CK(launch(cluster, 16, 128, BINS / cluster * sizeof(int), histogram, in, n, out));
        CK(cudaMemcpy(counts.data(), out, BINS * sizeof(int), cudaMemcpyDeviceToHost));
        OK(counts == expected);
    }

    std::vector<float> numbers(8 * 256), sums(2);
    for (int k = 0; k < 8 * 256; k++)
        numbers[k] = k % 17 + (k >= 1024);
    float *data, *result;
    CK(cudaMalloc(&data, numbers.size() * sizeof(float)));
    CK(cudaMalloc(&result, 2 * sizeof(float)));
    CK(cudaMemcpy(data, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice));
    reduce<<<8, 256>>>(data, result);
    CK(cudaMemcpy(sums.data(), result, 2 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int part = 0; part < 2; part++) {
        float sum = 0;
        for (int k = 0; k < 1024; k++)
            sum += numbers[part * 1024 + k];
        OK(sums[part] == sum);
    }
    cudaFuncAttributes about;
    CK(cudaFuncGetAttributes(&about, reduce));
    OK(about.clusterDimMustBeSet == 1 && about.requiredClusterWidth == 4);
    OK(about.requiredClusterHeight == 1 && about.requiredClusterDepth == 1);
    IS(launch(2, 8, 256, 0, reduce, (const float *)data, result), cudaErrorInvalidClusterSize);
    cudaGetLastError();

    CK(launch(4, 8, 64, 0, ring, out, 3));
    CK(cudaMemcpy(counts.data(), out, 8 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int block = 0; block < 8; block++) {
        int rank = block % 4;
        OK(counts[block] == 20 + (rank + 1) * (rank + 2) / 2);
    }

    IS(launch(3, 8, 64, 0, sizes, out), cudaErrorInvalidClusterSize);
    cudaGetLastError();
    IS(launch(16, 16, 64, 0, sizes, out), cudaErrorInvalidClusterSize);
    cudaGetLastError();
    CK(cudaFuncSetAttribute(sizes, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CK(launch(16, 16, 64, 0, sizes, out));
    CK(cudaMemcpy(counts.data(), out, 16 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int block = 0; block < 16; block++)
        OK(counts[block] == 1600 + block);
    CK(cudaFuncGetAttributes(&about, sizes));
    OK(about.nonPortableClusterSizeAllowed == 1 && about.clusterDimMustBeSet == 0);

    cudaLaunchConfig_t how = {};
    how.gridDim = 64;
    how.blockDim = 1024;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    how.attrs = attribute;
    how.numAttrs = 1;
    int clusters, largest;
    CK(cudaOccupancyMaxActiveClusters(&clusters, sizes, &how));
    OK(clusters == 57); // seven in each of seven GPCs of 14 SMs, eight in one of 16, two blocks on an SM
    CK(cudaOccupancyMaxPotentialClusterSize(&largest, sizes, &how));
    OK(largest == 16);
    CK(cudaOccupancyMaxPotentialClusterSize(&largest, ring, &how));
    OK(largest == 8);
    return finish();
}
