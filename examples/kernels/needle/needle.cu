// Global alignment of two sequences (Needleman and Wunsch): tiles of the table of scores along
// anti-diagonals, one launch each; within a tile, too, cells along anti-diagonals.

#define TILE 16

// Tiles (x, diagonal - x) of a table of (n + 1) x (n + 1) scores; row and column 0 are given.
extern "C" __global__ void needle(int n, int diagonal, int first_x, int gap,
                                  const signed char *__restrict__ a,
                                  const signed char *__restrict__ b,
                                  const int *__restrict__ similarity, int letters, int *score) {
    __shared__ int tile[TILE + 1][TILE + 1];
    __shared__ int match[TILE][TILE + 1];
    int t = threadIdx.x, pitch = n + 1;
    int x = (first_x + blockIdx.x) * TILE, y = (diagonal - first_x - blockIdx.x) * TILE;
    for (int i = 0; i < TILE; i++) {
        match[i][t] = similarity[a[y + i] * letters + b[x + t]];
    }
    tile[0][t + 1] = score[y * pitch + x + t + 1];
    tile[t + 1][0] = score[(y + t + 1) * pitch + x];
    if (t == 0) {
        tile[0][0] = score[y * pitch + x];
    }
    __syncthreads();
    for (int d = 0; d < 2 * TILE - 1; d++) {
        int i = d - t; // the row of column t on this anti-diagonal
        if (i >= 0 && i < TILE) {
            int best = tile[i][t] + match[i][t];
            best = max(best, tile[i + 1][t] + gap);
            tile[i + 1][t + 1] = max(best, tile[i][t + 1] + gap);
        }
        __syncthreads();
    }
    for (int i = 1; i <= TILE; i++) {
        score[(y + i) * pitch + x + t + 1] = tile[i][t + 1];
    }
}
