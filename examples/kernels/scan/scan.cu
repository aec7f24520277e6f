// Inclusive prefix sum: each block scans its part, then the sums of earlier parts are added.

// Work-inefficient but short (Hillis and Steele), double-buffered in shared memory.
extern "C" __global__ void scan(int n, const int *__restrict__ x, int *__restrict__ prefix,
                                int *__restrict__ sums) {
    extern __shared__ int buffer[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int *from = buffer, *to = buffer + blockDim.x;
    from[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        to[t] = t >= distance ? from[t] + from[t - distance] : from[t];
        __syncthreads();
        int *swap = from;
        from = to;
        to = swap;
    }
    if (i < n) {
        prefix[i] = from[t];
    }
    if (t == blockDim.x - 1) {
        sums[blockIdx.x] = from[t];
    }
}

extern "C" __global__ void scan_add(int n, const int *__restrict__ sums, int *__restrict__ prefix) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n) {
        prefix[i] += sums[blockIdx.x - 1];
    }
}
