// Sum: shuffles within a warp, shared memory between warps, one atomic a block.

__device__ float warp_sum(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

extern "C" __global__ void reduce_shuffle(int n, const float *__restrict__ x, float *total) {
    __shared__ float of_warp[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        of_warp[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < blockDim.x / warpSize ? of_warp[lane] : 0.0f);
        if (lane == 0) {
            atomicAdd(total, sum);
        }
    }
}
