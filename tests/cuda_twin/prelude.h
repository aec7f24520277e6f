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
// CUDA's fminf and fmaxf: a number rather than none, -0 below 0.
template <class T> INLINE T lesser(T a, T b) {
    return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}
#ifdef __CUDACC__
INLINE f32 least_f32(f32 a, f32 b) { return fminf(a, b); }
INLINE f32 most_f32(f32 a, f32 b) { return fmaxf(a, b); }
INLINE f64 least_f64(f64 a, f64 b) { return fmin(a, b); }
INLINE f64 most_f64(f64 a, f64 b) { return fmax(a, b); }
#else
INLINE f32 least_f32(f32 a, f32 b) { return lesser(a, b); }
INLINE f32 most_f32(f32 a, f32 b) { return -lesser(-a, -b); }
INLINE f64 least_f64(f64 a, f64 b) { return lesser(a, b); }
INLINE f64 most_f64(f64 a, f64 b) { return -lesser(-a, -b); }
#endif
INLINE u32 first_of_most(u32 a, u32 b) {
    bool first;
    u32 most = (u32)__vibmax_s32((i32)a, (i32)b, &first);
    return most + first;
}
INLINE u32 first_of_least(u32 a, u32 b) {
    bool first;
    u32 least = __vibmin_u32(a, b, &first);
    return least ^ first;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800  // which has no such instruction
#define REDUCTION(name, type, value)                                                               \
    INLINE type name(u32 mask, type b) {                                                           \
        type a = __shfl_sync(mask, b, __ffs(mask) - 1), mine = b;                                  \
        for (u32 rest = mask & (mask - 1); rest; rest &= rest - 1) {                               \
            b = __shfl_sync(mask, mine, __ffs(rest) - 1);                                          \
            a = value;                                                                             \
        }                                                                                          \
        return a;                                                                                  \
    }
REDUCTION(__reduce_add_sync, u32, a + b)
REDUCTION(__reduce_min_sync, u32, smaller(a, b))
REDUCTION(__reduce_max_sync, u32, larger(a, b))
REDUCTION(__reduce_min_sync, i32, smaller(a, b))
REDUCTION(__reduce_max_sync, i32, larger(a, b))
REDUCTION(__reduce_and_sync, u32, a & b)
REDUCTION(__reduce_or_sync, u32, a | b)
REDUCTION(__reduce_xor_sync, u32, a ^ b)
#endif
#include "barriers.h"
#include "halves.h"
#include "ptx.h"
#include "storage.h"
#include "tiles.h"
