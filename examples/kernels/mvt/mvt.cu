// x1 += A y1 and x2 += A^T y2 for a square matrix.

extern "C" __global__ void mvt(int n, const float *__restrict__ a, const float *__restrict__ y1,
                               float *__restrict__ x1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = x1[i];
#pragma unroll 4
        for (int j = 0; j < n; j++) {
            sum += a[i * n + j] * y1[j];
        }
        x1[i] = sum;
    }
}

extern "C" __global__ void mvt_transposed(int n, const float *__restrict__ a,
                                          const float *__restrict__ y2, float *__restrict__ x2) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        float sum = x2[j];
#pragma unroll 4
        for (int i = 0; i < n; i++) {
            sum += a[i * n + j] * y2[i];
        }
        x2[j] = sum;
    }
}
