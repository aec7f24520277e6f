// LU factorisation in place, without pivoting, by tiles: for each tile of the diagonal factor it,
// then its row and column of tiles, then subtract their products from the rest. The edge of the
// matrix is a multiple of the tile's.

#define TILE 16

// One block of TILE threads, a thread a column.
extern "C" __global__ void lu_diagonal(int n, int start, float *a) {
    __shared__ float tile[TILE][TILE + 1];
    int t = threadIdx.x;
    float *corner = a + (size_t)start * n + start;
    for (int i = 0; i < TILE; i++) {
        tile[i][t] = corner[i * n + t];
    }
    __syncthreads();
    for (int k = 0; k < TILE - 1; k++) {
        if (t > k) {
            tile[t][k] /= tile[k][k]; // here t is a row
        }
        __syncthreads();
        if (t > k) {
            for (int i = k + 1; i < TILE; i++) {
                tile[i][t] -= tile[i][k] * tile[k][t];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < TILE; i++) {
        corner[i * n + t] = tile[i][t];
    }
}

// Block (b, 0) solves the tile that is b + 1 to the right, block (b, 1) the one below.
extern "C" __global__ void lu_perimeter(int n, int start, float *a) {
    __shared__ float factor[TILE][TILE + 1], tile[TILE][TILE + 1];
    int t = threadIdx.x, away = start + (blockIdx.x + 1) * TILE;
    bool below = blockIdx.y == 1;
    float *corner = a + (size_t)start * n + start;
    float *mine = below ? a + (size_t)away * n + start : a + (size_t)start * n + away;
    for (int i = 0; i < TILE; i++) {
        factor[i][t] = corner[i * n + t];
        tile[i][t] = mine[i * n + t];
    }
    __syncthreads();
    for (int i = 0; i < TILE; i++) { // below: thread t owns row t, else column t
        float value = below ? tile[t][i] : tile[i][t];
        for (int k = 0; k < i; k++) {
            value -= below ? tile[t][k] * factor[k][i] : factor[i][k] * tile[k][t];
        }
        if (below) {
            tile[t][i] = value / factor[i][i];
        } else {
            tile[i][t] = value;
        }
    }
    __syncthreads();
    for (int i = 0; i < TILE; i++) {
        mine[i * n + t] = tile[i][t];
    }
}

extern "C" __global__ void lu_interior(int n, int start, float *a) {
    __shared__ float left[TILE][TILE], above[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = start + (blockIdx.y + 1) * TILE + ty, column = start + (blockIdx.x + 1) * TILE + tx;
    left[ty][tx] = a[(size_t)row * n + start + tx];
    above[ty][tx] = a[(size_t)(start + ty) * n + column];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < TILE; k++) {
        sum += left[ty][k] * above[k][tx];
    }
    a[(size_t)row * n + column] -= sum;
}
