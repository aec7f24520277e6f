// C = A B for square matrices, with square tiles of A and B in shared memory.

#define TILE 16

extern "C" __global__ void gemm_tiled(int n, const float *__restrict__ a,
                                      const float *__restrict__ b, float *__restrict__ c) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        tile_a[ty][tx] = row < n && k0 + tx < n ? a[row * n + k0 + tx] : 0.0f;
        tile_b[ty][tx] = k0 + ty < n && column < n ? b[(k0 + ty) * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }
    if (row < n && column < n) {
        c[row * n + column] = sum;
    }
}
