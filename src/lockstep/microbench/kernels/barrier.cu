// Barriers of a CTA and of the grid, sleep, and branches.
#include "common.cuh"

enum Kind { SYNC, NAMED, PAIR, WARP, COUNT };

template <int KIND>
INLINE void barrier(u64 *out, u32 *sink, Segments segments) {
  u32 x = 0;
  int n = blockDim.x;
  SEGMENTS({
    UNROLL for (int u = 0; u < 8; u++) {
      if (KIND == SYNC) asm volatile("bar.sync 0;" ::: "memory");
      if (KIND == NAMED) asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");
      if (KIND == WARP) asm volatile("bar.warp.sync -1;" ::: "memory");
      if (KIND == COUNT) x += __syncthreads_count(x == u);
      if (KIND == PAIR) {
        if (threadIdx.x < n / 2) {
          asm volatile("bar.arrive 1, %0;" ::"r"(n) : "memory");
          asm volatile("bar.sync 2, %0;" ::"r"(n) : "memory");
        } else {
          asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");
          asm volatile("bar.arrive 2, %0;" ::"r"(n) : "memory");
        }
      }
    }
  })
  sink[threadIdx.x] = x;
}

#define BARRIER(NAME, KIND)                                                              \
  extern "C" __global__ void __launch_bounds__(1024) NAME(u64 *out, u32 *sink, Segments segments) { \
    barrier<KIND>(out, sink, segments);                                                  \
  }
BARRIER(bar_sync, SYNC) BARRIER(bar_named, NAMED) BARRIER(bar_arrive_sync_pair, PAIR)
BARRIER(syncwarp, WARP) BARRIER(syncthreads_count, COUNT)

extern "C" __global__ void sleep_ns(u64 *out, u32 *sink, u32 ns, Segments segments) {
  SEGMENTS({ asm volatile("nanosleep.u32 %0;" ::"r"(ns)); })
  sink[threadIdx.x] = 0;
}

// Bodies of 24 dependent FFMA, so long that the compiler keeps the branch.
#define SIX                                                                             \
  "fma.rn.f32 %0, %0, %0, %1; fma.rn.f32 %0, %0, %1, %0; fma.rn.f32 %0, %0, %0, %1; "   \
  "fma.rn.f32 %0, %0, %1, %0; fma.rn.f32 %0, %0, %0, %1; fma.rn.f32 %0, %0, %1, %0;"
#define BODY asm volatile(SIX SIX SIX SIX : "+f"(x) : "f"(b));
#define LONGER asm volatile("mul.rn.f32 %0, %0, %1;" SIX SIX SIX SIX : "+f"(x) : "f"(b));
#define ADD asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(b));

enum Branch { TAKEN, NOT_TAKEN, DIVERGENT, ALONE, PREDICATED, CALL, SWITCH, HALF };

static __device__ __noinline__ float callee(float x, float b) {
  asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(x) : "f"(b));
  return x;
}

template <int KIND>
INLINE void branch(u64 *out, u32 *sink, float b, u32 zero, Segments segments) {
  float x = threadIdx.x + b;
  u32 lane = threadIdx.x % 32;
  SEGMENTS({
    UNROLL for (int u = 0; u < 8; u++) {
      u32 condition = zero + (i_ < 0);
      if (KIND == TAKEN) {
        if (condition) { BODY }
        ADD
      }
      if (KIND == NOT_TAKEN) {
        if (!condition) { BODY }
        ADD
      }
      if (KIND == DIVERGENT) {
        if ((lane ^ u) & 1) { BODY }
        else { LONGER }
      }
      if (KIND == ALONE) { BODY ADD }
      if (KIND == PREDICATED)
        asm volatile("{ .reg .pred p; setp.eq.f32 p, %0, %1; @p add.rn.f32 %0, %0, %1; "
                     "@!p mul.rn.f32 %0, %0, %1; }"
                     : "+f"(x)
                     : "f"(b));
      if (KIND == CALL) x = callee(x, b);
      if (KIND == SWITCH) {
        switch ((zero + u + i_) & 3) {
          case 0: BODY break;
          case 1: LONGER break;
          case 2: BODY LONGER break;
          default: LONGER BODY
        }
      }
      if (KIND == HALF) {
        if (lane < 16) { BODY }
        ADD
      }
    }
  })
  sink[threadIdx.x] = x;
}

#define BRANCH(NAME, KIND)                                                              \
  extern "C" __global__ void __launch_bounds__(1024) NAME(u64 *out, u32 *sink, float b, \
                                                          u32 zero, Segments segments) { \
    branch<KIND>(out, sink, b, zero, segments);                                         \
  }
BRANCH(taken, TAKEN) BRANCH(not_taken, NOT_TAKEN) BRANCH(divergent, DIVERGENT)
BRANCH(body_alone, ALONE) BRANCH(predicated, PREDICATED) BRANCH(call_ret, CALL)
BRANCH(switch4, SWITCH) BRANCH(half_lanes, HALF)

// A loop of one dependent IADD3: what a backward branch costs.
extern "C" __global__ void loop_of_one(u64 *out, u32 *sink, u32 b, Segments segments) {
  u32 x = b;
  SEGMENTS({ asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(b)); })
  sink[threadIdx.x] = x;
}

// A barrier of the grid: a thread of each block counts up and waits until all have.
INLINE void grid_barrier(u32 *count, u32 blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    u32 target = (atomicAdd(count, 1) / blocks + 1) * blocks, seen;
    do {
      asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
    } while ((int)(seen - target) < 0);
    __threadfence();
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(1024) grid_counter(u64 *out, u32 *count,
                                                                Segments segments) {
  for (int s = 0; s < 3; s++) {
    grid_barrier(count, gridDim.x);
    u64 t0 = clocks();
    for (int i = 0; i < segments.n[s]; i++) grid_barrier(count, gridDim.x);
    u64 t1 = clocks();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      out[s * 2] = t0;
      out[s * 2 + 1] = t1;
    }
  }
}
