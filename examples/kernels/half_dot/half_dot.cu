// Dot product in half precision, two products an instruction; a few at a time are summed in half
// precision, the rest in single.

#include <cuda_fp16.h>

#define RUN 8 // pairs summed in half precision

extern "C" __global__ void half_dot(int pairs, const half2 *__restrict__ x,
                                    const half2 *__restrict__ y, float *total) {
    float sum = 0.0f;
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += RUN * stride) {
        half2 part = __float2half2_rn(0.0f);
#pragma unroll
        for (int k = 0; k < RUN; k++) {
            int j = i + k * stride;
            if (j < pairs) {
                part = __hfma2(x[j], y[j], part);
            }
        }
        sum += __low2float(part) + __high2float(part);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (threadIdx.x % warpSize == 0) {
        atomicAdd(total, sum);
    }
}
