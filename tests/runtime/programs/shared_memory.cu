// Shared memory of one block: as much as the GPU has, and what is said of it. Argument: the largest
// amount, what the system keeps of it, and what an SM has, in bytes.

#include "check.h"

__global__ void dynamic(int *o) {
    extern __shared__ int s[];
    s[threadIdx.x * 500] = o[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = s[(31 - threadIdx.x) * 500];
}

__global__ void fixed(unsigned *o) {
    __shared__ unsigned s[100];
    extern __shared__ int after[];
    unsigned all, asked;
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(all));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(asked));
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        o[0] = all, o[1] = asked, o[2] = s[31];
        o[3] = (unsigned)((char *)after - (char *)s);
    }
}

int main(int, char **argv) {
    const int most = atoi(argv[1]), reserved = atoi(argv[2]), all = atoi(argv[3]);
    cudaDeviceProp p;
    CK(cudaGetDeviceProperties(&p, 0));
    OK((int)p.sharedMemPerBlockOptin == most && (int)p.reservedSharedMemPerBlock == reserved);
    OK(p.sharedMemPerBlock == 48 << 10 && (int)p.sharedMemPerMultiprocessor == all);
    cudaFuncAttributes a;
    CK(cudaFuncGetAttributes(&a, dynamic));
    OK(a.sharedSizeBytes == 0 && a.maxDynamicSharedSizeBytes == 48 << 10);
    CK(cudaFuncGetAttributes(&a, fixed));
    OK(a.sharedSizeBytes == 400 && a.maxDynamicSharedSizeBytes == (48 << 10) - 400);

    int *o, h[32], ctas;
    CK(cudaMalloc(&o, sizeof h));
    for (int i = 0; i < 32; i++)
        h[i] = i;
    CK(cudaMemcpy(o, h, sizeof h, cudaMemcpyHostToDevice));
    const cudaFuncAttribute size = cudaFuncAttributeMaxDynamicSharedMemorySize;
    IS(cudaFuncSetAttribute(dynamic, size, most + 1), cudaErrorInvalidValue);
    IS(cudaFuncSetAttribute(fixed, size, most - 399), cudaErrorInvalidValue);
    CK(cudaFuncSetAttribute(fixed, size, most - 400));
    CK(cudaFuncSetAttribute(dynamic, size, most));
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, dynamic, 32, most));
    OK(ctas == all / (most + reserved));
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, dynamic, 32, most + 1));
    OK(ctas == 0);
    size_t room;
    CK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, fixed, 2, 32));
    OK((int)room == all / 2 - reserved - 400);
    CK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, fixed, 1, 32));
    OK((int)room == most - 400);
    cudaGetLastError();

    dynamic<<<1, 32, most>>>(o);
    CK(cudaGetLastError());
    CK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        OK(h[i] == 31 - i);
    dynamic<<<1, 32, most + 1>>>(o);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    fixed<<<1, 32, 600>>>((unsigned *)o);
    CK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
    OK(h[0] == 1000 && h[1] == 600 && h[2] == 31 && h[3] == 400);
    return finish();
}
