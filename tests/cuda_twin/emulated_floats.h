// CUDA's conversions and operations with a rounding mode, by that of the host's processor.
#include <fenv.h>

static double integral_rn(double v) { return rint(v); }
static double integral_rz(double v) { return trunc(v); }
static double integral_ru(double v) { return ceil(v); }
static double integral_rd(double v) { return floor(v); }
// What is no number becomes 0 between 32 bits and 32 bits, and otherwise the lowest integer.
template <class I, class F> static I integer_of(F v, double integral) {
    const int bits = 8 * sizeof(I);
    const bool is_signed = (I)-1 < 0;
    double end = ldexp(1.0, is_signed ? bits - 1 : bits);
    if (v != v) return sizeof(F) == 4 && bits == 32 ? 0 : (I)1 << (bits - 1);
    if (integral >= end) return is_signed ? ~((I)1 << (bits - 1)) : (I)-1;
    if (integral < (is_signed ? -end : 0)) return is_signed ? (I)1 << (bits - 1) : 0;
    return (I)integral;
}
#define TO_INTEGER(name, from, to, mode)                                                           \
    static to name##_##mode(from v) { return integer_of<to>(v, integral_##mode(v)); }
#define ROUNDED(name, result, parameters, operands, value, mode, direction)                        \
    static result name##_##mode parameters {                                                       \
        operands;                                                                                  \
        fesetround(direction);                                                                     \
        volatile result r = value;                                                                 \
        fesetround(FE_TONEAREST);                                                                  \
        return r;                                                                                  \
    }
#define FROM(name, from, to, mode, direction)                                                      \
    ROUNDED(name, to, (from v), volatile from x = v, (to)x, mode, direction)
#define OF_TWO(name, type, value, mode, direction)                                                 \
    ROUNDED(name, type, (type a, type b), volatile type x = a; volatile type y = b, value, mode,   \
            direction)
#define OF_THREE(name, type, value, mode, direction)                                               \
    ROUNDED(name, type, (type a, type b, type c), volatile type x = a; volatile type y = b;        \
            volatile type z = c, value, mode, direction)
#define OF_ONE(name, type, value, mode, direction)                                                 \
    ROUNDED(name, type, (type a), volatile type x = a, value, mode, direction)
#define MODE(mode, direction)                                                                      \
    TO_INTEGER(__float2ll, float, long long, mode)                                                 \
    TO_INTEGER(__float2ull, float, unsigned long long, mode)                                       \
    TO_INTEGER(__double2ll, double, long long, mode)                                               \
    TO_INTEGER(__double2ull, double, unsigned long long, mode)                                     \
    FROM(__int2float, int, float, mode, direction)                                                 \
    FROM(__uint2float, unsigned, float, mode, direction)                                           \
    FROM(__ll2float, long long, float, mode, direction)                                            \
    FROM(__ull2float, unsigned long long, float, mode, direction)                                  \
    FROM(__ll2double, long long, double, mode, direction)                                          \
    FROM(__ull2double, unsigned long long, double, mode, direction)                                \
    FROM(__double2float, double, float, mode, direction)                                           \
    OF_TWO(__fadd, float, x + y, mode, direction)                                                  \
    OF_TWO(__fsub, float, x - y, mode, direction)                                                  \
    OF_TWO(__fmul, float, x * y, mode, direction)                                                  \
    OF_TWO(__fdiv, float, x / y, mode, direction)                                                  \
    OF_THREE(__fmaf, float, fmaf(x, y, z), mode, direction)                                        \
    OF_ONE(__fsqrt, float, sqrtf(x), mode, direction)                                              \
    OF_ONE(__frcp, float, 1.0f / x, mode, direction)                                               \
    OF_TWO(__dadd, double, x + y, mode, direction)                                                 \
    OF_TWO(__dmul, double, x * y, mode, direction)                                                 \
    OF_TWO(__ddiv, double, x / y, mode, direction)                                                 \
    OF_THREE(__fma, double, fma(x, y, z), mode, direction)                                         \
    OF_ONE(__dsqrt, double, sqrt(x), mode, direction)                                              \
    OF_ONE(__drcp, double, 1.0 / x, mode, direction)
#define NARROW(mode)                                                                               \
    TO_INTEGER(__float2int, float, int, mode)                                                      \
    TO_INTEGER(__float2uint, float, unsigned, mode)                                                \
    TO_INTEGER(__double2int, double, int, mode)                                                    \
    TO_INTEGER(__double2uint, double, unsigned, mode)
MODE(rn, FE_TONEAREST)
MODE(rz, FE_TOWARDZERO)
MODE(ru, FE_UPWARD)
MODE(rd, FE_DOWNWARD)
NARROW(rn)
NARROW(rz)
NARROW(ru)
NARROW(rd)

static float __saturatef(float v) { return v != v || v <= 0 ? 0 : v > 1 ? 1 : v; }
static int __double2hiint(double v) { return (int)(to_bits(v) >> 32); }
static int __double2loint(double v) { return (int)to_bits(v); }
static double __hiloint2double(int high, int low) {
    return of_bits<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}
static int __float_as_int(float v) { return (int)to_bits(v); }
static float __int_as_float(int v) { return of_bits<float>((unsigned)v); }
