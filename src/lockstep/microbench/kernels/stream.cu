// Bandwidth: the L1 by one block, the L2 and the DRAM by all.
#include "common.cuh"

// 32 loads of WORDS words, 128 bytes apart; lanes `stride` bytes apart, at random if negative.
template <int WORDS>
INLINE void l1(u64 *out, u32 *sink, const char *buffer, int stride, int misalign, int warp_stride,
               Segments segments) {
  u32 s = 0;
  u64 p = (u64)buffer + (threadIdx.x % 32) * stride + misalign + (threadIdx.x / 32) * warp_stride;
  if (stride < 0) p = (u64)buffer + ((threadIdx.x * 2654435761u >> 8) % 1024) * 4 * WORDS;
  SEGMENTS({
    u64 q = p + (i_ & 1) * 16384;
    UNROLL for (int g = 0; g < 4; g++) {
      u32 v[8], y[8] = {}, z[8] = {}, w[8] = {};
      UNROLL for (int u = 0; u < 8; u++) {
        const u64 at = q + (g * 8 + u) * 128;
        if (WORDS == 1) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[u]) : "l"(at) : "memory");
        if (WORDS == 2)
          asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                       : "=r"(v[u]), "=r"(y[u])
                       : "l"(at)
                       : "memory");
        if (WORDS == 4)
          asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(v[u]), "=r"(y[u]), "=r"(z[u]), "=r"(w[u])
                       : "l"(at)
                       : "memory");
      }
      UNROLL for (int u = 0; u < 8; u++) s ^= v[u] ^ y[u] ^ z[u] ^ w[u];
    }
  })
  sink[threadIdx.x] = s;
}

#define L1(WORDS)                                                                          \
  extern "C" __global__ void __launch_bounds__(1024) l1_##WORDS(                           \
      u64 *out, u32 *sink, const char *buffer, int stride, int misalign, int warp_stride,  \
      Segments segments) {                                                                 \
    l1<WORDS>(out, sink, buffer, stride, misalign, warp_stride, segments);                 \
  }
L1(1) L1(2) L1(4)

INLINE u32 fold(u32 v) { return v; }
INLINE u32 fold(uint2 v) { return v.x ^ v.y; }
INLINE u32 fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
INLINE void spread(u32 x, u32 &v) { v = x; }
INLINE void spread(u32 x, uint2 &v) { v = make_uint2(x, x); }
INLINE void spread(u32 x, uint4 &v) { v = make_uint4(x, x, x, x); }

template <class V>
INLINE V make(u32 x) {
  V v;
  spread(x, v);
  return v;
}

enum Mode { READ, WRITE, COPY, TRIAD };

// Vectors at a grid's stride, 8 at a time, past the L1; `passes` times over `n` of them.
template <class V, int MODE>
INLINE void stream(Stamp *stamps, u32 *sink, const V *a, V *b, const V *c, u64 n, int passes) {
  u32 s = 0;
  u64 step = (u64)gridDim.x * blockDim.x, first = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  STAMP_BEGIN
  for (int k = 0; k < passes; k++) {
    u64 i = first;
    for (; i + 7 * step < n; i += 8 * step) {
      V v[8], w[8];
      if (MODE != WRITE) {
        UNROLL for (int u = 0; u < 8; u++) v[u] = __ldcg(a + i + u * step);
      }
      if (MODE == TRIAD) {
        UNROLL for (int u = 0; u < 8; u++) w[u] = __ldcg(c + i + u * step);
      }
      UNROLL for (int u = 0; u < 8; u++) {
        V *to = b + i + u * step;
        if (MODE == READ) s ^= fold(v[u]);
        if (MODE == WRITE) __stcg(to, make<V>((u32)i));
        if (MODE == COPY) __stcg(to, v[u]);
        if (MODE == TRIAD) __stcg(to, make<V>(fold(v[u]) * 3 + fold(w[u])));
      }
    }
    for (; i < n; i += step) {
      if (MODE == READ) s ^= fold(__ldcg(a + i));
      if (MODE == WRITE) __stcg(b + i, make<V>(1));
      if (MODE == COPY) __stcg(b + i, __ldcg(a + i));
      if (MODE == TRIAD) __stcg(b + i, make<V>(fold(__ldcg(a + i)) + fold(__ldcg(c + i))));
    }
  }
  STAMP_END
  if (s == 0x12345) *sink = s;
}

