// One thread follows a script of accesses and times each: which of them a cache serves says what
// the caches keep, in lines and sectors of which size, of whose writes.
#include "common.cuh"

enum Kind { LOAD, LOAD_PAST_L1, STORE, ATOMIC };

static const int MOST = 1024;  // steps

// A step is a byte offset times 4 and its kind. Each waits for the one before it; the clock reads
// and what the result is waited for are part of each time.
extern "C" __global__ void probe(u64 *out, u32 *sink, char *buffer, const u64 *script, int steps) {
  __shared__ u64 step[MOST];
  __shared__ u32 times[MOST];
  for (int i = 0; i < steps; i++) step[i] = __ldcg(script + i);
  u64 sum = 0;
  for (int i = 0; i < steps; i++) {
    u64 what = step[i];
    u64 at = (u64)buffer + (what >> 2) + (sum & 1);
    u32 v = 0;
    u64 t0 = clocks();
    if ((what & 3) == LOAD) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    else if ((what & 3) == LOAD_PAST_L1)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    else if ((what & 3) == STORE)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    else asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(at), "r"(0) : "memory");
    sum += v;
    u64 t1;
    asm volatile("{ .reg .u64 z; xor.b64 z, %1, %1; mov.u64 %0, %%clock64; add.u64 %0, %0, z; }"
                 : "=l"(t1)
                 : "l"(sum)
                 : "memory");
    times[i] = t1 - t0;
  }
  for (int i = 0; i < steps; i++) out[i] = times[i];
  *sink = sum;
}

// A warp loads words that it also has in shared memory, in turn: both use one data array.
extern "C" __global__ void __launch_bounds__(1024) l1_and_shared(u64 *out, u32 *sink,
                                                                 const u32 *buffer,
                                                                 Segments segments) {
  __shared__ u32 words[1024];
  words[threadIdx.x] = 0;
  __syncthreads();
  u32 at = shared_address(&words[threadIdx.x]), s = 0;
  u64 p = (u64)(buffer + threadIdx.x);
  SEGMENTS({
    u32 v[8], w[8];
    UNROLL for (int u = 0; u < 8; u++) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[u]) : "l"(p) : "memory");
      asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(w[u]) : "r"(at));
    }
    UNROLL for (int u = 0; u < 8; u++) s ^= v[u] ^ w[u];
  })
  sink[threadIdx.x] = s;
}

// Chains on what is the same for a warp: the uniform datapath, where there is one.
extern "C" __global__ void uniform(u64 *out, u32 *sink, u32 b, Segments segments) {
  u32 x = b + blockIdx.x;
  SEGMENTS({
    UNROLL for (int u = 0; u < 32; u++) {
      x = x * 5 + (x >> 3);
    }
    asm volatile("" ::: "memory");
  })
  sink[threadIdx.x] = x;
}
