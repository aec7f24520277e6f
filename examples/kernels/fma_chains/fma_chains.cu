// Nothing but fused multiply-adds, in eight independent chains a thread.

#define CHAINS 8

extern "C" __global__ void fma_chains(int iterations, float a, float b, float *__restrict__ x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        value[c] = x[i] + (float)c;
    }
    for (int n = 0; n < iterations; n++) {
#pragma unroll
        for (int step = 0; step < 32 / CHAINS; step++) {
#pragma unroll
            for (int c = 0; c < CHAINS; c++) {
                value[c] = fmaf(value[c], a, b);
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        sum += value[c];
    }
    x[i] = sum;
}