#define STREAM(NAME, MODE, BITS, V)                                                            \
  extern "C" __global__ void __launch_bounds__(1024) NAME##BITS(                               \
      Stamp *stamps, u32 *sink, const V *a, V *b, const V *c, u64 n, int passes) {             \
    stream<V, MODE>(stamps, sink, a, b, c, n, passes);                                         \
  }
STREAM(read, READ, 32, u32) STREAM(read, READ, 64, uint2) STREAM(read, READ, 128, uint4)
STREAM(write, WRITE, 32, u32) STREAM(write, WRITE, 128, uint4)
STREAM(copy, COPY, 32, u32) STREAM(copy, COPY, 128, uint4)
STREAM(triad, TRIAD, 32, u32) STREAM(triad, TRIAD, 128, uint4)

// BYTES at random (a hash of a counter) or at a stride, 16 by each lane, 4 in flight a thread.
template <int BYTES>
INLINE void sectors(Stamp *stamps, u32 *sink, const char *a, u64 mask, u64 stride, int per) {
  const int LANES = BYTES / 16;
  u32 s = 0;
  u64 t = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  u64 step = (u64)gridDim.x * blockDim.x / LANES;
  STAMP_BEGIN
  for (int k = 0; k < per; k += 4) {
    uint4 v[4];
    UNROLL for (int u = 0; u < 4; u++) {
      u64 j = t / LANES + (k + u) * step, at;
      if (stride) {
        at = j * stride & mask;
      } else {
        u64 h = j * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
        h *= 0xbf58476d1ce4e5b9ull;
        h ^= h >> 32;
        at = h & mask & ~(u64)(BYTES - 1);
      }
      v[u] = __ldcg((const uint4 *)(a + at) + t % LANES);
    }
    UNROLL for (int u = 0; u < 4; u++) s ^= fold(v[u]);
  }
  STAMP_END
  if (s == 0x12345) *sink = s;
}

#define SECTORS(BYTES)                                                                      \
  extern "C" __global__ void __launch_bounds__(1024) sectors##BYTES(                        \
      Stamp *stamps, u32 *sink, const char *a, u64 mask, u64 stride, int per) {             \
    sectors<BYTES>(stamps, sink, a, mask, stride, per);                                     \
  }
SECTORS(32) SECTORS(64)

// K loads of a thread in flight, then their uses; lanes SPREAD bytes apart, new lines each round.
template <int K, int SPREAD>
INLINE void in_flight(u64 *out, u32 *sink, const char *buffer, u64 span, int rounds) {
  u32 s = 0;
  u64 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    const char *p =
        buffer + ((u64)r * K * 1024 * SPREAD & (span - 1)) + (warp * 32 + lane) * SPREAD;
    u32 v[K];
    __syncthreads();
    u64 t0 = clocks();
    UNROLL for (int k = 0; k < K; k++)
      asm volatile("ld.global.cg.u32 %0, [%1];"
                   : "=r"(v[k])
                   : "l"(p + k * 1024 * SPREAD)
                   : "memory");
    UNROLL for (int k = 0; k < K; k++) s ^= v[k];
    asm volatile("" : "+r"(s));
    if (s == 0x12345) *sink = s;
    u64 t1 = clocks();
    __syncthreads();
    out[(threadIdx.x / 32) * 64 + r] = t0;
    out[(threadIdx.x / 32) * 64 + 32 + r] = t1;
  }
}

#define IN_FLIGHT(K, SPREAD)                                                                \
  extern "C" __global__ void __launch_bounds__(1024) loads##K##_##SPREAD(                   \
      u64 *out, u32 *sink, const char *buffer, u64 span, int rounds) {                      \
    in_flight<K, SPREAD>(out, sink, buffer, span, rounds);                                  \
  }
IN_FLIGHT(1, 4) IN_FLIGHT(2, 4) IN_FLIGHT(4, 4) IN_FLIGHT(8, 4) IN_FLIGHT(16, 4) IN_FLIGHT(32, 4)
IN_FLIGHT(1, 32) IN_FLIGHT(4, 32) IN_FLIGHT(16, 32)
