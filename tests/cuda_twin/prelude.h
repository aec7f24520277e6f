// What every random program has: types, and operations whose result CUDA and C++ both define.
#ifdef __CUDACC__
#define DYNAMIC_SHARED(name) extern __shared__ u32 name[]
#endif
#define INLINE __device__ __forceinline__
#define CALLED __device__ __noinline__
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
typedef double f64;

INLINE u32 linear() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
INLINE u32 here() { return linear() & 31; }
INLINE u32 everybody() {
    u32 left = blockDim.x * blockDim.y * blockDim.z - (linear() & ~31u);
    return left >= 32 ? 0xFFFFFFFFu : (1u << left) - 1;
}
INLINE u32 nth(u32 mask, u32 n) {
    for (n %= __popc(mask); n > 0; n--) mask &= mask - 1;
    return __ffs(mask) - 1;
}
// Shuffles from lanes that may not take part: what those give is not defined and not used.
template <class T> INLINE T known(u32 mask, u32 source, T there, T here) {
    return source < 32 && (mask >> source & 1) ? there : here;
}
template <class T> INLINE T across(u32 mask, T v, u32 x) {
    return known(mask, here() ^ x, __shfl_xor_sync(mask, v, x), v);
}
template <class T> INLINE T upwards(u32 mask, T v, u32 d, u32 width) {
    T there = __shfl_up_sync(mask, v, d, width);
    return (here() & (width - 1)) < d ? v : known(mask, here() - d, there, v);
}
template <class T> INLINE T downwards(u32 mask, T v, u32 d, u32 width) {
    T there = __shfl_down_sync(mask, v, d, width);
    return (here() & (width - 1)) + d >= width ? v : known(mask, here() + d, there, v);
}
template <class T> INLINE T among(u32 mask, T v, u32 source, u32 width) {
    T there = __shfl_sync(mask, v, source, width);
    return known(mask, (here() & ~(width - 1)) + (source & (width - 1)), there, v);
}
template <class T> INLINE T smaller(T a, T b) { return a < b ? a : b; }
template <class T> INLINE T larger(T a, T b) { return a > b ? a : b; }
// All not-a-numbers are one.
INLINE u32 bits(f32 v) { return v != v ? 0x7FC00000u : __float_as_uint(v); }
INLINE u64 bits(f64 v) { return v != v ? 0x7FF8000000000000ull : (u64)__double_as_longlong(v); }
// A maximum by compare and swap: whoever comes first, the result is the same.
INLINE void raise(u32 *p, u32 v) {
    u32 old = *(volatile u32 *)p, seen;
    while (old < v && (seen = atomicCAS(p, old, v)) != old) old = seen;
}
