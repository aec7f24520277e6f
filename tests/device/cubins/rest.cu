// Code with opcodes that the cases of ptx_twin do not need. A warp of each kernel writes to out.
// Bits of a word as predicates, and predicates kept in a word.
extern "C" __global__ void bits(const unsigned *in, unsigned *out, unsigned same)
{
    unsigned own = in[threadIdx.x], sum = 0, product = 1;
#pragma unroll
    for (int k = 0; k < 12; k++) {
        if (own >> k & 1)
            sum += in[32 + k];
        if (same >> k & 1)
            product = product * 3 + k;
    }
    out[threadIdx.x] = sum;
    out[32 + threadIdx.x] = product;
}

extern "C" __global__ void flags(const int *in, int *out, int n)
{
    const int *row = in + 16 * threadIdx.x;
    bool less[16];
    int total = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        less[k] = row[k] < n;
    __syncthreads();
    for (int turn = 0; turn < n; turn++) {
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (less[k])
                total += (turn + 1) * (k + 1) ^ out[turn & 3];
        __syncthreads();
    }
    out[4 + threadIdx.x] = total;
}

extern "C" __global__ void bytes(const unsigned *in, unsigned *out)
{
    unsigned a = in[threadIdx.x], b = in[32 + threadIdx.x];
    unsigned *row = out + 4 * threadIdx.x;
    row[0] = __vabsdiffu4(a, b);
    row[1] = __vsadu4(a, b);
    row[2] = __vabsdiffs4(a, b);
    row[3] = __vsads4(a, b);
}

extern "C" __global__ void uniform(unsigned *out, unsigned a, unsigned b, int c)
{
    unsigned place = blockIdx.x + (a & 15), size = (b & 15) + 1;
    unsigned mask = ((1u << size) - 1) << place;
    bool p = (int)a < c, q = b > a, r = (c & 1) == 0;
    unsigned x = (p && q) || (!p && r) ? mask * a + b : mask ^ b;
    if ((p ^ q) && !r)
        x += 77;
    out[threadIdx.x] = x + threadIdx.x;
    out[32 + threadIdx.x] = (p + 2 * q + 4 * r) * size;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void extrema(const int *in, int *out)
{
    int a = in[threadIdx.x], b = in[32 + threadIdx.x], c = in[64 + threadIdx.x];
    int *row = out + 12 * threadIdx.x;
    bool first, second;
    row[0] = __vimin3_s32_relu(a, b, c);
    row[1] = __vimax3_u32(a, b, c);
    row[2] = __vimax3_s16x2(a, b, c);
    row[3] = __viaddmin_s32(a, b, c);
    row[4] = __viaddmax_u16x2(a, b, c);
    row[5] = __viaddmin_s16x2_relu(a, b, c);
    row[6] = __vibmin_s16x2(a, b, &first, &second);
    row[7] = first + 2 * second;
    row[8] = __vibmax_u16x2(a, b, &first, &second);
    row[9] = first + 2 * second;
    row[10] = __vibmax_s32(a, b, &first);
    row[11] = first;
}

extern "C" __global__ void fences(int *out)
{
    asm volatile("griddepcontrol.wait;");
    asm volatile("fence.proxy.async;");
    out[threadIdx.x] = threadIdx.x;
    asm volatile("griddepcontrol.launch_dependents;");
}
#endif

extern "C" __global__ void prefetched(int *out, int n)
{
    int own[40];
    for (int k = 0; k < 40; k++)
        own[k] = k * n;
    asm volatile("prefetch.local.L1 [%0];" : : "l"(__cvta_generic_to_local(&own[n])));
    out[threadIdx.x] = own[threadIdx.x];
}

extern "C" __global__ void reducing(const int *in, int *out)
{
    int own = in[threadIdx.x];
    int many = __syncthreads_count(own > 0);
    int each = __syncthreads_and(own > -5), some = __syncthreads_or(own > 1000);
    out[threadIdx.x] = many + 100 * (each != 0) + 200 * (some != 0);
}
