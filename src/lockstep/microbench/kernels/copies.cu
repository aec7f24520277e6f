// Copies to shared memory by all threads: asynchronous ones of 16 and 4 bytes, loads and stores.
#include "common.cuh"

enum Kind { ASYNC_16, ASYNC_4, LOAD_STORE };

template <int KIND>
INLINE void copies(u64 *out, u32 *sink, const char *buffer, int chunk, int stages, u64 span,
                   Segments segments) {
  extern __shared__ __align__(128) char bytes[];
  u32 first = shared_address(bytes);
  u64 at = 0;
  const char *mine = buffer + blockIdx.x * span;
  const int each = KIND == ASYNC_4 ? 4 : 16;
  __syncthreads();
  SEGMENTS({
    for (int k = 0; k < stages; k++) {
      for (int i = threadIdx.x * each; i < chunk; i += blockDim.x * each) {
        if (KIND == ASYNC_16)
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(first + k * chunk + i),
                       "l"(mine + at + i)
                       : "memory");
        if (KIND == ASYNC_4)
          asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(first + k * chunk + i),
                       "l"(mine + at + i)
                       : "memory");
        if (KIND == LOAD_STORE)
          *(uint4 *)(bytes + k * chunk + i) = __ldcg((const uint4 *)(mine + at + i));
      }
      at = (at + chunk) & (span - 1);
    }
    if (KIND == LOAD_STORE) __syncthreads();
    else asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
  })
  sink[threadIdx.x] = bytes[threadIdx.x];
}

#define COPIES(NAME, KIND)                                                                 \
  extern "C" __global__ void __launch_bounds__(1024) NAME(u64 *out, u32 *sink,             \
                                                          const char *buffer, int chunk,   \
                                                          int stages, u64 span,            \
                                                          Segments segments) {             \
    copies<KIND>(out, sink, buffer, chunk, stages, span, segments);                        \
  }
COPIES(cp_async16, ASYNC_16) COPIES(cp_async4, ASYNC_4) COPIES(ldg_sts, LOAD_STORE)
