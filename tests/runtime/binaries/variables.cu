// nvcc -fatbin -gencode arch=compute_80,code=[sm_80,compute_80] -o variables.fatbin variables.cu
//
// Kernels that share variables. `roots` alone has an instruction (MUFU) that tests refuse.

__device__ int counter = 5;
__device__ int steps[2];
__constant__ float scale[2] = {2.0f, 3.0f};

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int thrice(int x) { return 3 * x; }
__device__ int (*functions[2])(int) = {twice, thrice};

extern "C" __global__ void count(int by) {
    atomicAdd(&counter, by);
    steps[threadIdx.x & 1] = by;
}

extern "C" __global__ void roots(float *out) {
    out[threadIdx.x] = sqrtf((float)counter) * scale[threadIdx.x & 1] + steps[1];
}

extern "C" __global__ void call(int *out) {
    out[threadIdx.x] = functions[threadIdx.x & 1](counter);
}
