// C = A B for 8-bit integers, four products an instruction: A by rows and B by columns, four
// neighbours along k in a word. Tiles in shared memory.

#define TILE 16

extern "C" __global__ void gemm_dp4a(int n, int words, const int *__restrict__ a,
                                     const int *__restrict__ b, int *__restrict__ c) {
    __shared__ int tile_a[TILE][TILE + 1], tile_b[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    int other = blockIdx.x * TILE + ty; // the column of B that this thread loads
    int sum = 0;
    for (int k0 = 0; k0 < words; k0 += TILE) {
        bool inside = k0 + tx < words;
        tile_a[ty][tx] = row < n && inside ? a[row * words + k0 + tx] : 0;
        tile_b[ty][tx] = other < n && inside ? b[other * words + k0 + tx] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            sum = __dp4a(tile_a[ty][k], tile_b[tx][k], sum);
        }
        __syncthreads();
    }
    if (row < n && column < n) {
        c[row * n + column] = sum;
    }
}
