// What ends in an error, each where a line table says so.
#include <cassert>

__device__ __noinline__ float pick(const float *p, int i) {
  return p[i];
}

__device__ inline float doubled(const float *p, int i) {
  return 2 * p[i];
}

extern "C" __global__ void outside(float *p, int n) {
  int i = threadIdx.x;
  p[i] = pick(p, i == 5 ? n : i);
}

extern "C" __global__ void inlined(float *p, int n) {
  p[threadIdx.x] =
      doubled(p + n, threadIdx.x);
}

extern "C" __global__ void asserted(int *p) {
  assert(threadIdx.x < 3);
  p[threadIdx.x] = 1;
}

extern "C" __global__ void trapped(int *p) {
  if (threadIdx.x == 7)
    __trap();
  p[threadIdx.x] = 1;
}
