// Gaussian elimination: for each column the factors of the rows below it, then these rows without
// their parts of the pivot's row.

// A thread a row below the pivot's.
extern "C" __global__ void gaussian_factors(int n, int column, const float *a, float *factors) {
    int row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        factors[row * n + column] = a[row * n + column] / a[column * n + column];
    }
}

// A thread an element below and right of the pivot's column, its own included.
extern "C" __global__ void gaussian_eliminate(int n, int column, float *a, float *b,
                                              const float *factors) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int row = column + 1 + y, at = column + x;
    if (row >= n || at >= n) {
        return;
    }
    float factor = factors[row * n + column];
    a[row * n + at] -= factor * a[column * n + at];
    if (x == 0) {
        b[row] -= factor * b[column];
    }
}
