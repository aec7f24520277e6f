// Histogram of bytes: atomics on a block's own bins in shared memory, then on the global ones.

#define BINS 256

extern "C" __global__ void histogram_shared(int n, const unsigned char *__restrict__ data,
                                            unsigned *__restrict__ bins) {
    __shared__ unsigned own[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        own[bin] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[data[i]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        if (own[bin] > 0) {
            atomicAdd(&bins[bin], own[bin]);
        }
    }
}
