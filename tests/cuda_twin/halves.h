// Two __half or two __nv_bfloat16 in a word: by CUDA's intrinsics on a device, and on the host
// exactly in doubles, rounded once. All not-a-numbers are 0x7FFF.
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef __half2 Half;
typedef __nv_bfloat162 Brain;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800  // which has no such instruction
INLINE f32 odd_fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    f32 x = __bfloat162float(a), y = __bfloat162float(b), z = __bfloat162float(c);
    f32 r = __fmaf_rz(x, y, z);
    return __uint_as_float(__float_as_uint(r) | (__fmaf_ru(x, y, z) > __fmaf_rd(x, y, z)));
}
INLINE Brain __hfma2(Brain x, Brain y, Brain z) {
    return __floats2bfloat162_rn(odd_fma(x.x, y.x, z.x), odd_fma(x.y, y.y, z.y));
}
INLINE Brain __hfma2_sat(Brain x, Brain y, Brain z) {
    f32 low = __saturatef(odd_fma(x.x, y.x, z.x)), high = __saturatef(odd_fma(x.y, y.y, z.y));
    return __floats2bfloat162_rn(low, high);
}
INLINE f32 not_below(f32 v) { return v < 0 ? 0 : v; }
INLINE Brain __hfma2_relu(Brain x, Brain y, Brain z) {
    f32 low = odd_fma(x.x, y.x, z.x), high = odd_fma(x.y, y.y, z.y);
    return __floats2bfloat162_rn(not_below(low), not_below(high));
}
#endif
#else
struct Half { static const int digits = 11, lowest = -14, fraction = 10; };
struct Brain { static const int digits = 8, lowest = -126, fraction = 7; };
#endif

template <class T> INLINE u32 one_nan(u32 v);
template <> INLINE u32 one_nan<Half>(u32 v) {
    if ((v & 0x7FFF) > 0x7C00) v |= 0x7FFF, v &= 0xFFFF7FFF;
    if ((v >> 16 & 0x7FFF) > 0x7C00) v |= 0x7FFF0000, v &= 0x7FFFFFFF;
    return v;
}
template <> INLINE u32 one_nan<Brain>(u32 v) {
    if ((v & 0x7FFF) > 0x7F80) v |= 0x7FFF, v &= 0xFFFF7FFF;
    if ((v >> 16 & 0x7FFF) > 0x7F80) v |= 0x7FFF0000, v &= 0x7FFFFFFF;
    return v;
}

#ifdef __CUDACC__
template <class T> INLINE T halves_of(u32 v) { return *(T *)&v; }
template <class T> INLINE u32 word_of(T v) { return one_nan<T>(*(u32 *)&v); }
#define HALVES_1(name, device, host)                                                               \
    template <class T> INLINE u32 name(u32 a) {                                                    \
        T x = halves_of<T>(a);                                                                     \
        return word_of<T>(device);                                                                 \
    }
#define HALVES_2(name, device, host)                                                               \
    template <class T> INLINE u32 name(u32 a, u32 b) {                                             \
        T x = halves_of<T>(a), y = halves_of<T>(b);                                                \
        return word_of<T>(device);                                                                 \
    }
#define HALVES_3(name, device, host)                                                               \
    template <class T> INLINE u32 name(u32 a, u32 b, u32 c) {                                      \
        T x = halves_of<T>(a), y = halves_of<T>(b), z = halves_of<T>(c);                           \
        return word_of<T>(device);                                                                 \
    }
#define MASK_2(name, device, host)                                                                 \
    template <class T> INLINE u32 name(u32 a, u32 b) {                                             \
        T x = halves_of<T>(a), y = halves_of<T>(b);                                                \
        return device;                                                                             \
    }
#define FROM_HALF(name, type, device, host)                                                        \
    INLINE type name(u32 a) {                                                                      \
        __half x = __low2half(halves_of<Half>(a));                                                 \
        return device;                                                                             \
    }
#define TO_HALF(name, type, device, mode)                                                          \
    INLINE u32 name(type x) { return word_of<Half>(__half2half2(device)); }
#define TO_BRAIN(name, type, device, mode)                                                         \
    INLINE u32 name(type x) { return word_of<Brain>(__bfloat162bfloat162(device)); }
