// Stores, fences and atomics on global memory: latency by a warp, throughput by all.
#include "common.cuh"

enum Kind { STORE, MEMBAR_CTA, MEMBAR_GL, MEMBAR_SYS, FENCE_GPU, ADD, CAS, EXCH, FADD, RED };

template <int KIND>
INLINE void latency(u64 *out, u32 *sink, u32 *buffer, int lane_stride, Segments segments) {
  u32 x = 0, z = segments.n[0] > 1000000;
  u64 p = (u64)buffer + (threadIdx.x % 32) * lane_stride;
  SEGMENTS({
    UNROLL for (int u = 0; u < 4; u++) {
      u32 r = 0;
      float f;
      if (KIND <= FENCE_GPU)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(p + u * 4096), "r"(x + u) : "memory");
      if (KIND == MEMBAR_CTA) asm volatile("membar.cta;" ::: "memory");
      if (KIND == MEMBAR_GL) asm volatile("membar.gl;" ::: "memory");
      if (KIND == MEMBAR_SYS) asm volatile("membar.sys;" ::: "memory");
      if (KIND == FENCE_GPU) asm volatile("fence.acq_rel.gpu;" ::: "memory");
      if (KIND == ADD)
        asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(z) : "memory");
      if (KIND == CAS)
        asm volatile("atom.global.cas.b32 %0, [%1], %2, %2;" : "=r"(r) : "l"(p), "r"(z) : "memory");
      if (KIND == EXCH)
        asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(z) : "memory");
      if (KIND == FADD) {
        asm volatile("atom.global.add.f32 %0, [%1], %2;"
                     : "=f"(f)
                     : "l"(p), "f"((float)z)
                     : "memory");
        r = __float_as_uint(f);
      }
      if (KIND == RED) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(z) : "memory");
      if (KIND >= ADD && KIND <= FADD) p += r;
    }
  })
  sink[threadIdx.x] = (u32)p;
}

#define LATENCY(NAME, KIND)                                                              \
  extern "C" __global__ void NAME(u64 *out, u32 *sink, u32 *buffer, int lane_stride,     \
                                  Segments segments) {                                   \
    latency<KIND>(out, sink, buffer, lane_stride, segments);                             \
  }
LATENCY(store_global, STORE) LATENCY(store_membar_cta, MEMBAR_CTA)
LATENCY(store_membar_gl, MEMBAR_GL) LATENCY(store_membar_sys, MEMBAR_SYS)
LATENCY(store_fence_gpu, FENCE_GPU) LATENCY(atom_add, ADD) LATENCY(atom_cas, CAS)
LATENCY(atom_exch, EXCH) LATENCY(atom_fadd, FADD) LATENCY(red_add, RED)

// PATTERN 0: one word for all; 1: one word a warp; 2: lanes on one line, all warps the same line;
// 3: each warp its own line; 4: each lane its own sector.
template <bool RESULT>
INLINE void throughput(Stamp *stamps, u32 *sink, u32 *buffer, int pattern, int n, u32 one) {
  u64 t = blockIdx.x * (u64)blockDim.x + threadIdx.x, lane = t % 32, w = t / 32;
  u64 at = pattern == 0 ? 0 : pattern == 1 ? w * 32 : pattern == 2 ? lane
           : pattern == 3 ? w * 32 + lane : t * 8;
  u32 *p = buffer + at, s = 0;
  STAMP_BEGIN
  for (int i = 0; i < n; i++) {
    if (RESULT) {
      u32 r;
      asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(one) : "memory");
      s ^= r;
    } else {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(one) : "memory");
    }
  }
  if (RESULT && s == 0x12345) *sink = s;
  __threadfence();
  STAMP_END
}

extern "C" __global__ void __launch_bounds__(1024) atom(Stamp *stamps, u32 *sink, u32 *buffer,
                                                        int pattern, int n, u32 one) {
  throughput<true>(stamps, sink, buffer, pattern, n, one);
}

extern "C" __global__ void __launch_bounds__(1024) red(Stamp *stamps, u32 *sink, u32 *buffer,
                                                       int pattern, int n, u32 one) {
  throughput<false>(stamps, sink, buffer, pattern, n, one);
}

// One L2 hit at a time, by the first thread of each block: the shortest of three for each line.
extern "C" __global__ void l2_lines(u64 *out, const char *buffer, int lines, u64 stride) {
  if (threadIdx.x) return;
  u64 p = (u64)buffer, s = 0;
  u64 *mine = out + blockIdx.x * (u64)(lines + 1);
  for (int i = 0; i < lines; i++) s += __ldcg((const u64 *)(p + i * stride));
  for (int i = 0; i < lines; i++) {
    u32 best = ~0u;
    for (int r = 0; r < 3; r++) {
      u64 a = p + i * stride + (s == 1), v, t2;
      u64 t0 = clocks();
      asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(a) : "memory");
      s += v;
      asm volatile("{ .reg .u64 z; xor.b64 z, %1, %1; mov.u64 %0, %%clock64; add.u64 %0, %0, z; }"
                   : "=l"(t2)
                   : "l"(s)
                   : "memory");
      if (t2 - t0 < best) best = t2 - t0;
    }
    mine[1 + i] = best;
  }
  mine[0] = sm_id();
  if (s == 1) out[0] = 0;
}
