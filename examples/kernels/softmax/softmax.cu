// Softmax of each row of a matrix: one block a row, values read once and kept in shared memory.

#define MINUS_INFINITY __int_as_float(0xff800000)

__device__ float warp_reduce(float value, bool maximum) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, offset);
        value = maximum ? fmaxf(value, other) : value + other;
    }
    return value;
}

// The sum or maximum over a block, in every thread.
__device__ float block_reduce(float value, bool maximum) {
    __shared__ float of_warp[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    value = warp_reduce(value, maximum);
    __syncthreads(); // an earlier reduction may still be read
    if (lane == 0) {
        of_warp[warp] = value;
    }
    __syncthreads();
    float neutral = maximum ? MINUS_INFINITY : 0.0f;
    return warp_reduce(lane < blockDim.x / warpSize ? of_warp[lane] : neutral, maximum);
}

extern "C" __global__ void softmax(int columns, const float *__restrict__ x,
                                   float *__restrict__ y) {
    extern __shared__ float row[];
    const float *from = x + (size_t)blockIdx.x * columns;
    float *to = y + (size_t)blockIdx.x * columns;
    float largest = MINUS_INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        row[i] = from[i];
        largest = fmaxf(largest, row[i]);
    }
    largest = block_reduce(largest, true);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        row[i] = expf(row[i] - largest);
        sum += row[i];
    }
    float scale = 1.0f / block_reduce(sum, false);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        to[i] = row[i] * scale;
    }
}
