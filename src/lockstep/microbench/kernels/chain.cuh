// Chains of one operation, one or four a thread: latency, and throughput of an SM.
#pragma once
#include "common.cuh"

template <class Op, int CHAINS, int STEPS>
INLINE void chain(u64 *out, typename Op::T *sink, typename Op::T b, typename Op::T c,
                  Segments segments) {
  typename Op::T x[CHAINS];
  UNROLL for (int k = 0; k < CHAINS; k++) x[k] = Op::start(threadIdx.x, k);
  SEGMENTS({
    UNROLL for (int step = 0; step < STEPS; step++) {
      UNROLL for (int k = 0; k < CHAINS; k++) Op::apply(x[k], b, c);
    }
  })
  UNROLL for (int k = 0; k < CHAINS; k++) sink[k * blockDim.x + threadIdx.x] = x[k];
}

// An operation as a struct: its type, how chain k of a thread begins, what a step does.
#define OPERATION(NAME, TYPE, START, ...)                                              \
  struct NAME {                                                                        \
    typedef TYPE T;                                                                    \
    static __device__ __forceinline__ T start(u32 t, int k) { return (T)(START); }     \
    static __device__ __forceinline__ void apply(T &x, T b, T c) { __VA_ARGS__ }       \
  };

// Its kernels: <name>_1 and <name>_4 with that many chains of so many steps an iteration.
#define KERNELS(NAME, STEPS_1, STEPS_4)                                                       \
  extern "C" __global__ void __launch_bounds__(1024) NAME##_1(                                \
      u64 *out, op::NAME::T *sink, op::NAME::T b, op::NAME::T c, Segments segments) {         \
    chain<op::NAME, 1, STEPS_1>(out, sink, b, c, segments);                                   \
  }                                                                                           \
  extern "C" __global__ void __launch_bounds__(1024) NAME##_4(                                \
      u64 *out, op::NAME::T *sink, op::NAME::T b, op::NAME::T c, Segments segments) {         \
    chain<op::NAME, 4, STEPS_4>(out, sink, b, c, segments);                                   \
  }
#define SINGLE(NAME) KERNELS(NAME, 64, 32)
#define SEQUENCE(NAME) KERNELS(NAME, 16, 4)
