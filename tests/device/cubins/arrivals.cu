// Lanes that leave loops at different times: how often does their warp execute what they come to?
extern "C" __global__ void turns(const int *count, unsigned *out) {
  int t = threadIdx.x, n = count[t];
  unsigned v = t;
#pragma unroll 1
  for (int i = 0; i < n; i++) v = v * 5 + 1;
  out[t] = __shfl_xor_sync(~0u, v, 1);
}

extern "C" __global__ void sums(const int *place, float value, float *out) {
  __shared__ float sum[32 * 32];
  int t = threadIdx.x;
  for (int i = 0; i < 32; i++) sum[i * 32 + t] = 0.f;
  __syncthreads();
  atomicAdd(&sum[place[t]], value);
  __syncthreads();
  out[t] = sum[place[t]];
}
