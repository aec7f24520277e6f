// Bitonic sort of 2^k integers: strides beyond a block in global memory, smaller ones in shared.

#define BLOCK 256 // threads of bitonic_sort_shared, which sort twice as many elements

__device__ void order(int &low, int &high, bool ascending) {
    if ((low > high) == ascending) {
        int swap = low;
        low = high;
        high = swap;
    }
}

// One step: compare elements that are `stride` apart within sequences of `length`.
extern "C" __global__ void bitonic_sort(int n, int length, int stride, int *values) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = 2 * t - (t & (stride - 1)); // insert a zero bit where the partner has a one
    if (i + stride < n) {
        order(values[i], values[i + stride], (i & length) == 0);
    }
}

// All steps of a length from `stride`, at most BLOCK, down to 1; from length 2 on if asked for.
extern "C" __global__ void bitonic_sort_shared(int length, int stride, int from_the_start,
                                               int *values) {
    __shared__ int tile[2 * BLOCK];
    int t = threadIdx.x, base = blockIdx.x * 2 * BLOCK;
    tile[t] = values[base + t];
    tile[t + BLOCK] = values[base + t + BLOCK];
    for (int size = from_the_start ? 2 : length; size <= length; size *= 2) {
        for (int d = from_the_start ? size / 2 : stride; d > 0; d /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (d - 1));
            order(tile[i], tile[i + d], ((base + i) & size) == 0);
        }
    }
    __syncthreads();
    values[base + t] = tile[t];
    values[base + t + BLOCK] = tile[t + BLOCK];
}
