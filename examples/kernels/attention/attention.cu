// Attention without the matrix of scores: a thread owns a query and goes through keys and values
// by tiles, keeping a running maximum and sum (online softmax). One row of blocks a head.

#define DEPTH 32 // elements of a query, a key or a value
#define TILE 32  // keys in shared memory at a time
#define BLOCK 64 // queries of a block
#define MINUS_INFINITY __int_as_float(0xff800000)

__device__ void load_tile(float (*tile)[DEPTH], const float *from, int start, int n) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += BLOCK) {
        int row = start + i / DEPTH;
        tile[i / DEPTH][i % DEPTH] = row < n ? from[row * DEPTH + i % DEPTH] : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    attention(int n, float scale, const float *__restrict__ q, const float *__restrict__ k,
              const float *__restrict__ v, float *__restrict__ out) {
    __shared__ float keys[TILE][DEPTH], values[TILE][DEPTH];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    size_t head = (size_t)blockIdx.y * n * DEPTH;
    float query[DEPTH], sum[DEPTH], largest = MINUS_INFINITY, weight = 0.0f;
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
        query[d] = i < n ? q[head + i * DEPTH + d] * scale : 0.0f;
        sum[d] = 0.0f;
    }
    for (int start = 0; start < n; start += TILE) {
        __syncthreads();
        load_tile(keys, k + head, start, n);
        load_tile(values, v + head, start, n);
        __syncthreads();
        int count = min(TILE, n - start);
        for (int j = 0; j < count; j++) {
            float score = 0.0f;
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                score += query[d] * keys[j][d];
            }
            float higher = fmaxf(largest, score);
            float keep = expf(largest - higher), add = expf(score - higher);
            weight = weight * keep + add;
            largest = higher;
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                sum[d] = sum[d] * keep + add * values[j][d];
            }
        }
    }
    if (i < n) {
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            out[head + i * DEPTH + d] = sum[d] / weight;
        }
    }
}
