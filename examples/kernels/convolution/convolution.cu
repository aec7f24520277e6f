// Separable convolution of an image: along rows, then along columns. Zeros lie beyond the border.

#define RADIUS 4
#define TILE_X 32
#define TILE_Y 8

__constant__ float convolution_taps[2 * RADIUS + 1];

extern "C" __global__ void convolution_rows(int width, int height, const float *__restrict__ in,
                                            float *__restrict__ out) {
    __shared__ float tile[TILE_Y][TILE_X + 2 * RADIUS];
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    for (int i = threadIdx.x; i < TILE_X + 2 * RADIUS; i += TILE_X) {
        int u = (int)blockIdx.x * TILE_X + i - RADIUS;
        tile[threadIdx.y][i] = y < height && u >= 0 && u < width ? in[y * width + u] : 0.0f;
    }
    __syncthreads();
    if (x < width && y < height) {
        float sum = 0.0f;
#pragma unroll
        for (int k = -RADIUS; k <= RADIUS; k++) {
            sum += convolution_taps[RADIUS - k] * tile[threadIdx.y][threadIdx.x + RADIUS + k];
        }
        out[y * width + x] = sum;
    }
}

extern "C" __global__ void convolution_columns(int width, int height, const float *__restrict__ in,
                                               float *__restrict__ out) {
    __shared__ float tile[TILE_Y + 2 * RADIUS][TILE_X];
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    for (int j = threadIdx.y; j < TILE_Y + 2 * RADIUS; j += TILE_Y) {
        int v = (int)blockIdx.y * TILE_Y + j - RADIUS;
        tile[j][threadIdx.x] = x < width && v >= 0 && v < height ? in[v * width + x] : 0.0f;
    }
    __syncthreads();
    if (x < width && y < height) {
        float sum = 0.0f;
#pragma unroll
        for (int k = -RADIUS; k <= RADIUS; k++) {
            sum += convolution_taps[RADIUS - k] * tile[threadIdx.y + RADIUS + k][threadIdx.x];
        }
        out[y * width + x] = sum;
    }
}
