// Kernels that kernels of another file launch.

#include "launched.cuh"

__global__ void weigh(int *out, Block block, short offset) {
    extern __shared__ int shared[];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = block.values[threadIdx.x % 5];
    __syncthreads();
    out[i] = block.sign * (int)(block.factor * shared[blockDim.x - 1 - threadIdx.x]) + offset;
}

__global__ void append(int *word, int digit) {
    *word = *word * 10 + digit;
}
