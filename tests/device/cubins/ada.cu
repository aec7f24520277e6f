// Products of factors of eight bits, dense and sparse, of one warp.
extern "C" {

#define DENSE_F32(form)                                                                            \
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." form ".f32 {%0, %1, %2, %3}, "           \
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                   \
                 : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3)                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define DENSE_F16(form)                                                                            \
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f16." form ".f16 {%0, %1}, "                   \
                 "{%2, %3, %4, %5}, {%6, %7}, {%0, %1};"                                           \
                 : "+r"(d0), "+r"(d1)                                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define SPARSE_F32(form)                                                                           \
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32." form                \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "                   \
                 "{%0, %1, %2, %3}, %12, 0x0;"                                                     \
                 : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3)                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]),    \
                   "r"(b[3]), "r"(0x4e8d94c9))
#define KERNEL(name, sums, first, second)                                                          \
    __global__ void name(unsigned *out, const unsigned *in)                                        \
    {                                                                                              \
        const unsigned *a = in + 12 * threadIdx.x, *b = a + 4, *c = a + 8;                         \
        unsigned d0 = c[0], d1 = c[1], d2 = c[2], d3 = c[3];                                       \
        sums(first "." second);                                                                    \
        out[4 * threadIdx.x] = d0, out[4 * threadIdx.x + 1] = d1;                                  \
        out[4 * threadIdx.x + 2] = d2, out[4 * threadIdx.x + 3] = d3;                              \
    }

KERNEL(dense_f32_44, DENSE_F32, "e4m3", "e4m3")
KERNEL(dense_f32_45, DENSE_F32, "e4m3", "e5m2")
KERNEL(dense_f32_54, DENSE_F32, "e5m2", "e4m3")
KERNEL(dense_f16_45, DENSE_F16, "e4m3", "e5m2")
KERNEL(sparse_f32_44, SPARSE_F32, "e4m3", "e4m3")
KERNEL(sparse_f32_54, SPARSE_F32, "e5m2", "e4m3")
}
