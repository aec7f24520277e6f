// The two products of the biconjugate gradient method: q = A p and s = A^T r.

// One warp a row: reads are coalesced.
extern "C" __global__ void bicg_q(int rows, int columns, const float *__restrict__ a,
                                  const float *__restrict__ p, float *__restrict__ q) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (i >= rows) {
        return; // a whole warp
    }
    float sum = 0.0f;
    for (int j = lane; j < columns; j += warpSize) {
        sum += a[i * columns + j] * p[j];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (lane == 0) {
        q[i] = sum;
    }
}

// One thread a column and part of the rows; parts are added by atomics to zeros.
extern "C" __global__ void bicg_s(int rows, int columns, const float *__restrict__ a,
                                  const float *__restrict__ r, float *s) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int part = (rows + gridDim.y - 1) / gridDim.y, first = blockIdx.y * part;
    if (j < columns) {
        float sum = 0.0f;
        for (int i = first; i < min(first + part, rows); i++) {
            sum += a[i * columns + j] * r[i];
        }
        atomicAdd(&s[j], sum);
    }
}
