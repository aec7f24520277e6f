// The cheapest way down a grid of costs, moving down or diagonally: several rows a launch, on a
// part of a row in shared memory that shrinks by a cell on either side for each row.

#define BLOCK 256

extern "C" __global__ void pathfinder(int columns, int rows, const int *__restrict__ cost,
                                      const int *__restrict__ from, int *__restrict__ to) {
    __shared__ int now[BLOCK], next[BLOCK];
    int t = threadIdx.x, x = (int)blockIdx.x * (BLOCK - 2 * rows) + t - rows;
    bool real = x >= 0 && x < columns;
    now[t] = real ? from[x] : 0x7fffffff; // nothing is cheaper beyond the edge
    __syncthreads();
    for (int row = 0; row < rows; row++) {
        bool valid = t > row && t < BLOCK - 1 - row;
        if (real && valid) {
            int best = min(now[t], min(now[t - 1], now[t + 1]));
            next[t] = best + cost[row * columns + x];
        }
        __syncthreads();
        if (real && valid) {
            now[t] = next[t];
        }
        __syncthreads();
    }
    if (real && t >= rows && t < BLOCK - rows) {
        to[x] = now[t];
    }
}
