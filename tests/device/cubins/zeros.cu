// Asynchronous copies of which lanes copy a part, or nothing: the rest of 4, 8 or 16 bytes is zeros.

enum How { BYTES, WHOLE_OR_NOTHING, IGNORED, GUARDED };

template <int SIZE, int HOW>
__device__ __forceinline__ void copies(const char *in, const int *asked, char *out) {
    __shared__ __align__(16) char kept[32 * SIZE];
    int t = threadIdx.x, n = asked[t];
    char *mine = kept + t * SIZE;
    for (int k = 0; k < SIZE; k++) mine[k] = -1;
    unsigned to = (unsigned)__cvta_generic_to_shared(mine);
    const char *from = in + t * SIZE;
    if (HOW == BYTES)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(SIZE),
                     "r"(n)
                     : "memory");
    if (HOW == WHOLE_OR_NOTHING)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(SIZE),
                     "r"(n ? SIZE : 0)
                     : "memory");
    if (HOW == IGNORED)
        asm volatile("{ .reg .pred p; setp.eq.s32 p, %3, 0;\n"
                     "cp.async.ca.shared.global [%0], [%1], %2, p; }" ::"r"(to),
                     "l"(from), "n"(SIZE), "r"(n)
                     : "memory");
    if (HOW == GUARDED && n)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(SIZE)
                     : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int k = 0; k < SIZE; k++) out[t * SIZE + k] = mine[k];
}

#define COPIES(NAME, SIZE, HOW)                                                       \
    extern "C" __global__ void NAME(const char *in, const int *asked, char *out) {    \
        copies<SIZE, HOW>(in, asked, out);                                            \
    }
COPIES(bytes_4, 4, BYTES) COPIES(bytes_8, 8, BYTES) COPIES(bytes_16, 16, BYTES)
COPIES(whole_4, 4, WHOLE_OR_NOTHING) COPIES(whole_8, 8, WHOLE_OR_NOTHING)
COPIES(whole_16, 16, WHOLE_OR_NOTHING)
COPIES(ignored_4, 4, IGNORED) COPIES(ignored_8, 8, IGNORED) COPIES(ignored_16, 16, IGNORED)
COPIES(guarded_4, 4, GUARDED) COPIES(guarded_8, 8, GUARDED) COPIES(guarded_16, 16, GUARDED)
