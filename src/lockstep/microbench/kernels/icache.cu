// Loops of N KB of straight-line FFMA, 16 bytes each, in four chains.
#include "common.cuh"

#define FOUR                                                                                  \
  "fma.rn.f32 %0, %0, %4, %5; fma.rn.f32 %1, %1, %4, %5; fma.rn.f32 %2, %2, %4, %5; "         \
  "fma.rn.f32 %3, %3, %4, %5; "
#define SIXTEEN FOUR FOUR FOUR FOUR
#define KILOBYTE                                                                              \
  asm volatile(SIXTEEN SIXTEEN SIXTEEN SIXTEEN                                                \
               : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)                                       \
               : "f"(b), "f"(c));

template <int KB>
INLINE void code(u64 *out, float *sink, float b, float c, Segments segments) {
  float x0 = b, x1 = b, x2 = b, x3 = b;
  SEGMENTS({ UNROLL for (int u = 0; u < KB; u++) { KILOBYTE } })
  sink[threadIdx.x] = x0 + x1 + x2 + x3;
}

#define CODE(KB)                                                                        \
  extern "C" __global__ void code##KB(u64 *out, float *sink, float b, float c,          \
                                      Segments segments) {                              \
    code<KB>(out, sink, b, c, segments);                                                \
  }
CODE(1) CODE(2) CODE(4) CODE(8) CODE(12) CODE(16) CODE(20) CODE(24) CODE(28) CODE(32) CODE(40)
CODE(48) CODE(64) CODE(80) CODE(96) CODE(112) CODE(128) CODE(144) CODE(160) CODE(192) CODE(256)
CODE(512)
