// Chains of loads through global memory, constants and textures, by one thread.
#include "common.cuh"

enum Kind { CA, CG, VOLATILE, NC, GENERIC, RELAXED, CA_STRONG };  // CA is the plain load, LDG.E

template <int KIND>
INLINE u64 load(u64 p) {
  u64 v;
  if (KIND == CA) asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  if (KIND == CG) asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  if (KIND == VOLATILE)
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  if (KIND == NC) asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  if (KIND == GENERIC) asm volatile("ld.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  if (KIND == RELAXED)
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  if (KIND == CA_STRONG) asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

// Pages of 2 MB are touched, `warm` hops are not timed, then twice `hops` of them are.
template <int KIND>
INLINE void chase(u64 *out, u64 *end, char *buffer, u64 bytes, int warm, int hops) {
  u64 p = (u64)buffer, s = 0;
  for (u64 i = 0; i < bytes; i += 2 << 20) s += load<CG>(p + i);
  u64 q = p + (s == 1);
  for (int i = 0; i < warm; i++) q = load<KIND>(q);
  for (int round = 0; round < 2; round++) {
    u64 t0 = clocks();
    for (int i = 0; i < hops; i += 16) {
      UNROLL for (int u = 0; u < 16; u++) q = load<KIND>(q);
    }
    end[1] = q;
    u64 t1 = clocks();
    out[round] = t1 - t0;
    out[2] = sm_id();
  }
  *end = q;
}

#define CHASE(NAME, KIND)                                                                  \
  extern "C" __global__ void NAME(u64 *out, u64 *end, char *buffer, u64 bytes, int warm,   \
                                  int hops) {                                              \
    chase<KIND>(out, end, buffer, bytes, warm, hops);                                      \
  }
CHASE(chase_ca, CA) CHASE(chase_cg, CG) CHASE(chase_volatile, VOLATILE) CHASE(chase_nc, NC)
CHASE(chase_generic, GENERIC) CHASE(chase_relaxed_gpu, RELAXED) CHASE(chase_ca_strong, CA_STRONG)

// All SMs read the data, so that each side of the L2 has it.
extern "C" __global__ void warm_l2(const char *buffer, u64 bytes, u32 *sink) {
  u32 s = 0;
  u64 step = (u64)gridDim.x * blockDim.x * 32;
  for (u64 i = (blockIdx.x * (u64)blockDim.x + threadIdx.x) * 32; i < bytes; i += step)
    s ^= __ldcg((const u32 *)(buffer + i));
  if (s == 12345) *sink = s;
}

// A warp loads its own next address, 1, 2 or 4 words a lane.
template <int WORDS>
INLINE void l1_width(u64 *out, u32 *sink, u32 *buffer, Segments segments) {
  u64 base = (u64)buffer;
  u32 a = (threadIdx.x % 32) * WORDS * 4, s = 0;
  SEGMENTS({
    UNROLL for (int u = 0; u < 16; u++) {
      u32 x, y, z, w;
      u64 p = base + a;
      if (WORDS == 1) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
      if (WORDS == 2) {
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(p) : "memory");
        s ^= y;
      }
      if (WORDS == 4) {
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "l"(p)
                     : "memory");
        s ^= y ^ z ^ w;
      }
      a = x;
    }
  })
  sink[threadIdx.x] = a + s;
}

#define WIDTH(WORDS, BITS)                                                                   \
  extern "C" __global__ void l1_width##BITS(u64 *out, u32 *sink, u32 *buffer, Segments segments) { \
    l1_width<WORDS>(out, sink, buffer, segments);                                            \
  }
WIDTH(1, 32) WIDTH(2, 64) WIDTH(4, 128)

__constant__ u32 constants[16384];

extern "C" __global__ void constant(u64 *out, u32 *sink, int warm, int hops, u32 zero) {
  u32 q = zero;
  for (int i = 0; i < warm; i++) q = constants[q];
  for (int round = 0; round < 2; round++) {
    u64 t0 = clocks();
    for (int i = 0; i < hops; i += 16) {
      UNROLL for (int u = 0; u < 16; u++) q = constants[q];
    }
    sink[1] = q;
    u64 t1 = clocks();
    out[round] = t1 - t0;
  }
  *sink = q;
}

INLINE int fetch(u64 texture, int place) {
  int x, y, z, w;
  asm volatile("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(texture), "r"(place));
  return x ^ (y & z & w & 0);
}

extern "C" __global__ void texture(u64 *out, u32 *sink, u64 texture, int warm, int hops) {
  int q = 0;
  for (int i = 0; i < warm; i++) q = fetch(texture, q);
  for (int round = 0; round < 2; round++) {
    u64 t0 = clocks();
    for (int i = 0; i < hops; i += 16) {
      UNROLL for (int u = 0; u < 16; u++) q = fetch(texture, q);
    }
    sink[1] = q;
    u64 t1 = clocks();
    out[round] = t1 - t0;
  }
  *sink = q;
}
