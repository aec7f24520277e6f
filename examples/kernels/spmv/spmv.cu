// y = A x for a sparse matrix in compressed rows: one warp a row.

extern "C" __global__ void spmv(int rows, const int *__restrict__ first,
                                const int *__restrict__ columns, const float *__restrict__ values,
                                const float *__restrict__ x, float *__restrict__ y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int lane = threadIdx.x % warpSize;
    if (row >= rows) {
        return; // a whole warp
    }
    float sum = 0.0f;
    for (int i = first[row] + lane; i < first[row + 1]; i += warpSize) {
        sum += values[i] * x[columns[i]];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
