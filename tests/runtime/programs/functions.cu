// Kernels: attributes, occupancy, launches of all kinds and those that are refused, errors.

#include "check.h"
#include <cooperative_groups.h>
__global__ void __launch_bounds__(128) bounded(int *p) {
    p[threadIdx.x] = blockDim.x;
}
__global__ void dyn(float *o) {
    extern __shared__ float s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
template <class T> __global__ void tk(T *p, T v) {
    p[threadIdx.x] = v;
}
struct Big {
    int a[40];
};
__global__ void big(Big b, int *o, char c) {
    o[threadIdx.x] = b.a[threadIdx.x] + c;
}
__global__ void number(unsigned long long *o) {
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(*o));
}
struct Huge { // more than the 4 KB that parameters could be until CUDA 12.1
    int a[2000];
};
__global__ void huge(const __grid_constant__ Huge h, int *o, short c) {
    o[threadIdx.x] = h.a[threadIdx.x * 7] + c;
}
int main() {
    cudaFuncAttributes a;
    CK(cudaFuncGetAttributes(&a, bounded));
    OK(a.maxThreadsPerBlock == 128);
    OK(a.numRegs > 0);
    OK(a.sharedSizeBytes == 0);
    int *p;
    CK(cudaMalloc(&p, 4096));
    bounded<<<1, 256>>>(p);
    IS(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    bounded<<<1, 128>>>(p);
    CK(cudaDeviceSynchronize());
    dyn<<<1, 2048>>>((float *)p);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    dyn<<<1, 32, 60 << 10>>>((float *)p);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    CK(cudaFuncSetAttribute(dyn, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10));
    dyn<<<1, 32, 60 << 10>>>((float *)p);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaFuncGetAttributes(&a, dyn));
    OK(a.maxDynamicSharedSizeBytes == 60 << 10);
    CK(cudaFuncSetCacheConfig(dyn, cudaFuncCachePreferShared));
    int mg, bs;
    CK(cudaOccupancyMaxPotentialBlockSize(&mg, &bs, dyn, 0, 0));
    int nb;
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, dyn, 256, 0));
    OK(nb == 8);
    size_t room;
    CK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, dyn, 2, 128));
    CK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&mg, &bs, dyn,
                                                      [](int t) { return (size_t)t * 4; }));
    tk<double><<<1, 4>>>((double *)p, 2.5);
    tk<short><<<1, 4>>>((short *)p + 100, (short)7);
    CK(cudaDeviceSynchronize());
    double d[4];
    CK(cudaMemcpy(d, p, 32, cudaMemcpyDefault));
    OK(d[3] == 2.5);
    Big b;
    for (int i = 0; i < 40; i++)
        b.a[i] = i;
    big<<<1, 40>>>(b, p, 3);
    int o[40];
    CK(cudaMemcpy(o, p, 160, cudaMemcpyDeviceToHost));
    OK(o[39] == 42);
    cudaLaunchConfig_t cfg = {};
    cfg.gridDim = 1;
    cfg.blockDim = 40;
    CK(cudaLaunchKernelEx(&cfg, big, b, p, (char)4));
    cudaLaunchAttribute at[2];
    at[0].id = cudaLaunchAttributeCooperative;
    at[0].val.cooperative = 1;
    at[1].id = cudaLaunchAttributePriority;
    at[1].val.priority = 0;
    cfg.attrs = at;
    cfg.numAttrs = 2;
    CK(cudaLaunchKernelEx(&cfg, big, b, p, (char)5));
    CK(cudaMemcpy(o, p, 160, cudaMemcpyDeviceToHost));
    OK(o[39] == 44);
    at[0].id = cudaLaunchAttributeClusterDimension;
    at[0].val.clusterDim.x = 2;
    at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1;
    cfg.gridDim = 2;
    cfg.numAttrs = 1;
    IS(cudaLaunchKernelEx(&cfg, big, b, p, (char)5), cudaErrorNotSupported);
    cudaGetLastError();
    big<<<0, 40>>>(b, p, 3);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    void *args[] = {&p};
    IS(cudaLaunchKernel((void *)main, 1, 1, args, 0, 0), cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
    cudaFunction_t fn;
    CK(cudaGetFuncBySymbol(&fn, (void *)bounded));
#if CUDART_VERSION >= 12030
    const char *nm;
    CK(cudaFuncGetName(&nm, (void *)bounded));
    OK(!strcmp(nm, "_Z7boundedPi"));
#endif
#if CUDART_VERSION >= 12040
    size_t offset, size;
    CK(cudaFuncGetParamInfo((void *)big, 1, &offset, &size));
    OK(offset == 160 && size == 8);
    IS(cudaFuncGetParamInfo((void *)big, 3, &offset, &size), cudaErrorInvalidValue);
    cudaGetLastError();
#endif
    // sticky error
    bounded<<<1, 32>>>((int *)64);
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    IS(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
    CK(cudaDeviceReset());
    cudaGetLastError();
    CK(cudaMalloc(&p, 512));
    bounded<<<1, 32>>>(p);
    CK(cudaDeviceSynchronize());
    Huge h;
    for (int i = 0; i < 2000; i++)
        h.a[i] = i;
    int got[128];
    huge<<<1, 128>>>(h, p, 3);
    CK(cudaMemcpy(got, p, 512, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++)
        OK(got[i] == i * 7 + 3);
    unsigned long long grids[2];
    for (int k = 0; k < 2; k++) {
        number<<<1, 1>>>((unsigned long long *)p);
        CK(cudaMemcpy(grids + k, p, 8, cudaMemcpyDeviceToHost));
    }
    OK(grids[0] > 0 && grids[1] > grids[0]);
    return finish();
}
