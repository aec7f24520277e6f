// The lower triangle of C = alpha A A^T + beta C; what is above stays.

extern "C" __global__ void syrk(int n, int depth, float alpha, float beta,
                                const float *__restrict__ a, float *__restrict__ c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j > i) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < depth; k++) {
        sum += a[i * depth + k] * a[j * depth + k];
    }
    c[i * n + j] = alpha * sum + beta * c[i * n + j];
}