#else
static f64 decoded(Half, u32 h) {
    int e = h >> 10 & 31;
    f64 m = e ? 1024 + (h & 1023) : h & 1023;
    f64 v = e == 31 ? (h & 1023 ? NAN : INFINITY) : ldexp(m, (e ? e : 1) - 25);
    return h & 0x8000 ? -v : v;
}
static f64 decoded(Brain, u32 h) { return of_bits<float>((u64)(h & 0xFFFF) << 16); }
static u32 encoded(Brain, f64 v) { return (u32)(to_bits((f32)v) >> 16); }
static u32 encoded(Half, f64 v) {
    u32 sign = signbit(v) ? 0x8000 : 0;
    v = fabs(v);
    if (v != v) return 0x7FFF;
    if (isinf(v)) return sign | 0x7C00;
    if (v < 0x1p-14) return sign | (u32)(v * 0x1p24);
    int e = ilogb(v);
    return sign | (u32)(e + 15) << 10 | ((u32)ldexp(v, 10 - e) & 1023);
}
// The nearest of a format, or that in a direction.
template <class T> static u32 fitted(f64 v, int direction = FE_TONEAREST) {
    if (v != v || isinf(v) || v == 0) return v != v ? 0x7FFF : encoded(T(), v);
    int e = ilogb(v), unit = (e < T::lowest ? T::lowest : e) - T::fraction;
    fesetround(direction);
    volatile f64 scaled = ldexp(v, -unit);
    volatile f64 r = nearbyint(scaled);
    fesetround(FE_TONEAREST);
    f64 fits = ldexp(r, unit);
    f64 most = T::digits == 11 ? 65504.0 : 0x1.FEp127;
    if (fabs(fits) > most) {
        bool away = direction == FE_TONEAREST || direction == (v > 0 ? FE_UPWARD : FE_DOWNWARD);
        fits = copysign(away ? INFINITY : most, v);
    }
    return encoded(T(), fits);
}
// A sum that is rounded to odd, so that it can be rounded again.
static f64 odd_sum(f64 a, f64 b) {
    f64 s = a + b;
    if (s != s || isinf(s)) return s;
    f64 t = s - a, error = (a - (s - t)) + (b - t);
    if (error == 0 || to_bits(s) & 1) return s;
    return of_bits<f64>(to_bits(s) + ((error > 0) == (s > 0) ? 1 : -1));
}
static f64 least(f64 x, f64 y) { return lesser(x, y); }
static f64 most(f64 x, f64 y) { return -lesser(-x, -y); }
static f64 clipped(f64 x) { return x != x ? 0.0 : x <= 0 ? 0.0 : x > 1 ? 1.0 : x; }
static f64 positive(f64 x) { return x != x ? x : x > 0 ? x : 0.0; }
#define HALVES_3(name, device, host)                                                               \
    template <class T> INLINE u32 name(u32 a, u32 b, u32 c) {                                      \
        u32 r = 0;                                                                                 \
        for (int i = 0; i < 32; i += 16) {                                                         \
            f64 x = decoded(T(), a >> i), y = decoded(T(), b >> i), z = decoded(T(), c >> i);      \
            r |= fitted<T>(host) << i;                                                             \
        }                                                                                          \
        return one_nan<T>(r);                                                                      \
    }
