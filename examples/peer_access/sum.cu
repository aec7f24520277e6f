// A kernel of GPU 0 that reads an array where it lies: in its own memory, or in that of another GPU.
//
//   nvcc -arch=sm_80 -o sum examples/peer_access/sum.cu
//   lockstep run --system DGX_A100 --gpus 2 ./sum 1 4

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}
#define CHECK(call) check(call, #call)

__global__ void sum(const float4 *values, float *sums, int count) {
    int threads = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0;
    for (int i = first; i < count; i += threads) {
        float4 v = values[i];
        total += v.x + v.y + v.z + v.w;
    }
    sums[first] = total;
}

int main(int argc, char **argv) {
    int owner = argc > 1 ? std::atoi(argv[1]) : 1;
    int megabytes = argc > 2 ? std::atoi(argv[2]) : 4;
    int count = megabytes << 16, blocks = 320, threads = 256; // count: of float4
    std::vector<float> ones((size_t)count * 4, 1.0f), found((size_t)blocks * threads);
    float *values, *sums;
    CHECK(cudaSetDevice(owner));
    CHECK(cudaMalloc(&values, ones.size() * sizeof(float)));
    CHECK(cudaMemcpy(values, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaSetDevice(0));
    if (owner != 0)
        CHECK(cudaDeviceEnablePeerAccess(owner, 0));
    CHECK(cudaMalloc(&sums, found.size() * sizeof(float)));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    sum<<<blocks, threads>>>((float4 *)values, sums, count);
    CHECK(cudaEventRecord(end));
    CHECK(cudaMemcpy(found.data(), sums, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
    float total = 0, milliseconds;
    for (float each : found)
        total += each;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("GPU 0 sums %d MiB of GPU %d: %.0f of %d, %.1f us, %.1f GB/s\n", megabytes, owner,
                total, count * 4, 1000 * milliseconds, (megabytes << 20) / milliseconds * 1e-6);
    return 0;
}
