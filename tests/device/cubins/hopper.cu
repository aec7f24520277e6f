// Copies by the tensor memory accelerator, products of warpgroups, and what orders them.
#include <cuda.h>
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int ROWS = 128, COLUMNS = 64, DEPTH = 64, STAGES = 2, PRODUCERS = 128;

struct __align__(1024) Stages {
    __half a[STAGES][ROWS * DEPTH], b[STAGES][COLUMNS * DEPTH];
    uint64_t full[STAGES], empty[STAGES];
};

__device__ uint32_t place(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void initialise(uint64_t *barrier, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(barrier)), "r"(count) : "memory");
}

__device__ void expect(uint64_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(barrier)), "r"(bytes) : "memory");
}

__device__ void wait(uint64_t *barrier, uint32_t parity) {
    asm volatile("{.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;}" ::"r"(place(barrier)), "r"(parity) : "memory");
}

__device__ void load_tile(void *to, const CUtensorMap *map, int x, int y, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(place(to)), "l"(map), "r"(x), "r"(y), "r"(place(barrier)) : "memory");
}

// A factor whose lines of 128 bytes are swizzled by as many.
__device__ uint64_t descriptor(const void *p) {
    return (place(p) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void multiply(float *d, uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b));
}

// c (f32) = a times b transposed (f16): one warpgroup fetches tiles, two multiply them.
extern "C" __global__ void __launch_bounds__(384, 1)
product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int width, int depth) {
    extern __shared__ __align__(1024) char raw[];
    Stages &s = *(Stages *)raw;
    int group = threadIdx.x / 128 - 1, row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) initialise(&s.full[i], 1), initialise(&s.empty[i], 2);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x < PRODUCERS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        uint32_t elected = 0;
        if (threadIdx.x < 32) asm volatile("{.reg .pred p; elect.sync _|p, -1; selp.u32 %0, 1, 0, p;}" : "=r"(elected));
        if (!elected) return;
        for (int k = 0, stage = 0, phase = 0; k < depth / DEPTH; k++) {
            wait(&s.empty[stage], phase ^ 1);
            expect(&s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
            load_tile(s.a[stage], &a, k * DEPTH, row, &s.full[stage]);
            load_tile(s.b[stage], &b, k * DEPTH, column, &s.full[stage]);
            if (++stage == STAGES) stage = 0, phase ^= 1;
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[32] = {};
    for (int k = 0, stage = 0, phase = 0; k < depth / DEPTH; k++) {
        wait(&s.full[stage], phase);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int part = 0; part < DEPTH / 16; part++)
            multiply(d, descriptor(s.a[stage] + group * 64 * DEPTH) + 2 * part, descriptor(s.b[stage]) + 2 * part);
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (threadIdx.x % 128 == 0)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(&s.empty[stage])) : "memory");
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
    int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    for (int i = 0; i < 32; i++)
        c[(row + group * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8) * width + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// One bulk copy in, a sum, one bulk copy out.
extern "C" __global__ void there_and_back(const int *in, int *out) {
    __shared__ __align__(128) int tile[256];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        initialise(&barrier, 1);
        expect(&barrier, sizeof tile);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(place(tile)), "l"(in), "r"((int)sizeof tile), "r"(place(&barrier)) : "memory");
    }
    __syncthreads();
    wait(&barrier, 0);
    tile[threadIdx.x] += threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
                     ::"l"(out), "r"(place(tile)), "r"((int)sizeof tile) : "memory");
}

// Every lane copies its own 16 to 512 bytes; all wait for those of all.
extern "C" __global__ void each_lane(const int *in, int *out) {
    __shared__ __align__(128) int tile[32][128];
    __shared__ uint64_t barrier;
    for (int i = threadIdx.x; i < 32 * 128; i += 32) tile[i / 128][i % 128] = -1;
    if (threadIdx.x == 0) initialise(&barrier, 32);
    __syncwarp();
    int bytes = 16 * (threadIdx.x + 1);
    expect(&barrier, bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(place(tile[threadIdx.x])), "l"(in + 128 * threadIdx.x), "r"(bytes), "r"(place(&barrier)) : "memory");
    wait(&barrier, 0);
    for (int i = 0; i < 32; i++)
        for (int k = threadIdx.x; k < 128; k += 32) out[128 * i + k] = tile[i][k];
}

template <typename T> __device__ uint32_t fetch(T *tile, const T *in) {
    for (int i = threadIdx.x; i < 512 / sizeof(T); i += 32) tile[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    return place(tile);
}

#define REDUCE(name, type, operation)                                                                       \
    extern "C" __global__ void name(const type *in, type *out) {                                            \
        __shared__ __align__(128) type tile[512 / sizeof(type)];                                            \
        uint32_t from = fetch(tile, in);                                                                    \
        if (threadIdx.x == 0)                                                                               \
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], 512;\n" \
                         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(out), "r"(from) : "memory"); \
    }

REDUCE(add_f32, float, "add.f32")
REDUCE(add_f64, double, "add.f64")
REDUCE(add_f16, __half, "add.noftz.f16")
REDUCE(min_s64, long long, "min.s64")
REDUCE(max_u32, unsigned, "max.u32")
REDUCE(xor_b32, unsigned, "xor.b32")
REDUCE(or_b64, unsigned long long, "or.b64")
REDUCE(inc_u32, unsigned, "inc.u32")
