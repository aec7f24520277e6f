// Atomics on shared memory: with a result that the next address needs, or 8 in a row.
#include "common.cuh"

enum Kind { ADD, RED, CAS, EXCH, FADD };

template <int KIND, bool DEPENDENT>
INLINE void atomics(u64 *out, u32 *sink, int stride, int warp_stride, Segments segments) {
  __shared__ u32 words[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0;
  __syncthreads();
  u32 at = shared_address(words) + (threadIdx.x % 32) * stride + (threadIdx.x / 32) * warp_stride;
  u32 sum = 0, zero = segments.n[0] > 1000000;
  SEGMENTS({
    UNROLL for (int u = 0; u < 8; u++) {
      u32 r = 0;
      float f;
      if (KIND == ADD)
        asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(r) : "r"(at), "r"(zero));
      if (KIND == RED) asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(zero));
      if (KIND == CAS)
        asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;"
                     : "=r"(r)
                     : "r"(at), "r"(zero), "r"(zero));
      if (KIND == EXCH)
        asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(r) : "r"(at), "r"(zero));
      if (KIND == FADD) {
        asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(f) : "r"(at), "f"((float)zero));
        r = __float_as_uint(f);
      }
      if (KIND != RED) {
        if (DEPENDENT) at += r;
        else sum ^= r;
      }
    }
  })
  sink[threadIdx.x] = sum + at;
}

#define KERNEL(NAME, KIND, DEPENDENT)                                         \
  extern "C" __global__ void __launch_bounds__(1024) NAME(                    \
      u64 *out, u32 *sink, int stride, int warp_stride, Segments segments) {  \
    atomics<KIND, DEPENDENT>(out, sink, stride, warp_stride, segments);       \
  }
KERNEL(atoms_add, ADD, false) KERNEL(atoms_add_chain, ADD, true)
KERNEL(atoms_red_add, RED, false)
KERNEL(atoms_cas, CAS, false) KERNEL(atoms_cas_chain, CAS, true)
KERNEL(atoms_exch, EXCH, false) KERNEL(atoms_exch_chain, EXCH, true)
KERNEL(atoms_fadd, FADD, false) KERNEL(atoms_fadd_chain, FADD, true)
