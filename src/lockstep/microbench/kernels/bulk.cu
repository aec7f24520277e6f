// Bulk copies by one thread, and mbarriers.
#include "mbarrier.cuh"

// Each thread of the block arrives and waits, or one alone does.
template <bool ALL>
INLINE void arrivals(u64 *out, u32 *sink, Segments segments) {
  __shared__ u64 barrier;
  u32 at = shared_address(&barrier), phase = 0;
  if (threadIdx.x == 0) mbarrier_init(at, ALL ? blockDim.x : 1);
  __syncthreads();
  SEGMENTS({
    UNROLL for (int u = 0; u < 4; u++) {
      if (ALL || threadIdx.x == 0)
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
      mbarrier_wait(at, phase);
      if (ALL) __syncwarp();
      phase ^= 1;
    }
  })
  sink[threadIdx.x] = phase;
}

extern "C" __global__ void __launch_bounds__(1024) mbarrier_all(u64 *out, u32 *sink,
                                                                Segments segments) {
  arrivals<true>(out, sink, segments);
}

extern "C" __global__ void __launch_bounds__(1024) mbarrier_one(u64 *out, u32 *sink,
                                                                Segments segments) {
  arrivals<false>(out, sink, segments);
}

// `stages` copies of `chunk` bytes, then a wait for all; wraps in `span` bytes of each block.
template <bool STORE>
INLINE void copies(u64 *out, u32 *sink, const char *buffer, int chunk, int stages, u64 span,
                   Segments segments) {
  extern __shared__ __align__(128) char bytes[];
  __shared__ u64 barrier;
  u32 m = shared_address(&barrier), phase = 0, first = shared_address(bytes);
  u64 at = 0;
  const char *mine = buffer + blockIdx.x * span;
  if (threadIdx.x == 0) mbarrier_init(m, 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  SEGMENTS({
    if (STORE) {
      if (threadIdx.x == 0) {
        for (int k = 0; k < stages; k++) {
          asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(mine + at),
                       "r"(first + k * chunk), "r"(chunk)
                       : "memory");
          at = (at + chunk) & (span - 1);
        }
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
      }
    } else {
      if (threadIdx.x == 0) {
        asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(m),
                     "r"(chunk * stages)
                     : "memory");
        for (int k = 0; k < stages; k++) {
          asm volatile(
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
              "[%3];" ::"r"(first + k * chunk),
              "l"(mine + at), "r"(chunk), "r"(m)
              : "memory");
          at = (at + chunk) & (span - 1);
        }
      }
      mbarrier_wait(m, phase);
      __syncwarp();
      phase ^= 1;
    }
  })
  sink[threadIdx.x] = bytes[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(1024) bulk(u64 *out, u32 *sink, const char *buffer,
                                                        int chunk, int stages, u64 span,
                                                        Segments segments) {
  copies<false>(out, sink, buffer, chunk, stages, span, segments);
}

extern "C" __global__ void __launch_bounds__(1024) bulk_store(u64 *out, u32 *sink,
                                                              const char *buffer, int chunk,
                                                              int stages, u64 span,
                                                              Segments segments) {
  copies<true>(out, sink, buffer, chunk, stages, span, segments);
}
