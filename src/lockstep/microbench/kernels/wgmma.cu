// Products of matrices by a warpgroup: B in shared memory, A there or in registers. The operands
// are not swizzled: 8 x 8 blocks of 128 bytes.
#include "common.cuh"

// Lists of registers: in the text of an instruction, and as its operands.
#define TEN(t)                                                                              \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t    \
  "8, %" #t "9, "
#define TEXT_4 "%0, %1, %2, %3"
#define TEXT_32 TEN() TEN(1) TEN(2) "%30, %31"
#define TEXT_64 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60, %61, %62, %63"
#define TEXT_128                                                                            \
  TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11)      \
  "%120, %121, %122, %123, %124, %125, %126, %127"
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define D32(i) D16(i), D16(i + 16)
#define OPERANDS_4 D4(0)
#define OPERANDS_32 D32(0)
#define OPERANDS_64 D32(0), D32(32)
#define OPERANDS_128 OPERANDS_64, D32(64), D32(96)

// A product with both operands in shared memory; FLAGS are scales, and for f16 transpositions.
#define SHARED(NAME, REGISTERS, SHAPE, FLAGS, A, B)                                         \
  struct NAME {                                                                             \
    static const int registers = REGISTERS;                                                 \
    static __device__ __forceinline__ void apply(float *d, const u32 *a, u64 from, u64 b) { \
      asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" TEXT_##REGISTERS "}, " A ", " B \
                   ", " FLAGS ";"                                                           \
                   : OPERANDS_##REGISTERS                                                   \
                   : "l"(from), "l"(b));                                                    \
    }                                                                                       \
  };
#define REGISTERS(NAME, REGISTERS, SHAPE, A, B)                                             \
  struct NAME {                                                                             \
    static const int registers = REGISTERS;                                                 \
    static __device__ __forceinline__ void apply(float *d, const u32 *a, u64 from, u64 b) { \
      asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" TEXT_##REGISTERS "}, " A ", " B \
                   ", 1, 1, 1, 0;"                                                          \
                   : OPERANDS_##REGISTERS                                                   \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                   \
    }                                                                                       \
  };

namespace shape {
SHARED(n8, 4, "m64n8k16.f32.f16.f16", "1, 1, 1, 0, 0", "%4", "%5")
SHARED(n64, 32, "m64n64k16.f32.f16.f16", "1, 1, 1, 0, 0", "%32", "%33")
SHARED(n128, 64, "m64n128k16.f32.f16.f16", "1, 1, 1, 0, 0", "%64", "%65")
SHARED(n256, 128, "m64n256k16.f32.f16.f16", "1, 1, 1, 0, 0", "%128", "%129")
REGISTERS(n64_registers, 32, "m64n64k16.f32.f16.f16", "{%32, %33, %34, %35}", "%36")
REGISTERS(n128_registers, 64, "m64n128k16.f32.f16.f16", "{%64, %65, %66, %67}", "%68")
SHARED(n128_e4m3, 64, "m64n128k32.f32.e4m3.e4m3", "1, 1, 1", "%64", "%65")
SHARED(n128_tf32, 64, "m64n128k8.f32.tf32.tf32", "1, 1, 1", "%64", "%65")
}  // namespace shape

enum Beside { NOTHING, FFMA, MUFU };

// What the other warpgroups do in an iteration: 128 FFMA or 16 MUFU a warp, in two chains:
// a warp waits often enough for the products' to be chosen.
template <int KIND>
INLINE void beside(u64 *out, float *sink, u32 v, Segments segments) {
  float x[2], b[2], c[2];
  for (int k = 0; k < 2; k++) x[k] = v + k, b[k] = v - 1 - k, c[k] = v * (k + 2);
  SEGMENTS({
    UNROLL for (int u = 0; u < (KIND == FFMA ? 64 : 8); u++) {
      UNROLL for (int k = 0; k < 2; k++) {
        if (KIND == FFMA)
          asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[k]) : "f"(b[k]), "f"(c[k]));
        if (KIND == MUFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[k]));
      }
    }
  })
  sink[threadIdx.x] = x[0] + x[1];
}

// 8 products an iteration on one accumulator, GROUP of them between fence and wait.
template <class Shape, int GROUP, int KIND = NOTHING>
INLINE void products(u64 *out, float *sink, u32 v, Segments segments) {
  extern __shared__ __align__(1024) u32 words[];
  for (int i = threadIdx.x; i < 10240; i += blockDim.x) words[i] = v;
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (KIND != NOTHING && threadIdx.x >= 128) return beside<KIND>(out, sink, v, segments);
  const u64 strides = (u64)8 << 16 | (u64)16 << 32;
  u64 from = (u64)((shared_address(words) >> 4) & 0x3fff) | strides;
  u64 b = (u64)(((shared_address(words) + 8192) >> 4) & 0x3fff) | strides;
  float d[Shape::registers];
  for (int i = 0; i < Shape::registers; i++) d[i] = 0;
  u32 a[4] = {v, v, v, v};
  SEGMENTS({
    UNROLL for (int u = 0; u < 8 / GROUP; u++) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      UNROLL for (int g = 0; g < GROUP; g++) Shape::apply(d, a, from, b);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
  })
  float s = 0;
  for (int i = 0; i < Shape::registers; i++) s += d[i];
  sink[threadIdx.x] = s;
}

#define KERNELS(NAME, THREADS)                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS) NAME##_1(u64 *out, float *sink, u32 v, \
                                                                 Segments segments) {       \
    products<shape::NAME, 1>(out, sink, v, segments);                                       \
  }                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS) NAME##_8(u64 *out, float *sink, u32 v, \
                                                                 Segments segments) {       \
    products<shape::NAME, 8>(out, sink, v, segments);                                       \
  }
KERNELS(n8, 512) KERNELS(n64, 512) KERNELS(n128, 512) KERNELS(n256, 256)
KERNELS(n64_registers, 512) KERNELS(n128_registers, 512) KERNELS(n128_e4m3, 512)
KERNELS(n128_tf32, 512)

#define MIXES(NAME, KIND)                                                                     \
  extern "C" __global__ void __launch_bounds__(384) NAME(u64 *out, float *sink, u32 v,        \
                                                         Segments segments) {                 \
    products<shape::n64, 8, KIND>(out, sink, v, segments);                                    \
  }
MIXES(n64_ffma, FFMA) MIXES(n64_mufu, MUFU)
