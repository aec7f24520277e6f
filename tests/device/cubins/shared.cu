// Two kernels that share functions; the second one calls one function more.
__device__ __noinline__ unsigned mix(unsigned x, unsigned y) {
    for (unsigned k = 0; k < (y & 7); ++k) x = x * 5 + k;
    return x ^ x >> 7;
}
__device__ __noinline__ unsigned pick(const unsigned *table, unsigned x) {
    return x & 1 ? table[x & 15] : mix(x, 3);
}
__device__ __noinline__ unsigned rarely(unsigned x) { return x / 10007 + 1; }

extern "C" __global__ void first(unsigned *out, const unsigned *table, unsigned limit) {
    unsigned i = threadIdx.x, x = pick(table, mix(i, i));
    if (x == limit) x = rarely(x);
    out[i] = x;
}
extern "C" __global__ void second(unsigned *out, const unsigned *table, unsigned limit) {
    __shared__ unsigned turned[64];
    unsigned i = threadIdx.x;
    turned[i] = pick(table, mix(i, i + 1));
    __syncthreads();
    unsigned x = turned[63 - i];
    if (x != limit) x = rarely(x);
    out[i] = x;
}
