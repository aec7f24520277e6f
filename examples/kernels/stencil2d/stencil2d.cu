// One Jacobi step of the 5-point stencil; the border keeps its values.

#define TILE_X 32
#define TILE_Y 8

extern "C" __global__ void stencil2d(int nx, int ny, const float *__restrict__ in,
                                     float *__restrict__ out) {
    __shared__ float tile[TILE_Y + 2][TILE_X + 2];
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    // A block loads its tile with a halo of one, clamped to the grid.
    for (int j = threadIdx.y; j < TILE_Y + 2; j += TILE_Y) {
        for (int i = threadIdx.x; i < TILE_X + 2; i += TILE_X) {
            int u = min(max((int)blockIdx.x * TILE_X + i - 1, 0), nx - 1);
            int v = min(max((int)blockIdx.y * TILE_Y + j - 1, 0), ny - 1);
            tile[j][i] = in[v * nx + u];
        }
    }
    __syncthreads();
    if (x >= nx || y >= ny) {
        return;
    }
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    float mean = 0.25f * (tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i]);
    out[y * nx + x] = inside ? mean : tile[j][i];
}
