// Every integer and floating-point operation that CUDA C++ can ask for, over its operand kinds.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL(name, T, expression)                                                              \
    extern "C" __global__ void name(T *out, const T *in, T s, int n) {                           \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
        T a = in[i], b = in[i + n], c = in[i + 2 * n];                                           \
        out[i] = expression;                                                                     \
    }
#define INTEGER(tag, T)                                                                          \
    KERNEL(add_##tag, T, a + b + c)                                                              \
    KERNEL(sub_##tag, T, a - b - s)                                                              \
    KERNEL(mul_##tag, T, a *b)                                                                   \
    KERNEL(mad_##tag, T, a *b + c)                                                               \
    KERNEL(mads_##tag, T, a *s - c)                                                              \
    KERNEL(div_##tag, T, a / b)                                                                  \
    KERNEL(rem_##tag, T, a % s)                                                                  \
    KERNEL(div7_##tag, T, a / 7 + b % 10)                                                        \
    KERNEL(and_##tag, T, (a & b) | (c ^ s))                                                      \
    KERNEL(not_##tag, T, ~(a & ~b) ^ 0x55)                                                       \
    KERNEL(shl_##tag, T, (a << (b & 31)) + (c << 3))                                             \
    KERNEL(shr_##tag, T, (a >> (b & 31)) + (c >> 5))                                             \
    KERNEL(min_##tag, T, min(a, b) + max(c, s))                                                  \
    KERNEL(sel_##tag, T, a < b ? c : s)                                                          \
    KERNEL(cmp_##tag, T, (a < b) + (a <= c) * 2 + (b == c) * 4 + (a != s) * 8 + (a > 5) * 16)     \
    KERNEL(logic_##tag, T, (a < b && b < c) || (a > s && c != 3) ? a : b)                        \
    KERNEL(abs_##tag, T, (T)(a < 0 ? -a : a) + b)                                                \
    KERNEL(lea_##tag, T, (a << 4) + b + ((c << 2) + s) * 8)
INTEGER(i8, signed char)
INTEGER(u8, unsigned char)
INTEGER(i16, short)
INTEGER(u16, unsigned short)
INTEGER(i32, int)
INTEGER(u32, unsigned)
INTEGER(i64, long long)
INTEGER(u64, unsigned long long)

KERNEL(mulhi_i32, int, __mulhi(a, b) + __mul24(a, c))
KERNEL(mulhi_u32, unsigned, __umulhi(a, b) + __umul24(a, c))
KERNEL(mulhi_i64, long long, __mul64hi(a, b))
KERNEL(mulhi_u64, unsigned long long, __umul64hi(a, b))
KERNEL(bits_u32, unsigned, __popc(a) + __clz(b) + __brev(c) + __ffs(s) + __popc(~a & b))
KERNEL(bits_u64, unsigned long long, __popcll(a) + __clzll(b) + __brevll(c) + __ffsll(s))
KERNEL(funnel, unsigned, __funnelshift_l(a, b, c) + __funnelshift_rc(a, b, s) + __funnelshift_r(a, b, 7) + __funnelshift_lc(a, c, 9))
KERNEL(permute, unsigned, __byte_perm(a, b, 0x5410) + __byte_perm(a, b, c) + __byte_perm(a, s, 0x3210))
KERNEL(sad, unsigned, __sad((int)a, (int)b, c) + __usad(a, b, s) + __vsadu4(a, b) + __vabsdiffu4(b, c))
KERNEL(dp, int, __dp4a(a, b, c) + __dp4a((unsigned)a, (unsigned)b, (unsigned)s) + __dp2a_lo(a, b, c) + __dp2a_hi(a, s, c))
KERNEL(dp_u, unsigned, __dp2a_lo(a, b, c) + __dp2a_hi(a, s, c) + __dp4a(a, b, c))
KERNEL(video, unsigned, __vadd2(a, b) + __vsub4(a, c) + __vmaxs2(a, b) + __vminu4(b, c) + __vcmpgtu2(a, c) + __vavgu4(a, b))
KERNEL(video_sat, unsigned, __vaddss2(a, b) + __vsubus4(a, c) + __vabs2(a) + __vneg4(b) + __vseteq4(a, b) + __vhaddu2(a, c))
#if __CUDACC_VER_MAJOR__ >= 12
KERNEL(dpx, int, __viaddmax_s32(a, b, c) + __vimax3_s32(a, b, s) + __viaddmin_s32_relu(a, b, c) + __vimin3_s32_relu(a, b, c))
KERNEL(dpx2, unsigned, __viaddmax_s16x2(a, b, c) + __vimax3_u16x2(a, b, s) + __vimin3_s16x2_relu(a, b, c) + __viaddmin_u16x2(a, b, c) + __vimax_s16x2_relu(a, c) + __viaddmax_u32(a, b, s))
extern "C" __global__ void dpx_predicates(int *out, const int *in, int n) {
    bool hi, lo;
    int a = in[threadIdx.x], b = in[threadIdx.x + n];
    int best = __vibmax_s32(a, b, &hi);
    unsigned pair = __vibmin_s16x2(a, best, &hi, &lo);
    out[threadIdx.x] = best + pair + hi * 2 + lo;
}
#endif
extern "C" __global__ void wide(__int128 *out, const __int128 *in) {
    __int128 a = in[threadIdx.x], b = in[threadIdx.x + 32];
    out[threadIdx.x] = a * b + (a >> 17) - (b << 65) + (a < b);
    out[threadIdx.x + 32] = a / b;
}
extern "C" __global__ void widening(long long *out, const int *in, const unsigned *u) {
    int i = threadIdx.x;
    out[i] = (long long)in[i] * in[i + 32] + out[i + 64];
    out[i + 32] = (unsigned long long)u[i] * u[i + 32] + in[i];
    out[i + 96] = (long long)in[i] * 1000003 - (unsigned long long)u[i] * 77u;
}

#define FLOATING(tag, T, f)                                                                      \
    KERNEL(fadd_##tag, T, a + b - s)                                                             \
    KERNEL(fmul_##tag, T, a *b *s)                                                               \
    KERNEL(ffma_##tag, T, a *b + c)                                                              \
    KERNEL(ffms_##tag, T, -a * b - c)                                                            \
    KERNEL(ffmc_##tag, T, a *s + (T)1.5 * b - (T)0.1 * c)                                        \
    KERNEL(ffmi_##tag, T, a *(T)2.5 + b)                                                         \
    KERNEL(fdiv_##tag, T, a / b)                                                                 \
    KERNEL(fabs_##tag, T, fabs##f(a) + -fabs##f(b) * fabs##f(c))                                 \
    KERNEL(fmin_##tag, T, fmin##f(a, b) + fmax##f(c, s) + fmin##f(a, (T)3))                      \
    KERNEL(fsel_##tag, T, a < b ? c : s)                                                         \
    KERNEL(fcmp_##tag, T, (a < b) + (a <= c) * 2 + (b == c) * 4 + (a != s) * 8 + (a > (T)5) * 16 + (a >= b) * 32 + !(a < c) * 64 + !(b >= s) * 128) \
    KERNEL(fnan_##tag, T, isnan(a) ? b : isinf(b) ? c : isfinite(c) ? a : s)                     \
    KERNEL(fsqrt_##tag, T, sqrt##f(a) + rsqrt##f(b))                                             \
    KERNEL(fround_##tag, T, floor##f(a) + ceil##f(b) + trunc##f(c) + rint##f(s) + round##f(a))   \
    KERNEL(fcopy_##tag, T, copysign##f(a, b) + fdim##f(a, c))                                    \
    KERNEL(fmod_##tag, T, fmod##f(a, b) + remainder##f(a, c))                                    \
    KERNEL(trig_##tag, T, sin##f(a) + cos##f(b) * tan##f(c))                                     \
    KERNEL(exp_##tag, T, exp##f(a) + exp2##f(b) + expm1##f(c) + exp10##f(s))                     \
    KERNEL(log_##tag, T, log##f(a) + log2##f(b) + log1p##f(c) + log10##f(s))                     \
    KERNEL(pow_##tag, T, pow##f(a, b))                                                           \
    KERNEL(hyp_##tag, T, tanh##f(a) + sinh##f(b) + cosh##f(c) + atan2##f(a, b))                  \
    KERNEL(arc_##tag, T, asin##f(a) + acos##f(b) + atan##f(c) + asinh##f(s))                     \
    KERNEL(gam_##tag, T, erf##f(a) + erfc##f(b) + lgamma##f(c) + tgamma##f(s))                   \
    KERNEL(cbrt_##tag, T, cbrt##f(a) + hypot##f(b, c) + normcdf##f(s) + j0##f(a))                \
    KERNEL(ldexp_##tag, T, ldexp##f(a, 5) + logb##f(b) + scalbn##f(c, 3) + ilogb##f(s))
FLOATING(f32, float, f)
FLOATING(f64, double, )

#define ROUNDINGS(op) op(rn) op(rz) op(ru) op(rd)
#define F32(m)                                                                                   \
    KERNEL(round32_##m, float, __fadd_##m(a, b) * 3.f + __fmul_##m(a, c) - __fmaf_##m(a, b, s) + __fsub_##m(c, s)) \
    KERNEL(root32_##m, float, __fsqrt_##m(a) + __frcp_##m(b) + __fdiv_##m(c, s))
#define F64(m)                                                                                   \
    KERNEL(round64_##m, double, __dadd_##m(a, b) * 3. + __dmul_##m(a, c) - __fma_##m(a, b, s) + __dsub_##m(c, s)) \
    KERNEL(root64_##m, double, __dsqrt_##m(a) + __drcp_##m(b) + __ddiv_##m(c, s))
ROUNDINGS(F32)
ROUNDINGS(F64)
KERNEL(fast32, float, __sinf(a) + __cosf(b) + __expf(c) + __logf(s) + __powf(a, b) + __fdividef(a, c) + __saturatef(b) + __tanf(a) + __log2f(c) + __exp10f(s))
KERNEL(saturate, float, __saturatef(a *b + c) + __saturatef(a + s) + __saturatef(b *c))
KERNEL(approx, float, __frsqrt_rn(a) + rcbrtf(b) + sinpif(c) + cospif(s))

#define CONVERT(from, to, F, T)                                                                  \
    extern "C" __global__ void cvt_##from##_##to(T *out, const F *in, F s) {                     \
        out[threadIdx.x] = (T)in[threadIdx.x];                                                   \
        out[threadIdx.x + 32] = (T)s;                                                            \
    }
#define FROM(tag, T)                                                                             \
    CONVERT(tag, i8, T, signed char)                                                             \
    CONVERT(tag, u8, T, unsigned char)                                                           \
    CONVERT(tag, i16, T, short)                                                                  \
    CONVERT(tag, u16, T, unsigned short)                                                         \
    CONVERT(tag, i32, T, int)                                                                    \
    CONVERT(tag, u32, T, unsigned)                                                               \
    CONVERT(tag, i64, T, long long)                                                              \
    CONVERT(tag, u64, T, unsigned long long)                                                     \
    CONVERT(tag, f32, T, float)                                                                  \
    CONVERT(tag, f64, T, double)
FROM(i8, signed char)
FROM(u8, unsigned char)
FROM(i16, short)
FROM(u16, unsigned short)
FROM(i32, int)
FROM(u32, unsigned)
FROM(i64, long long)
FROM(u64, unsigned long long)
FROM(f32, float)
FROM(f64, double)
#define RESULTS(m)                                                                               \
    extern "C" __global__ void cvtround_##m(float *f, double *d, int *i, unsigned *u, long long *l, unsigned long long *v) { \
        int t = threadIdx.x;                                                                     \
        i[t] = __float2int_##m(f[t]) + __double2int_##m(d[t]);                                   \
        u[t] = __float2uint_##m(f[t]) + __double2uint_##m(d[t]);                                 \
        l[t] = __float2ll_##m(f[t]) + __double2ll_##m(d[t]);                                     \
        v[t] = __float2ull_##m(f[t]) + __double2ull_##m(d[t]);                                   \
        f[t + 32] = __int2float_##m(i[t]) + __uint2float_##m(u[t]) + __ll2float_##m(l[t]) + __ull2float_##m(v[t]) + __double2float_##m(d[t]); \
        d[t + 32] = __ll2double_##m(l[t]) + __ull2double_##m(v[t]);                              \
    }
ROUNDINGS(RESULTS)

#define HALF(tag, T, T2, make)                                                                   \
    extern "C" __global__ void half_##tag(T *out, const T *in, float *f, int *q) {               \
        int i = threadIdx.x;                                                                     \
        T a = in[i], b = in[i + 32], c = in[i + 64];                                             \
        out[i] = __hadd(a, b);                                                                   \
        out[i + 32] = __hmul(a, b);                                                              \
        out[i + 64] = __hfma(a, b, c);                                                           \
        out[i + 96] = __hsub(a, __hneg(c));                                                      \
        out[i + 128] = hsqrt(a) + hrcp(b) * hexp(c) - hlog(a) + hsin(b) + hcos(c) + htrunc(a) + hrsqrt(c); \
        out[i + 160] = __hdiv(a, b);                                                             \
        out[i + 192] = __hmax(a, b) + __hmin(b, c);                                              \
        q[i] = __hlt(a, b) + __heq(b, c) * 2 + __hge(a, c) * 4 + __hisnan(b) * 8;                \
        f[i] = float(a) + float(b);                                                              \
        out[i + 224] = T(f[i + 32]) + hfloor(a) + hceil(b) + hrint(c);                           \
        out[i + 256] = T(q[i + 32]);                                                             \
        q[i + 64] = int(a) + (short)b + (unsigned)c;                                             \
        out[i + 288] = __hfma_relu(a, b, c) + __hadd_sat(a, b) + __hmul_sat(b, c) + __hfma_sat(a, b, c) + __habs(c); \
        out[i + 320] = __hmax_nan(a, b) + __hmin_nan(a, c);                                      \
    }                                                                                            \
    extern "C" __global__ void half2_##tag(T2 *out, const T2 *in, float2 *f, int *q) {           \
        int i = threadIdx.x;                                                                     \
        T2 a = in[i], b = in[i + 32], c = in[i + 64];                                            \
        out[i] = __hadd2(a, b);                                                                  \
        out[i + 32] = __hmul2(a, __lowhigh2highlow(b));                                          \
        out[i + 64] = __hfma2(a, b, c);                                                          \
        out[i + 96] = __hfma2(__low2##make(a), __hneg2(b), __high2##make(c));                    \
        out[i + 128] = __hsub2(a, c);                                                            \
        out[i + 160] = __hmax2(a, b);                                                            \
        out[i + 192] = __hmin2(__habs2(a), b);                                                   \
        q[i] = __hbeq2(a, b) + __hblt2(b, c) * 2 + __hbgtu2(a, c) * 4;                           \
        out[i + 224] = __hlt2(a, b);                                                             \
        out[i + 256] = __hgeu2(b, c);                                                            \
        out[i + 288] = h2exp2(a) + h2rcp(b) + h2sqrt(c) + h2tanh_approx(a);                      \
        f[i] = __##tag##22float2(a);                                                             \
        out[i + 320] = __float22##tag##2_rn(f[i + 32]);                                          \
        out[i + 352] = __hfma2_relu(a, b, c) + __hadd2_sat(a, b) + __hmul2_sat(b, c) + __hfma2_sat(a, b, c); \
        out[i + 384] = __hmax2_nan(a, b) + __hmin2_nan(a, c) + __hne2(a, b) * __hle2_mask_free(a, c); \
    }
#define __hle2_mask_free(a, c) __hle2(a, c)
#define h2tanh_approx(a) h2log2(a)
HALF(half, __half, __half2, half2)
#if __CUDA_ARCH__ >= 800
HALF(bfloat16, __nv_bfloat16, __nv_bfloat162, bfloat162)
#endif
