// Products of a warpgroup in a loop, their group committed behind it: the end of a group without products.

extern "C" __global__ void groups(int steps, const short *a, const short *b, float *out) {
    extern __shared__ __align__(128) short tiles[];
    short *first = tiles, *second = tiles + steps * 1024;
    for (int i = threadIdx.x; i < steps * 1024; i += 128) { // cores of 8 rows of 16 bytes
        int row = i % 1024 / 16, column = i % 16;
        first[i / 1024 * 1024 + row / 8 * 128 + column / 8 * 64 + row % 8 * 8 + column % 8] = a[i];
    }
    for (int i = threadIdx.x; i < steps * 128; i += 128) {
        int row = i % 128 / 16, column = i % 16;
        second[i / 128 * 128 + column / 8 * 64 + row * 8 + column % 8] = b[i];
    }
    float d[4] = {0, 0, 0, 0};
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int step = 0; step < steps; step++) {
        unsigned long long x = __cvta_generic_to_shared(first + step * 1024) >> 4;
        unsigned long long y = __cvta_generic_to_shared(second + step * 128) >> 4;
        x |= 8ull << 16 | 16ull << 32;
        y |= 8ull << 16 | 16ull << 32;
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, "
                     "0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "l"(x), "l"(y)
                     : "memory");
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int j = 0; j < 4; j++) {
        out[(warp * 16 + lane / 4 + j / 2 * 8) * 8 + lane % 4 * 2 + j % 2] = d[j];
    }
}
