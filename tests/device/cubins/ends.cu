// Atomics on 16 bits, the last ones of their memory: compare-and-swap on the word that they lie in.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves(__half *last, __half *old) {
    *old = atomicAdd(last, __float2half(1.5f));
}

extern "C" __global__ void shorts(unsigned short *last, unsigned short *old) {
    *old = atomicCAS(last, (unsigned short)7, (unsigned short)9);
}

extern "C" __global__ void inside(__nv_bfloat16 *out) {
    __shared__ __nv_bfloat16 sum[33];
    sum[threadIdx.x] = __float2bfloat16(0.f);
    sum[32] = __float2bfloat16(0.f);
    __syncthreads();
    atomicAdd(&sum[32], __float2bfloat16(1.f));
    __syncthreads();
    out[threadIdx.x] = sum[32];
}
