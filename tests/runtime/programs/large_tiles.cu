// Tiles of several warps talk through shared memory that CUDA reserves for itself, beside the kernel's.

#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void sums(const int *in, int *out) {
    __shared__ int own[32];
    extern __shared__ int more[];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<64>(block);
    int t = block.thread_rank();
    more[t] = -t;
    if (t < 32)
        own[t] = t;
    out[t] = cg::reduce(tile, in[t], cg::plus<int>()) + 10000 * (int)tile.meta_group_rank();
    block.sync();
    if (more[t] != -t || (t < 32 && own[t] != t))
        out[t] = -1;
}

// It has no shared memory of its own.
__global__ void sums_alone(const int *in, int *out) {
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int t = threadIdx.x;
    out[t] = cg::reduce(tile, in[t], cg::plus<int>()) + 10000 * (int)tile.meta_group_rank();
}

static void check(const int *in, const int *out, int n) {
    CK(cudaDeviceSynchronize());
    for (int first = 0; first < n; first += 64) {
        int sum = 0;
        for (int i = first; i < first + 64; i++)
            sum += in[i];
        for (int i = first; i < first + 64; i++)
            OK(out[i] == sum + 10000 * (first / 64));
    }
}

int main() {
    const int n = 256;
    int *in, *out;
    CK(cudaMallocManaged(&in, n * 4));
    CK(cudaMallocManaged(&out, n * 4));
    for (int i = 0; i < n; i++)
        in[i] = i * 3 % 101;
    sums<<<1, n, n * 4>>>(in, out);
    check(in, out, n);
    CK(cudaMemset(out, 0, n * 4));
    sums_alone<<<1, n>>>(in, out);
    check(in, out, n);
    return finish();
}
