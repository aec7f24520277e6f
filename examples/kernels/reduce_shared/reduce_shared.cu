// Sums of blocks by a tree in shared memory; launched again on the sums until one is left.

extern "C" __global__ void reduce_shared(int n, const float *__restrict__ x,
                                         float *__restrict__ sums) {
    extern __shared__ float partial[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + t;
    float value = i < n ? x[i] : 0.0f;
    if (i + blockDim.x < n) {
        value += x[i + blockDim.x];
    }
    partial[t] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            partial[t] += partial[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = partial[0];
    }
}
