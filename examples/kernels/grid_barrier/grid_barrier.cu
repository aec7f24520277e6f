// Steps of a one-dimensional heat equation in a single launch, with a barrier of all blocks between
// them: all blocks must be resident together.

// `goal` is how many blocks have arrived in all when this barrier opens.
__device__ void wait_for_all(volatile unsigned *arrived, unsigned goal) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd((unsigned *)arrived, 1u);
        while (*arrived < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

// `arrived` starts as zero. After an even number of steps the result is in a, else in b.
extern "C" __global__ void grid_barrier(int n, int steps, float *a, float *b, unsigned *arrived) {
    for (int step = 0; step < steps; step++) {
        float *from = step % 2 == 0 ? a : b, *to = step % 2 == 0 ? b : a;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            float left = from[max(i - 1, 0)], right = from[min(i + 1, n - 1)];
            to[i] = from[i] + 0.25f * (left - 2.0f * from[i] + right);
        }
        wait_for_all(arrived, (step + 1) * gridDim.x);
    }
}
