// Halves that are exchanged, of which one is negated: ptxas for sm_90 makes HFMA2 with H0_NH1 of them.

#include <cuda_fp16.h>

extern "C" __global__ void products(const half2 *a, const half2 *b, half2 *sums) {
    int i = threadIdx.x;
    sums[i] = __hcmadd(a[i], b[i], sums[i]);
}

extern "C" __global__ void conjugates(const half2 *a, const half2 *b, half2 *sums) {
    int i = threadIdx.x;
    half2 other = b[i];
    sums[i] = __hfma2(a[i], __halves2half2(other.x, __hneg(other.y)), sums[i]);
}
