// CUDA's integer intrinsics for a host compiler, each written from its definition.
static unsigned long long __brevll(unsigned long long v) {
    return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
static int __ffsll(long long v) { return __builtin_ffsll(v); }
static long long __mul64hi(long long a, long long b) { return (__int128)a * b >> 64; }
static int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
static unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
static int __hadd(int a, int b) { return ((int64_t)a + b) >> 1; }
static int __rhadd(int a, int b) { return ((int64_t)a + b + 1) >> 1; }
static unsigned __uhadd(unsigned a, unsigned b) { return ((uint64_t)a + b) >> 1; }
static unsigned __urhadd(unsigned a, unsigned b) { return ((uint64_t)a + b + 1) >> 1; }
static unsigned __sad(int a, int b, unsigned c) {
    return (a > b ? (unsigned)a - b : (unsigned)b - a) + c;
}
static unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) {
    return s >= 32 ? lo : __funnelshift_l(lo, hi, s);
}
static unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) {
    return s >= 32 ? hi : __funnelshift_r(lo, hi, s);
}
static unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; i++) c += (uint8_t)(a >> 8 * i) * (uint8_t)(b >> 8 * i);
    return c;
}
static unsigned dot_of_two(int a, int b, int c, int first) {
    unsigned r = c;
    for (int i = 0; i < 2; i++) r += (int16_t)(a >> 16 * i) * (int8_t)(b >> 8 * (first + i));
    return r;
}
static int __dp2a_lo(int a, int b, int c) { return dot_of_two(a, b, c, 0); }
static int __dp2a_hi(int a, int b, int c) { return dot_of_two(a, b, c, 2); }
static unsigned dot_of_two(unsigned a, unsigned b, unsigned c, int first) {
    for (int i = 0; i < 2; i++) c += (uint16_t)(a >> 16 * i) * (uint8_t)(b >> 8 * (first + i));
    return c;
}
static unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return dot_of_two(a, b, c, 0); }
static unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return dot_of_two(a, b, c, 2); }

// Of each byte or half of a word.
template <int bits, class F> static unsigned signed_lanes(unsigned a, unsigned b, F f) {
    unsigned r = 0, mask = (1u << bits) - 1;
    for (int i = 0; i < 32; i += bits) {
        int x = (int)(a >> i << (32 - bits)) >> (32 - bits);
        int y = (int)(b >> i << (32 - bits)) >> (32 - bits);
        r |= ((unsigned)f(x, y) & mask) << i;
    }
    return r;
}
template <int bits, class F> static unsigned unsigned_lanes(unsigned a, unsigned b, F f) {
    unsigned r = 0, mask = (1u << bits) - 1;
    for (int i = 0; i < 32; i += bits)
        r |= ((unsigned)f((int)(a >> i & mask), (int)(b >> i & mask)) & mask) << i;
    return r;
}
static int within(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
#define LANES(name, kind, result)                                                                  \
    static unsigned name##2(unsigned a, unsigned b) {                                              \
        const int low = -0x8000, high = 0x7FFF, most = 0xFFFF;                                     \
        return kind##_lanes<16>(a, b, [=](int x, int y) { return result; });                       \
    }                                                                                              \
    static unsigned name##4(unsigned a, unsigned b) {                                              \
        const int low = -0x80, high = 0x7F, most = 0xFF;                                           \
        return kind##_lanes<8>(a, b, [=](int x, int y) { return result; });                        \
    }
