// Reductions whose result is read after the last barrier and written by the next one at once.
__device__ float block_sum(float v) {
  __shared__ float part[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < blockDim.x / 32 ? part[lane] : 0.f;
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    if (lane == 0) part[0] = v;
  }
  __syncthreads();
  return part[0];
}
extern "C" __global__ void layernorm(const float *x, float *out, int n) {
  const float *row = x + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  float mean = block_sum(sum) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  float scale = rsqrtf(block_sum(squares) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = (row[i] - mean) * scale;
}
extern "C" __global__ void rmsnorm(const float *x, float *out, int n) {  // an element a thread
  float v = x[blockIdx.x * n + threadIdx.x];
  float scale = rsqrtf(block_sum(v * v) / n + 1e-5f);
  out[blockIdx.x * n + threadIdx.x] = v * scale;
}
// Each thread adds up what six sums after each other gave.
extern "C" __global__ void repeated(float *out) {
  float sum = 0, v = threadIdx.x;
#pragma unroll
  for (int k = 0; k < 6; k++) {
    float s = block_sum(v + k);
    sum += s;
    v += s / blockDim.x;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// A flag of the block is read after a barrier, and cleared again by the first warp.
extern "C" __global__ void rounds(unsigned *out) {
  __shared__ int changed;
  int t = threadIdx.x, left = t / 32 * 3 + 1, n = 0;
  for (;;) {
    if (t == 0) changed = 0;
    __syncthreads();
    if (--left > 0) changed = 1;
    __syncthreads();
    if (!changed) break;
    n++;
  }
  out[t] = n;
}
// The same through global memory, each value of a neighbour in another warp.
extern "C" __global__ void shifted(unsigned *values, unsigned *out) {
  unsigned t = threadIdx.x, sum = 0;
  for (int k = 0; k < 5; k++) {
    __syncthreads();
    unsigned v = values[(t + 32) % blockDim.x];
    values[t] = v + k;
    sum = sum * 5 + v;
  }
  out[t] = sum;
}
#if __CUDA_ARCH__ >= 900
// The sum of a cluster's blocks: each reads all partial sums and goes on to the next round.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sums(unsigned *out) {
  __shared__ unsigned part;
  unsigned rank, sum = 0;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (unsigned k = 0; k < 4; k++) {
    if (threadIdx.x == 0) part = rank + 10 * k + 1;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    unsigned own = __cvta_generic_to_shared(&part);
    for (unsigned r = 0; r < 4; r++) {
      unsigned there, v;
      asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(r));
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
      sum = sum * 3 + v;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
#endif
