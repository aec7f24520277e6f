// The smallest and largest of three pairs of half-precision numbers: VHMNMX.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL(name, type, expression)                                                             \
    extern "C" __global__ void name(const type *in, type *out) {                                   \
        type a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];              \
        out[threadIdx.x] = expression;                                                             \
    }

KERNEL(largest, __half2, __hmax2(__hmax2(a, b), c))
KERNEL(smallest, __half2, __hmin2(__hmin2(a, b), c))
KERNEL(largest_nan, __half2, __hmax2_nan(__hmax2_nan(a, b), c))
KERNEL(largest_signs, __half2, __hmax2(__hmax2(__hneg2(a), __habs2(b)), c))
KERNEL(largest_bf16, __nv_bfloat162, __hmax2(__hmax2(a, b), c))
KERNEL(smallest_bf16_nan, __nv_bfloat162, __hmin2_nan(__hmin2_nan(a, b), c))
