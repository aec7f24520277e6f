// Three matrix products, G = (A B) (C D), by one kernel in which a thread makes four values of a
// column.

#define ROWS 4

extern "C" __global__ void mm3(int n, const float *__restrict__ left,
                               const float *__restrict__ right, float *__restrict__ out) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int first = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (j >= n) {
        return;
    }
    float sum[ROWS] = {};
    for (int k = 0; k < n; k++) {
        float factor = right[k * n + j];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (first + r < n) {
                sum[r] += left[(first + r) * n + k] * factor;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (first + r < n) {
            out[(first + r) * n + j] = sum[r];
        }
    }
}
