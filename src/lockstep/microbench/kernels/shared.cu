// Shared memory: dependent and independent loads and stores, matrices.
#include "common.cuh"

// Words of a load by its width.
template <int WORDS>
INLINE u32 load(u32 address, u32 &sum) {
  u32 x, y, z, w;
  if (WORDS == 1) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(address));
  if (WORDS == 2) {
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(address));
    sum ^= y;
  }
  if (WORDS == 4) {
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "r"(address));
    sum ^= y ^ z ^ w;
  }
  return x;
}

// Each word holds its own address: a chain of loads. Lanes are `stride` bytes apart.
template <int WORDS>
INLINE void latency(u64 *out, u32 *sink, int stride, Segments segments) {
  __shared__ __align__(16) u32 words[4096 + 64];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = shared_address(&words[i]);
  __syncthreads();
  u32 at = shared_address(words) + (threadIdx.x % 32) * stride, sum = 0;
  SEGMENTS({ UNROLL for (int u = 0; u < 32; u++) at = load<WORDS>(at, sum); })
  sink[threadIdx.x] = at + sum;
}

#define LATENCY(WORDS, BITS)                                                              \
  extern "C" __global__ void lds##BITS(u64 *out, u32 *sink, int stride, Segments segments) { \
    latency<WORDS>(out, sink, stride, segments);                                          \
  }
LATENCY(1, 32) LATENCY(2, 64) LATENCY(4, 128)

// A store, then a load of the same word.
extern "C" __global__ void store_load(u64 *out, u32 *sink, Segments segments) {
  __shared__ u32 words[64];
  u32 at = shared_address(&words[threadIdx.x % 32]), x = 0;
  SEGMENTS({
    UNROLL for (int u = 0; u < 16; u++)
      asm volatile("st.volatile.shared.u32 [%1], %0; ld.volatile.shared.u32 %0, [%1];"
                   : "+r"(x)
                   : "r"(at));
  })
  sink[threadIdx.x] = x;
}

// 32 independent loads, or stores, of one address a lane.
template <int WORDS, bool STORE>
INLINE void throughput(u64 *out, u32 *sink, int stride, Segments segments) {
  __shared__ __align__(16) u32 words[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = i;
  __syncthreads();
  u32 at = shared_address(words) + (threadIdx.x % 32) * stride, sum = 0, unused = 0;
  SEGMENTS({
    u32 v[32];
    UNROLL for (int u = 0; u < 32; u++) {
      if (!STORE) v[u] = load<WORDS>(at, unused);
      if (STORE && WORDS == 1) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(sum));
      if (STORE && WORDS == 2)
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(sum));
      if (STORE && WORDS == 4)
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(sum));
    }
    if (!STORE) {
      UNROLL for (int u = 0; u < 32; u++) sum ^= v[u];
    }
  })
  sink[threadIdx.x] = sum;
}

#define THROUGHPUT(NAME, WORDS, STORE)                                                \
  extern "C" __global__ void __launch_bounds__(1024) NAME(u64 *out, u32 *sink, int stride, \
                                                          Segments segments) {        \
    throughput<WORDS, STORE>(out, sink, stride, segments);                            \
  }
THROUGHPUT(loads4, 1, false) THROUGHPUT(loads8, 2, false) THROUGHPUT(loads16, 4, false)
THROUGHPUT(stores4, 1, true) THROUGHPUT(stores8, 2, true) THROUGHPUT(stores16, 4, true)

#if __CUDA_ARCH__ >= 800
// ldmatrix of 1, 2 or 4 matrices; dependent through the address, or of different rows.
template <int MATRICES, bool DEPENDENT>
INLINE void matrices(u64 *out, u32 *sink, Segments segments) {
  __shared__ __align__(16) u32 words[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0;
  __syncthreads();
  u32 at = shared_address(words) + (threadIdx.x % 32) * 16, sum = 0;
  SEGMENTS({
    u32 base = at + (DEPENDENT ? 0 : (i_ & 1) * 4096);
    UNROLL for (int u = 0; u < 8; u++) {
      u32 from = DEPENDENT ? at : base + u * 512, x, y, z, w;
      if (MATRICES == 1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(from));
      if (MATRICES == 2) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(x), "=r"(y)
                     : "r"(from));
        sum ^= y;
      }
      if (MATRICES == 4) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(from));
        sum ^= y ^ z ^ w;
      }
      if (DEPENDENT) at += x;
      else sum ^= x;
    }
  })
  sink[threadIdx.x] = sum + at;
}

#define MATRICES(COUNT)                                                                     \
  extern "C" __global__ void __launch_bounds__(1024) ldmatrix##COUNT##_chain(               \
      u64 *out, u32 *sink, Segments segments) {                                             \
    matrices<COUNT, true>(out, sink, segments);                                             \
  }                                                                                         \
  extern "C" __global__ void __launch_bounds__(1024) ldmatrix##COUNT(u64 *out, u32 *sink,   \
                                                                     Segments segments) {   \
    matrices<COUNT, false>(out, sink, segments);                                            \
  }
MATRICES(1) MATRICES(2) MATRICES(4)
#endif
