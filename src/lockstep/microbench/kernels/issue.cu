// Register reads, sub-cores, spills: what an SM does between warps and registers.
#include "common.cuh"

// FFMA of three different registers; which ones is the compiler's choice (see the machine code).
template <int VARIANT>
INLINE void three_registers(u64 *out, float *sink, float b, Segments segments) {
  float r[24];
  UNROLL for (int i = 0; i < 24; i++) r[i] = b * threadIdx.x + i;
  SEGMENTS({
    UNROLL for (int u = 0; u < 32; u++) {
      const int d = u % 8, first = d + (VARIANT == 1 ? 0 : 1) + u / 8 * 2;
      const int second = d + 5 * (VARIANT == 2) + 8 + u / 8 * 4;
      asm volatile("fma.rn.f32 %0, %1, %2, %0;"
                   : "+f"(r[d])
                   : "f"(r[8 + first % 16]), "f"(r[8 + second % 16]));
    }
  })
  float s = 0;
  for (int i = 0; i < 24; i++) s += r[i];
  sink[threadIdx.x] = s;
}

#define THREE_REGISTERS(VARIANT)                                                      \
  extern "C" __global__ void __launch_bounds__(256) three_registers##VARIANT(         \
      u64 *out, float *sink, float b, Segments segments) {                            \
    three_registers<VARIANT>(out, sink, b, segments);                                 \
  }
THREE_REGISTERS(0) THREE_REGISTERS(1) THREE_REGISTERS(2)

// Two warps with 2048 MUFU each: a pair that shares a sub-core takes twice as long.
extern "C" __global__ void __launch_bounds__(1024) pairs(u64 *out, float *sink, float b, float c,
                                                         int first, int second) {
  float x[4] = {b, b, b, b};
  int warp = threadIdx.x / 32;
  __syncthreads();
  u64 t0 = clocks();
  if (warp == first || warp == second) {
    for (int i = 0; i < 64; i++) {
      UNROLL for (int u = 0; u < 32; u++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[u % 4]));
    }
  }
  u64 t1 = clocks();
  sink[threadIdx.x] = x[0] + x[1] + x[2] + x[3];
  if (threadIdx.x % 32 == 0) {
    out[warp * 2] = t0;
    out[warp * 2 + 1] = t1;
  }
}

// More values than the registers of a thread, which are 32.
template <int VALUES>
INLINE void spill(u64 *out, float *sink, const float *in, Segments segments) {
  float v[VALUES];
  UNROLL for (int i = 0; i < VALUES; i++) v[i] = in[i * 256 + threadIdx.x];
  SEGMENTS({
    UNROLL for (int i = 0; i < VALUES; i++)
      asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(v[i]) : "f"(v[(i + 7) % VALUES]));
  })
  float s = 0;
  UNROLL for (int i = 0; i < VALUES; i++) s += v[i];
  sink[blockIdx.x * 256 + threadIdx.x] = s;
}

#define SPILL(VALUES)                                                           \
  extern "C" __global__ void __launch_bounds__(256, 8) spill##VALUES(           \
      u64 *out, float *sink, const float *in, Segments segments) {              \
    spill<VALUES>(out, sink, in, segments);                                     \
  }
SPILL(24) SPILL(64) SPILL(96)

// An array of a thread under a computed index.
extern "C" __global__ void local_chase(u64 *out, u32 *sink, u32 n, Segments segments) {
  u32 a[64];
  for (u32 i = 0; i < 64; i++) a[i] = (i + n) % 64;
  u32 q = 0;
  SEGMENTS({ UNROLL for (int u = 0; u < 16; u++) q = a[q]; })
  sink[threadIdx.x] = q;
}
