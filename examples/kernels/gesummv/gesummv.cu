// y = alpha A x + beta B x: both products in one pass.

extern "C" __global__ void gesummv(int n, float alpha, float beta, const float *__restrict__ a,
                                   const float *__restrict__ b, const float *__restrict__ x,
                                   float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float sum_a = 0.0f, sum_b = 0.0f;
    for (int j = 0; j < n; j++) {
        sum_a += a[i * n + j] * x[j];
        sum_b += b[i * n + j] * x[j];
    }
    y[i] = alpha * sum_a + beta * sum_b;
}
