// What all kernels of the suite share: types, clocks, and the segments that are timed.
#pragma once

typedef unsigned long long u64;
typedef unsigned int u32;

#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")

INLINE u64 clocks() {
  u64 now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

INLINE u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

INLINE u32 sm_id() {
  u32 id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

INLINE u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// A kernel runs its loop for n[0] iterations (which warm code and data), n[1] and n[2]. The first
// lane of each warp leaves the clock at both ends of each segment: out[(warp * 3 + segment) * 2].
// (span of n[2] - span of n[1]) / (n[2] - n[1]) is free of all that an iteration does not do.
struct Segments {
  int n[3];
};

#define SEGMENTS(...)                                           \
  for (int segment = 0; segment < 3; segment++) {               \
    __syncthreads();                                            \
    u64 began = clocks();                                       \
    int iterations = segments.n[segment];                       \
    _Pragma("unroll 1") for (int i_ = 0; i_ < iterations; i_++) { \
      __VA_ARGS__                                               \
    }                                                           \
    u64 ended = clocks();                                       \
    if (threadIdx.x % 32 == 0) {                                \
      u64 *mine = out + ((threadIdx.x / 32) * 3 + segment) * 2; \
      mine[0] = began;                                          \
      mine[1] = ended;                                          \
    }                                                           \
  }

// What a block leaves of a launch that is timed as a whole.
struct Stamp {
  u64 began_ns, ended_ns, began, ended, sm;
};

#define STAMP_BEGIN                  \
  u64 began_ns = 0, began = 0;       \
  __syncthreads();                   \
  if (threadIdx.x == 0) {            \
    began_ns = nanoseconds();        \
    began = clocks();                \
  }

#define STAMP_END                                                              \
  __syncthreads();                                                             \
  if (threadIdx.x == 0) {                                                      \
    u64 ended = clocks(), ended_ns = nanoseconds();                            \
    stamps[blockIdx.x] = Stamp{began_ns, ended_ns, began, ended, (u64)sm_id()}; \
  }
