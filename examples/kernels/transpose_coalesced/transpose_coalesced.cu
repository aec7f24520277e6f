// out = transpose of in through a tile in shared memory: reads and writes are both coalesced.

#define TILE 32
#define ROWS 8 // rows of threads in a block: each thread moves TILE / ROWS elements

extern "C" __global__ void transpose_coalesced(int rows, int columns, const float *__restrict__ in,
                                               float *__restrict__ out) {
    __shared__ float tile[TILE][TILE + 1]; // the odd pitch keeps a column in different banks
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < columns && y + k < rows) {
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
        }
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < rows && y + k < columns) {
            out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}
