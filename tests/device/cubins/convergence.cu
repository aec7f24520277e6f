// Lanes that part and meet again: in recursion, under masks of their own, past breaks and exits.
__device__ __noinline__ int walk(int x, int n, int y) {
  if (n <= 0) return x ^ y;
  int z = x + y * 13;
  return (z & 1) ? walk(z, n - 1, x) + 1 : walk(y, n - 1, z) - n;
}
extern "C" __global__ void recursion(unsigned *out) {
  int t = threadIdx.x;
  int v = t == 3 ? 0 : walk(t * 7919, (t * 5 & 3) + 1, t * 31 + 5);
  out[t] = v;
  out[t + 32] = __ballot_sync(~0u, 1);
  out[t + 64] = __reduce_add_sync(~0u, 1u);
  out[t + 96] = __shfl_xor_sync(~0u, v, 1);
  out[t + 128] = __match_any_sync(~0u, v & 3);
}

__device__ __noinline__ unsigned tree(unsigned mask, int depth) {
  int lane = threadIdx.x;
  unsigned half = __ballot_sync(mask, lane >> depth & 1), sum = depth;
#pragma unroll 1
  for (unsigned i = 0; i < 2; i++) {
    sum += __popc(__ballot_sync(mask, lane & 1 << i)) + __shfl_sync(mask, lane, __ffs(mask) - 1);
    if (depth < 4 && (lane >> depth & 1) == i) sum = sum * 3 + tree(i ? half : mask & ~half, depth + 1);
    sum += __reduce_add_sync(mask, 1u);
  }
  return sum;
}
extern "C" __global__ void masks_of_a_recursion(unsigned *out) { out[threadIdx.x] = tree(~0u, 0); }

extern "C" __global__ void masks_of_their_own(unsigned *out) {
  int t = threadIdx.x;
  unsigned mask = __match_any_sync(~0u, t % 5);
  out[t] = __ballot_sync(mask, t & 1);
  out[t + 32] = __reduce_add_sync(mask, t);
  out[t + 64] = __match_any_sync(mask, t & 3);
  out[t + 96] = __any_sync(mask, t == 7);
  out[t + 128] = __shfl_sync(mask, t, 31 - __clz(mask));
}

__device__ __noinline__ int part(int x, int depth) {
  if (x < 0 || depth > 5) return 3;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < x; i++) {
    if (i % 3 == 1) {
      sum += part(i - 1, depth + 1);
      if (sum % 5 == 4) break;
      sum *= 3;
    } else if (x % 7 == 5) {
      sum -= part(i - 2, depth + 1);
      if (sum % 3 == 0) break;
    }
    if ((sum & 63) == 42) return sum + x;
    sum += part(x - 4, depth + 2) & 255;
  }
  return sum & 0xffff;
}
extern "C" __global__ void breaks(unsigned *out) {
  int t = threadIdx.x, sum = 0;
#pragma unroll 1
  for (int i = 0; i < 4; i++) {
    if ((t + i) % 3) {
      sum += part(t % 9 + i, 0);
      if (sum % 11 == 2) break;
      sum += part(i, 1);
    } else {
      sum ^= part(t % 5, 2);
      if (t % 8 == 1) break;
    }
    sum += 2;
  }
  out[t] = sum;
  out[t + 32] = __ballot_sync(~0u, 1);
}

typedef int (*Function)(int, int);
__device__ int even(int x, int n);
__device__ int odd(int x, int n);
__device__ Function kinds[2] = {even, odd};
__device__ int even(int x, int n) { return n ? kinds[(x >> n) & 1](x * 3, n - 1) + 1 : x; }
__device__ int odd(int x, int n) { return n ? kinds[(x >> n) & 1](x + 5, n - 1) ^ 1 : x + 7; }
extern "C" __global__ void pointers(unsigned *out) {
  int t = threadIdx.x;
  int v = kinds[t & 1](t * 77, t % 6);
  out[t] = v;
  out[t + 32] = __ballot_sync(~0u, 1);
}

__device__ __noinline__ int leave(int x, int n) {
  if (x % 7 == 3) asm volatile("exit;");
  if (n == 0) return x;
  return x & 1 ? leave(x * 3 + 1, n - 1) + 1 : leave(x / 2 + 5, n - 1) * 2;
}
extern "C" __global__ void exits(unsigned *out) {
  int t = threadIdx.x;
  int v = leave(t, t % 5);
  out[t] = v;
  out[t + 32] = __ballot_sync(~0u, 1);
}

extern "C" __global__ void two_places(unsigned *out) {
  volatile __shared__ int a[32], b[32];
  int t = threadIdx.x, v;
  if (t & 1) {
    a[t] = t;
    __syncwarp();
    v = a[t ^ 1];
    __syncwarp();
    b[t] = v;
  } else {
    a[t] = 100 + t;
    __syncwarp();
    v = a[t ^ 1] * 2;
    __syncwarp();
    b[t] = v;
  }
  __syncwarp();
  out[t] = b[t ^ 1];
}

extern "C" __global__ void impossible(unsigned *out) {
  int t = threadIdx.x;
  if (t & 1) out[t] = __ballot_sync(~0u, 1);
  else {
    __syncthreads();
    out[t] = 1;
  }
}

extern "C" __global__ void uneven(unsigned *out) {  // loops around atomics, which are no waiting
  int t = threadIdx.x;
  for (int i = 0; i < t * 5; i++) atomicAdd(&out[i & 31], 1);
  unsigned all = __ballot_sync(~0u, 1);
  __syncwarp();
  out[t + 32] = all;
}