LANES(__vadd, unsigned, x + y)
LANES(__vsub, unsigned, x - y)
LANES(__vaddss, signed, within(x + y, low, high))
LANES(__vsubss, signed, within(x - y, low, high))
LANES(__vaddus, unsigned, within(x + y, 0, most))
LANES(__vsubus, unsigned, within(x - y, 0, most))
LANES(__vavgs, signed, (x + y + (x + y >= 0)) >> 1)
LANES(__vavgu, unsigned, (x + y + 1) >> 1)
LANES(__vhaddu, unsigned, (x + y) >> 1)
LANES(__vabsdiffs, signed, x > y ? x - y : y - x)
LANES(__vabsdiffu, unsigned, x > y ? x - y : y - x)
LANES(__vmaxs, signed, x > y ? x : y)
LANES(__vmaxu, unsigned, x > y ? x : y)
LANES(__vmins, signed, x < y ? x : y)
LANES(__vminu, unsigned, x < y ? x : y)
LANES(__vcmpeq, unsigned, x == y ? most : 0)
LANES(__vcmpne, unsigned, x != y ? most : 0)
LANES(__vcmpgts, signed, x > y ? most : 0)
LANES(__vcmpgeu, unsigned, x >= y ? most : 0)
LANES(__vcmplts, signed, x < y ? most : 0)
LANES(__vcmpleu, unsigned, x <= y ? most : 0)
LANES(__vseteq, unsigned, x == y)
LANES(__vsetgts, signed, x > y)
LANES(__vsetltu, unsigned, x < y)
#define LANES_OF_ONE(name, result)                                                                 \
    static unsigned name##2(unsigned a) {                                                          \
        return signed_lanes<16>(a, a, [](int x, int) { return result(x, 0x7FFF); });               \
    }                                                                                              \
    static unsigned name##4(unsigned a) {                                                          \
        return signed_lanes<8>(a, a, [](int x, int) { return result(x, 0x7F); });                  \
    }
#define MAGNITUDE(x, high) ((x) < 0 ? -(x) : (x))
#define SATURATED_MAGNITUDE(x, high) within((x) < 0 ? -(x) : (x), 0, high)
#define NEGATED(x, high) -(x)
#define SATURATED_NEGATED(x, high) within(-(x), -high - 1, high)
LANES_OF_ONE(__vabs, MAGNITUDE)
LANES_OF_ONE(__vabsss, SATURATED_MAGNITUDE)
LANES_OF_ONE(__vneg, NEGATED)
LANES_OF_ONE(__vnegss, SATURATED_NEGATED)
static unsigned __vsadu4(unsigned a, unsigned b) {
    return __dp4a(__vabsdiffu4(a, b), 0x01010101u, 0u);
}
static unsigned __vsads2(unsigned a, unsigned b) {
    unsigned d = __vabsdiffs2(a, b);
    return (d & 0xFFFF) + (d >> 16);
}

// Minima and maxima of sums and of three (DPX).
static int __viaddmax_s32(int a, int b, int c) { int s = a + b; return s > c ? s : c; }
static int __viaddmin_s32(int a, int b, int c) { int s = a + b; return s < c ? s : c; }
static unsigned __viaddmax_u32(unsigned a, unsigned b, unsigned c) { return a + b > c ? a + b : c; }
static unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return a + b < c ? a + b : c; }
static int relu(int v) { return v < 0 ? 0 : v; }
static int __viaddmax_s32_relu(int a, int b, int c) { return relu(__viaddmax_s32(a, b, c)); }
static int __viaddmin_s32_relu(int a, int b, int c) { return relu(__viaddmin_s32(a, b, c)); }
static int __vimax3_s32(int a, int b, int c) { return a > b ? a > c ? a : c : b > c ? b : c; }
static int __vimin3_s32(int a, int b, int c) { return a < b ? a < c ? a : c : b < c ? b : c; }
static int __vimin3_s32_relu(int a, int b, int c) { return relu(__vimin3_s32(a, b, c)); }
static int __vimax_s32_relu(int a, int b) { return relu(a > b ? a : b); }
static unsigned __vimax3_s16x2(unsigned a, unsigned b, unsigned c) {
    return __vmaxs2(__vmaxs2(a, b), c);
}
static unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) {
    return __vminu2(__vminu2(a, b), c);
}
static unsigned __viaddmax_s16x2(unsigned a, unsigned b, unsigned c) {
    return __vmaxs2(__vadd2(a, b), c);
}
static unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) {
    return __vminu2(__vadd2(a, b), c);
}
static unsigned __viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) {
    return __vmaxs2(__viaddmax_s16x2(a, b, c), 0);
}
static int __vibmax_s32(int a, int b, bool *first) { return *first = a >= b, a >= b ? a : b; }
static unsigned __vibmin_u32(unsigned a, unsigned b, bool *first) {
    return *first = a <= b, a <= b ? a : b;
}