#define HALVES_2(name, device, host)                                                               \
    HALVES_3(name##_, device, host)                                                                \
    template <class T> INLINE u32 name(u32 a, u32 b) { return name##_<T>(a, b, 0); }
#define HALVES_1(name, device, host)                                                               \
    HALVES_3(name##_, device, host)                                                                \
    template <class T> INLINE u32 name(u32 a) { return name##_<T>(a, 0, 0); }
#define MASK_2(name, device, host)                                                                 \
    template <class T> INLINE u32 name(u32 a, u32 b) {                                             \
        u32 r = 0;                                                                                 \
        for (int i = 0; i < 32; i += 16) {                                                         \
            f64 x = decoded(T(), a >> i), y = decoded(T(), b >> i);                                \
            r |= (host ? 0xFFFFu : 0) << i;                                                        \
        }                                                                                          \
        return r;                                                                                  \
    }
#define FROM_HALF(name, type, device, host)                                                        \
    INLINE type name(u32 a) {                                                                      \
        f64 x = decoded(Half(), a);                                                                \
        return host;                                                                               \
    }
#define TO_HALF(name, type, device, mode)                                                          \
    INLINE u32 name(type x) { return one_nan<Half>(fitted<Half>(x, mode) * 0x10001); }
#define TO_BRAIN(name, type, device, mode)                                                         \
    INLINE u32 name(type x) { return one_nan<Brain>(fitted<Brain>(x, mode) * 0x10001); }
#endif

HALVES_2(half_add, __hadd2(x, y), odd_sum(x, y))
HALVES_2(half_sub, __hsub2(x, y), odd_sum(x, -y))
HALVES_2(half_mul, __hmul2(x, y), x * y)
HALVES_2(half_min, __hmin2(x, y), least(x, y))
HALVES_2(half_max, __hmax2(x, y), most(x, y))
HALVES_2(half_min_nan, __hmin2_nan(x, y), x != x || y != y ? NAN : least(x, y))
HALVES_2(half_max_nan, __hmax2_nan(x, y), x != x || y != y ? NAN : most(x, y))
HALVES_2(half_add_sat, __hadd2_sat(x, y), clipped(odd_sum(x, y)))
HALVES_2(half_mul_sat, __hmul2_sat(x, y), clipped(x * y))
HALVES_2(half_less, __hlt2(x, y), x < y ? 1.0 : 0.0)
HALVES_2(half_ne, __hneu2(x, y), x != y ? 1.0 : 0.0)
HALVES_3(half_fma, __hfma2(x, y, z), odd_sum(x * y, z))
HALVES_3(half_fma_sat, __hfma2_sat(x, y, z), clipped(odd_sum(x * y, z)))
HALVES_3(half_fma_relu, __hfma2_relu(x, y, z), positive(odd_sum(x * y, z)))
HALVES_1(half_abs, __habs2(x), fabs(x))
HALVES_1(half_neg, __hneg2(x), -x)
HALVES_1(half_floor, h2floor(x), floor(x))
HALVES_1(half_rint, h2rint(x), rint(x))
MASK_2(half_ge_mask, __hge2_mask(x, y), x >= y)
MASK_2(half_ltu_mask, __hltu2_mask(x, y), !(x >= y))
FROM_HALF(half_to_f32, f32, __half2float(x), (f32)x)
FROM_HALF(half_to_i32_rn, i32, __half2int_rn(x), x != x ? 0 : integer_of<i32>(x, rint(x)))
FROM_HALF(half_to_u32_ru, u32, __half2uint_ru(x), x != x ? 0 : integer_of<u32>(x, ceil(x)))
FROM_HALF(half_to_i16_rz, i16, __half2short_rz(x), x != x ? 0 : integer_of<i16>(x, trunc(x)))
FROM_HALF(half_to_u16_rd, u16, __half2ushort_rd(x), x != x ? 0 : integer_of<u16>(x, floor(x)))
FROM_HALF(half_to_i64_rz, i64, __half2ll_rz(x), integer_of<i64>(x, trunc(x)))
TO_HALF(half_of_f32_rn, f32, __float2half_rn(x), FE_TONEAREST)
TO_HALF(half_of_f32_rz, f32, __float2half_rz(x), FE_TOWARDZERO)
TO_HALF(half_of_f32_rd, f32, __float2half_rd(x), FE_DOWNWARD)
TO_HALF(half_of_f32_ru, f32, __float2half_ru(x), FE_UPWARD)
TO_HALF(half_of_f64, f64, __double2half(x), FE_TONEAREST)
TO_HALF(half_of_i32_rn, i32, __int2half_rn(x), FE_TONEAREST)
TO_HALF(half_of_i32_rz, i32, __int2half_rz(x), FE_TOWARDZERO)
TO_HALF(half_of_u16_ru, u16, __ushort2half_ru(x), FE_UPWARD)
TO_HALF(half_of_i16_rn, i16, __short2half_rn(x), FE_TONEAREST)
TO_BRAIN(brain_of_f32_rn, f32, __float2bfloat16_rn(x), FE_TONEAREST)
TO_BRAIN(brain_of_f32_rz, f32, __float2bfloat16_rz(x), FE_TOWARDZERO)
TO_BRAIN(brain_of_f32_ru, f32, __float2bfloat16_ru(x), FE_UPWARD)
TO_BRAIN(brain_of_i32_rn, i32, __int2bfloat16_rn(x), FE_TONEAREST)
