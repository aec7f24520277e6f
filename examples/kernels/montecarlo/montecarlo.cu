// Price of an option as the mean over random paths. Random numbers come from a counter (Philox
// 2x32-10, Salmon et al., SC 2011): path i's are the same on any grid.

__device__ uint2 philox(unsigned counter, unsigned key) {
    uint2 state = make_uint2(counter, 0u);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned high = __umulhi(0xD256D193u, state.x), low = 0xD256D193u * state.x;
        state = make_uint2(high ^ key ^ state.y, low);
        key += 0x9E3779B9u;
    }
    return state;
}

// The sum of all payoffs goes to *total, which starts as zero.
extern "C" __global__ void montecarlo(int paths, unsigned seed, float spot, float strike,
                                      float drift, float deviation, float *total) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < paths; i += gridDim.x * blockDim.x) {
        uint2 random = philox(i, seed);
        float u = ((random.x >> 8) + 1) * (1.0f / 16777216.0f); // above 0, at most 1
        float v = (random.y >> 8) * (1.0f / 16777216.0f);
        float normal = sqrtf(-2.0f * logf(u)) * cospif(2.0f * v); // Box and Muller
        sum += fmaxf(spot * expf(drift + deviation * normal) - strike, 0.0f);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (threadIdx.x % warpSize == 0) {
        atomicAdd(total, sum);
    }
}
