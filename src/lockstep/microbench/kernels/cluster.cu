// Clusters: their barrier, and the shared memory of other CTAs.
#include "common.cuh"

#define MEET asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");

template <bool RELAXED>
INLINE void cluster_barrier(u64 *out, Segments segments) {
  bool first = blockIdx.x == 0;
  for (int segment = 0; segment < 3; segment++) {
    MEET
    u64 t0 = clocks();
    for (int i = 0; i < segments.n[segment]; i++) {
      UNROLL for (int u = 0; u < 8; u++) {
        if (RELAXED)
          asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" :::
                       "memory");
        else MEET
      }
    }
    u64 t1 = clocks();
    if (first && threadIdx.x % 32 == 0) {
      u64 *mine = out + ((threadIdx.x / 32) * 3 + segment) * 2;
      mine[0] = t0;
      mine[1] = t1;
    }
  }
}

extern "C" __global__ void cluster_barrier(u64 *out, u32 *sink, Segments segments) {
  cluster_barrier<false>(out, segments);
}

extern "C" __global__ void cluster_barrier_relaxed(u64 *out, u32 *sink, Segments segments) {
  cluster_barrier<true>(out, segments);
}

// Rank 0 (or all) uses the memory of the rank that is `peer` further.
enum Kind { CHAIN, LOADS, STORES, ATOMICS };

template <int KIND>
INLINE void remote(u64 *out, u32 *sink, int peer, int all, Segments segments) {
  __shared__ __align__(16) u32 words[4096 + 64];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 0;
  u32 rank, size, at, x = 0;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  u32 target = (rank + peer) % size;
  const int each = KIND == LOADS || KIND == STORES ? 4 : 1;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"(shared_address(&words[threadIdx.x % 1024 * each])), "r"(target));
  MEET
  if (all || rank == 0) {
    SEGMENTS({
      UNROLL for (int u = 0; u < 8; u++) {
        u32 r, y, z, w;
        if (KIND == CHAIN) {
          asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r) : "r"(at) : "memory");
          at += r;
        }
        if (KIND == LOADS) {
          asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(r), "=r"(y), "=r"(z), "=r"(w)
                       : "r"(at + (u32)(u * 16 + (i_ & 1) * 128))
                       : "memory");
          x ^= r ^ y ^ z ^ w;
        }
        if (KIND == STORES)
          asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(x)
                       : "memory");
        if (KIND == ATOMICS) {
          asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;"
                       : "=r"(r)
                       : "r"(at), "r"(x)
                       : "memory");
          at += r;
        }
      }
    })
  }
  MEET
  if (rank == 0) sink[threadIdx.x] = x + at;
}

#define REMOTE(NAME, KIND)                                                              \
  extern "C" __global__ void __launch_bounds__(1024) NAME(u64 *out, u32 *sink, int peer, int all, \
                                                          Segments segments) {          \
    remote<KIND>(out, sink, peer, all, segments);                                       \
  }
REMOTE(dsm_chain, CHAIN) REMOTE(dsm_loads, LOADS) REMOTE(dsm_stores, STORES)
REMOTE(dsm_atomics, ATOMICS)
