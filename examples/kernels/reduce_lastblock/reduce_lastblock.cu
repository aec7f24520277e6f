// Sum and maximum in one launch: the block that finishes last combines what the others left.

#define BLOCK 128

// Both over a block, in thread 0.
__device__ float2 block_reduce(float2 value) {
    __shared__ float2 partial[BLOCK];
    int t = threadIdx.x;
    partial[t] = value;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            partial[t].x += partial[t + half].x;
            partial[t].y = fmaxf(partial[t].y, partial[t + half].y);
        }
    }
    __syncthreads();
    return partial[0];
}

// `finished` starts as zero and is zero again at the end.
extern "C" __global__ void reduce_lastblock(int n, const float *__restrict__ x, float2 *of_block,
                                            unsigned *finished, float2 *result) {
    __shared__ bool last;
    float2 value = make_float2(0.0f, -3.402823466e38f);
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        value.x += x[i];
        value.y = fmaxf(value.y, x[i]);
    }
    value = block_reduce(value);
    if (threadIdx.x == 0) {
        of_block[blockIdx.x] = value;
        __threadfence(); // the partial result is seen before the count
        last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) {
        return;
    }
    __threadfence();
    value = make_float2(0.0f, -3.402823466e38f);
    for (int i = threadIdx.x; i < gridDim.x; i += BLOCK) {
        value.x += of_block[i].x;
        value.y = fmaxf(value.y, of_block[i].y);
    }
    value = block_reduce(value);
    if (threadIdx.x == 0) {
        *result = value;
    }
}
