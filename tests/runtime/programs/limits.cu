// Limits that programs set: a stack for deep recursion, the heap of kernels' malloc.

#include "check.h"

__device__ __noinline__ int deep(int n, int *a) {
    if (n == 0)
        return a[0];
    volatile int b[32];
    for (int i = 0; i < 32; i++)
        b[i] = n;
    return deep(n - 1, a) + b[n & 31];
}

__global__ void recurse(int *a, int n) {
    a[1 + threadIdx.x] = deep(n, a);
}

__global__ void grab(void **p, size_t bytes) {
    *p = malloc(bytes);
    free(*p);
}

int main() {
    size_t v;
    int *d, h;
    CK(cudaMalloc(&d, 4096));
    CK(cudaMemset(d, 0, 4096));
    CK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    OK(v == 1024);
    // more than a thread can have; more than there is room for, of all threads
    IS(cudaDeviceSetLimit(cudaLimitStackSize, (512 << 10) + 1), cudaErrorInvalidValue);
    cudaDeviceProp p;
    CK(cudaGetDeviceProperties(&p, 0));
    size_t threads = (size_t)p.multiProcessorCount * p.maxThreadsPerMultiProcessor;
    bool fits = (512 << 10) * threads <= p.totalGlobalMem;
    IS(cudaDeviceSetLimit(cudaLimitStackSize, 512 << 10),
       fits ? cudaSuccess : cudaErrorMemoryAllocation);
    cudaGetLastError();
    CK(cudaDeviceSetLimit(cudaLimitStackSize, 65536));
    CK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    OK(v == 65536);
    recurse<<<1, 32>>>(d, 300);
    CK(cudaMemcpy(&h, d + 32, 4, cudaMemcpyDeviceToHost));
    OK(h == 300 * 301 / 2);

    void *got, **place = (void **)(d + 512);
    for (size_t bytes : {4 << 20, 64 << 20}) {
        grab<<<1, 1>>>(place, bytes);
        CK(cudaMemcpy(&got, place, sizeof got, cudaMemcpyDeviceToHost));
        OK((got != NULL) == (bytes < 8 << 20));
    }
    CK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20));
    grab<<<1, 1>>>(place, 64 << 20);
    CK(cudaMemcpy(&got, place, sizeof got, cudaMemcpyDeviceToHost));
    OK(got != NULL);
    IS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, p.totalGlobalMem + 1), cudaErrorMemoryAllocation);
    cudaGetLastError();

    CK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
    CK(cudaDeviceGetLimit(&v, cudaLimitPrintfFifoSize));
    OK(v == 2 << 20);
    CK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 4096));
    CK(cudaDeviceGetLimit(&v, cudaLimitMaxL2FetchGranularity));
    OK(v == 128);
    cudaError_t only_before_9 = p.major < 9 ? cudaSuccess : cudaErrorUnsupportedLimit;
    IS(cudaDeviceGetLimit(&v, cudaLimitDevRuntimeSyncDepth), only_before_9);
    IS(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0),
       p.major < 8 ? cudaErrorUnsupportedLimit : cudaSuccess);
    cudaGetLastError();

    // a new context
    CK(cudaDeviceReset());
    CK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    OK(v == 1024);
    CK(cudaMalloc(&d, 4096));
    recurse<<<1, 32>>>(d, 300);
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return finish();
}
