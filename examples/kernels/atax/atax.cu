// y = A^T (A x): a thread sums a row of A, then a thread sums a column.

extern "C" __global__ void atax(int rows, int columns, const float *__restrict__ a,
                                const float *__restrict__ x, float *__restrict__ product) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        float sum = 0.0f;
        for (int j = 0; j < columns; j++) {
            sum += a[i * columns + j] * x[j];
        }
        product[i] = sum;
    }
}

extern "C" __global__ void atax_transposed(int rows, int columns, const float *__restrict__ a,
                                           const float *__restrict__ product,
                                           float *__restrict__ y) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < columns) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++) {
            sum += a[i * columns + j] * product[i];
        }
        y[j] = sum;
    }
}
