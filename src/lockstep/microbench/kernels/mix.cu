// Two kinds of operations side by side, 64 of each in an iteration, in four chains each.
#include "common.cuh"

enum Kind { FFMA_ALONE, FFMA_IMAD, FFMA_LDS, FFMA_MUFU, FFMA_LOP3, FFMA_DFMA, LOP3_IMAD };

template <int KIND>
INLINE void mix(u64 *out, float *sink, float b, float c, u32 m, Segments segments) {
  __shared__ u32 words[1024];
  words[threadIdx.x] = m + threadIdx.x;
  __syncthreads();
  u32 at = shared_address(&words[threadIdx.x]);
  float x[4] = {b, b + 1, b + 2, b + 3};
  u32 y[4] = {m, m + 1, m + 2, m + 3};
  double d[4] = {b, b, b, b}, db = b, dc = c;
  SEGMENTS({
    UNROLL for (int u = 0; u < 16; u++) {
      UNROLL for (int k = 0; k < 4; k++) {
        if (KIND != LOP3_IMAD)
          asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[k]) : "f"(b), "f"(c));
        if (KIND == FFMA_IMAD || KIND == LOP3_IMAD)
          asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(y[k]) : "r"(m), "r"(at));
        if (KIND == FFMA_LDS) {
          u32 v;
          asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
          y[k] = v;
        }
        if (KIND == FFMA_MUFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(*(float *)&y[k]));
        if (KIND == FFMA_LOP3 || KIND == LOP3_IMAD)
          asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;"
                       : "+r"(y[k ^ (KIND == LOP3_IMAD ? 1 : 0)])
                       : "r"(m), "r"(at));
        if (KIND == FFMA_DFMA)
          asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(d[k]) : "d"(db), "d"(dc));
      }
    }
  })
  float r = 0;
  for (int k = 0; k < 4; k++) r += x[k] + y[k] + (float)d[k];
  sink[threadIdx.x] = r;
}

#define MIX(NAME, KIND)                                                                        \
  extern "C" __global__ void __launch_bounds__(1024) NAME(u64 *out, float *sink, float b, float c, \
                                                          u32 m, Segments segments) {          \
    mix<KIND>(out, sink, b, c, m, segments);                                                   \
  }
MIX(ffma_alone, FFMA_ALONE) MIX(ffma_imad, FFMA_IMAD) MIX(ffma_lds, FFMA_LDS)
MIX(ffma_mufu, FFMA_MUFU) MIX(ffma_lop3, FFMA_LOP3) MIX(ffma_dfma, FFMA_DFMA)
MIX(lop3_imad, LOP3_IMAD)
