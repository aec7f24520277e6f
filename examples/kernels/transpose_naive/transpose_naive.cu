// out = transpose of in: reads are coalesced, writes are strided by a row.

extern "C" __global__ void transpose_naive(int rows, int columns, const float *__restrict__ in,
                                           float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) {
        out[x * rows + y] = in[y * columns + x];
    }
}
