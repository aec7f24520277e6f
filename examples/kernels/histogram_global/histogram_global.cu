// Histogram of 32-bit keys with atomics in global memory: a bin is chosen by multiply and shift.

extern "C" __global__ void histogram_global(int n, int bin_count, const unsigned *__restrict__ keys,
                                            unsigned *__restrict__ bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned bin = __umulhi(keys[i], (unsigned)bin_count); // keys are uniform over 32 bits
        atomicAdd(&bins[bin], 1u);
    }
}
