// What a compiler makes of common code: loads of several variables at once, past the last of them, and
// loops that poll without saying so.

#include "check.h"

__device__ __align__(16) int last[3] = {8, 9, 10};

__global__ void read_three(int *out) {
    out[threadIdx.x] = last[0] + last[1] * 10 + last[2] * 100;
}

__global__ void share_three(int *out) {
    __shared__ __align__(16) int shared[3];
    if (threadIdx.x < 3) {
        shared[threadIdx.x] = threadIdx.x + 8;
    }
    __syncthreads();
    out[threadIdx.x] = shared[0] + shared[1] * 10 + shared[2] * 100;
}

// Each thread of a warp waits for the next one.
__global__ void chain(int *out) {
    __shared__ volatile int ready[32], value[32];
    int t = threadIdx.x;
    ready[t] = 0;
    __syncthreads();
    if (t == 31) {
        value[t] = 1;
    } else {
        while (!ready[t + 1]) {
        }
        __threadfence_block();
        value[t] = value[t + 1] + t;
    }
    __threadfence_block();
    ready[t] = 1;
    out[t] = value[t];
}

// The same through global memory, by loads that are not volatile between fences.
__global__ void fenced_chain(int *ready, int *value) {
    int t = threadIdx.x;
    while (ready[t + 1] == 0) {
        __threadfence();
    }
    __threadfence();
    value[t] = value[t + 1] + t;
    __threadfence();
    ready[t] = 1;
}

// Two warps hand a turn to each other.
__global__ void turns(int *out, int rounds) {
    __shared__ volatile int turn;
    turn = 0;
    __syncthreads();
    int warp = threadIdx.x / 32, sum = 0;
    if (threadIdx.x % 32 == 0) {
        for (int k = 0; k < rounds; k++) {
            while (turn != 2 * k + warp) {
            }
            sum += turn;
            __threadfence_block();
            turn = 2 * k + warp + 1;
        }
        out[warp] = sum;
    }
}

int main() {
    int *p;
    CK(cudaMallocManaged(&p, 4096));
    read_three<<<1, 32>>>(p);
    CK(cudaDeviceSynchronize());
    OK(p[31] == 1098);
    share_three<<<1, 32>>>(p);
    CK(cudaDeviceSynchronize());
    OK(p[31] == 1098);
    chain<<<1, 32>>>(p);
    CK(cudaDeviceSynchronize());
    for (int t = 31, expected = 1; t >= 0; t--) {
        expected += t < 31 ? t : 0;
        OK(p[t] == expected);
    }
    memset(p, 0, 4096);
    p[32] = p[64 + 32] = 1;
    fenced_chain<<<1, 32>>>(p, p + 64);
    CK(cudaDeviceSynchronize());
    for (int t = 31, expected = 1; t >= 0; t--) {
        expected += t;
        OK(p[64 + t] == expected);
    }
    int rounds = 100;
    turns<<<1, 64>>>(p, rounds);
    CK(cudaDeviceSynchronize());
    OK(p[0] == rounds * (rounds - 1) && p[1] == rounds * rounds);
    return finish();
}
