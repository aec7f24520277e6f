// C = A B on tensor cores by PTX instructions of sm_80: bfloat16 in, single precision out. Tiles
// travel to shared memory by cp.async, the next one while this one is multiplied. A block of four
// warps makes 64 x 64 values of C, each warp 32 x 32. The edge is a multiple of 64.

#define BLOCK 128
#define TILE 64  // edge of a block's part of C
#define DEPTH 32 // columns of A and rows of B in a tile
#define PITCH_A (DEPTH + 8)
#define PITCH_B (TILE + 8) // both keep rows of 16 bytes in different banks

typedef unsigned short bfloat16; // as bits

struct Tiles {
    bfloat16 a[TILE][PITCH_A], b[DEPTH][PITCH_B];
};

// 16 bytes from global to shared memory.
__device__ void copy_async(void *to, const void *from) {
    unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
}

__device__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until at most PENDING groups are on their way.
template <int PENDING> __device__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// Four 8 x 8 matrices: lane i names row i % 8 of matrix i / 8.
__device__ void load_matrices(unsigned (&to)[4], const void *row) {
    unsigned shared = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared));
}

// Two 8 x 8 matrices, transposed.
__device__ void load_transposed(unsigned (&to)[2], const void *row) {
    unsigned shared = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(shared));
}

__device__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Begin to copy both tiles from column (of A) and row (of B) k on.
__device__ void fetch(Tiles &tiles, int n, int k, const bfloat16 *a, const bfloat16 *b) {
    for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += BLOCK) {
        int row = i / (DEPTH / 8), column = i % (DEPTH / 8) * 8;
        copy_async(&tiles.a[row][column], a + (blockIdx.y * TILE + row) * n + k + column);
    }
    for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += BLOCK) {
        int row = i / (TILE / 8), column = i % (TILE / 8) * 8;
        copy_async(&tiles.b[row][column], b + (k + row) * n + blockIdx.x * TILE + column);
    }
    commit_copies();
}

__device__ void multiply(float (&sum)[2][4][4], const Tiles &tiles, int row, int column) {
    int lane = threadIdx.x % warpSize;
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        unsigned a[2][4], b[4][2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            load_matrices(a[i], &tiles.a[row + i * 16 + lane % 16][k + lane / 16 * 8]);
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            load_transposed(b[j], &tiles.b[k + lane % 16][column + j * 8]);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                mma_m16n8k16(sum[i][j], a[i], b[j]);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    gemm_mma(int n, const bfloat16 *__restrict__ a, const bfloat16 *__restrict__ b,
             float *__restrict__ c) {
    __shared__ __align__(16) Tiles tiles[2];
    int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
    int row = warp / 2 * 32, column = warp % 2 * 32; // of this warp's part in the block's
    float sum[2][4][4] = {};
    fetch(tiles[0], n, 0, a, b);
    for (int k = 0, now = 0; k < n; k += DEPTH, now ^= 1) {
        if (k + DEPTH < n) {
            fetch(tiles[now ^ 1], n, k + DEPTH, a, b);
            wait_for_copies<1>();
        } else {
            wait_for_copies<0>();
        }
        __syncthreads();
        multiply(sum, tiles[now], row, column);
        __syncthreads();
    }
    row += blockIdx.y * TILE + lane / 4;
    column += blockIdx.x * TILE + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 *to = (float2 *)(c + (row + i * 16) * n + column + j * 8);
            to[0] = make_float2(sum[i][j][0], sum[i][j][1]);
            to[4 * n] = make_float2(sum[i][j][2], sum[i][j][3]); // eight rows down
        }
    }
}
