// Instructions of PTX as functions: their text for a device, their definition for the host.
#ifdef __CUDACC__
#define PTX_1(name, text, ...)                                                                     \
    INLINE u32 name(u32 a) {                                                                       \
        u32 r;                                                                                     \
        asm(text : "=r"(r) : "r"(a));                                                              \
        return r;                                                                                  \
    }
#define PTX_2(name, text, ...)                                                                     \
    INLINE u32 name(u32 a, u32 b) {                                                                \
        u32 r;                                                                                     \
        asm(text : "=r"(r) : "r"(a), "r"(b));                                                      \
        return r;                                                                                  \
    }
#define PTX_3(name, text, ...)                                                                     \
    INLINE u32 name(u32 a, u32 b, u32 c) {                                                         \
        u32 r;                                                                                     \
        asm(text : "=r"(r) : "r"(a), "r"(b), "r"(c));                                              \
        return r;                                                                                  \
    }
#define PTX_4(name, text, ...)                                                                     \
    INLINE u32 name(u32 a, u32 b, u32 c, u32 d) {                                                  \
        u32 r;                                                                                     \
        asm(text : "=r"(r) : "r"(a), "r"(b), "r"(c), "r"(d));                                      \
        return r;                                                                                  \
    }
#define PTX_LONG(name, text, ...)                                                                  \
    INLINE u64 name(u64 a, u64 b, u32 c, u32 d) {                                                  \
        u64 r;                                                                                     \
        asm(text : "=l"(r) : "l"(a), "l"(b), "r"(c), "r"(d));                                      \
        return r;                                                                                  \
    }
#define PTX_FLOAT(name, text, ...)                                                                 \
    INLINE f32 name(f32 a, f32 b, f32 c) {                                                         \
        f32 r;                                                                                     \
        asm(text : "=f"(r) : "f"(a), "f"(b), "f"(c));                                              \
        return r;                                                                                  \
    }
#define PTX_TEST(name, text, ...)                                                                  \
    INLINE u32 name(f32 a, f32 b, u32 c) {                                                         \
        u32 r;                                                                                     \
        asm(text : "=r"(r) : "f"(a), "f"(b), "r"(c));                                              \
        return r;                                                                                  \
    }
#else
#define PTX_1(name, text, ...) INLINE u32 name(u32 a) { return __VA_ARGS__; }
#define PTX_2(name, text, ...) INLINE u32 name(u32 a, u32 b) { return __VA_ARGS__; }
#define PTX_3(name, text, ...) INLINE u32 name(u32 a, u32 b, u32 c) { return __VA_ARGS__; }
#define PTX_4(name, text, ...) INLINE u32 name(u32 a, u32 b, u32 c, u32 d) { return __VA_ARGS__; }
#define PTX_LONG(name, text, ...)                                                                  \
    INLINE u64 name(u64 a, u64 b, u32 c, u32 d) { return __VA_ARGS__; }
#define PTX_FLOAT(name, text, ...) INLINE f32 name(f32 a, f32 b, f32 c) { return __VA_ARGS__; }
#define PTX_TEST(name, text, ...) INLINE u32 name(f32 a, f32 b, u32 c) { return __VA_ARGS__; }
static u32 byte_of(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) >> 8 * (n & 7)) & 255; }
template <class F> static u32 bytes(F f) { return f(0) | f(1) << 8 | f(2) << 16 | f(3) << 24; }
static u32 looked_up(u32 a, u32 b, u32 c, u32 table) {
    u32 r = 0;
    for (int i = 0; i < 32; i++)
        r |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return r;
}
static u32 chosen_byte(u32 a, u32 b, u32 n) {
    u32 v = byte_of(a, b, n);
    return n & 8 ? (v & 0x80 ? 255 : 0) : v;
}
static u32 highest(u64 v) { return v ? 63 - __builtin_clzll(v) : ~0u; }
static u64 field(u64 a, u32 at, u32 length, int bits, bool is_signed) {
    at &= 255, length &= 255;
    u32 last = at + length - 1;
    u64 sign = is_signed && length ? a >> (last < bits - 1u ? last : bits - 1u) & 1 : 0, r = 0;
    for (u32 i = 0; i < (u32)bits; i++)
        r |= (i < length && at + i < (u32)bits ? a >> (at + i) & 1 : sign) << i;
    return r;
}
static u64 inserted(u64 a, u64 b, u32 at, u32 length, int bits) {
    at &= 255, length &= 255;
    for (u32 i = 0; i < length && at + i < (u32)bits; i++)
        b = (b & ~(1ull << (at + i))) | (a >> i & 1) << (at + i);
    return b;
}
static u32 clamped(i64 v, i64 low, i64 high) { return (u32)(v < low ? low : v > high ? high : v); }
static u32 mask_of(u32 at, u32 width) {
    u64 from = at >= 32 ? 0 : ~0ull << at, to = at + width >= 32 ? 0 : ~0ull << (at + width);
    return (u32)(from & ~to);
}
static u32 extended(u32 a, u32 bits, bool is_signed) {
    if (bits == 0) return 0;
    if (bits >= 32) return a;
    return is_signed ? (u32)((i32)(a << (32 - bits)) >> (32 - bits)) : a & ((1u << bits) - 1);
}
static f32 flushed(f32 v) { return fabsf(v) < 0x1p-126f ? copysignf(0, v) : v; }
#endif
#define LIMITS -0x80000000ll, 0x7FFFFFFFll

PTX_3(lop3_xor, "lop3.b32 %0, %1, %2, %3, 0x96;", looked_up(a, b, c, 0x96))
PTX_3(lop3_most, "lop3.b32 %0, %1, %2, %3, 0xE8;", looked_up(a, b, c, 0xE8))
PTX_3(lop3_1d, "lop3.b32 %0, %1, %2, %3, 0x1D;", looked_up(a, b, c, 0x1D))
PTX_3(lop3_42, "lop3.b32 %0, %1, %2, %3, 0x42;", looked_up(a, b, c, 0x42))
PTX_3(prmt, "prmt.b32 %0, %1, %2, %3;",
      bytes([=](int i) { return chosen_byte(a, b, c >> 4 * i & 15); }))
PTX_3(prmt_f4e, "prmt.b32.f4e %0, %1, %2, %3;",
      bytes([=](int i) { return byte_of(a, b, (c & 3) + i); }))
PTX_3(prmt_b4e, "prmt.b32.b4e %0, %1, %2, %3;",
      bytes([=](int i) { return byte_of(a, b, (c & 3) - i); }))
PTX_3(prmt_rc8, "prmt.b32.rc8 %0, %1, %2, %3;", bytes([=](int i) { return byte_of(a, b, c & 3); }))
PTX_3(prmt_ecl, "prmt.b32.ecl %0, %1, %2, %3;",
      bytes([=](int i) { return byte_of(a, b, larger((u32)i, c & 3)); }))
PTX_3(prmt_ecr, "prmt.b32.ecr %0, %1, %2, %3;",
      bytes([=](int i) { return byte_of(a, b, smaller((u32)i, c & 3)); }))
PTX_3(prmt_rc16, "prmt.b32.rc16 %0, %1, %2, %3;",
      bytes([=](int i) { return byte_of(a, b, 2 * (c & 1) + (i & 1)); }))
PTX_1(bfind_u, "bfind.u32 %0, %1;", highest(a))
PTX_1(bfind_s, "bfind.s32 %0, %1;", highest((i32)a < 0 ? ~a : a))
PTX_1(bfind_shift, "bfind.shiftamt.u32 %0, %1;", a ? 31 - highest(a) : ~0u)
PTX_3(bfe_u, "bfe.u32 %0, %1, %2, %3;", (u32)field(a, b, c, 32, false))
PTX_3(bfe_s, "bfe.s32 %0, %1, %2, %3;", (u32)field(a, b, c, 32, true))
PTX_4(bfi, "bfi.b32 %0, %1, %2, %3, %4;", (u32)inserted(a, b, c, d, 32))
PTX_LONG(bfi_long, "bfi.b64 %0, %1, %2, %3, %4;", inserted(a, b, c, d, 64))
PTX_LONG(bfe_long, "{ .reg .b64 t; bfe.u64 t, %1, %3, %4; xor.b64 %0, t, %2; }",
         field(a, c, d, 64, false) ^ b)
PTX_LONG(bfe_slong, "{ .reg .b64 t; bfe.s64 t, %1, %3, %4; xor.b64 %0, t, %2; }",
         field(a, c, d, 64, true) ^ b)
PTX_3(mad_hi_s, "mad.hi.s32 %0, %1, %2, %3;", (u32)((i64)(i32)a * (i32)b >> 32) + c)
PTX_3(mad_hi_u, "mad.hi.u32 %0, %1, %2, %3;", (u32)((u64)a * b >> 32) + c)
PTX_3(mad_hi_sat, "mad.hi.sat.s32 %0, %1, %2, %3;",
      clamped(((i64)(i32)a * (i32)b >> 32) + (i32)c, LIMITS))
PTX_3(mad24_lo, "mad24.lo.s32 %0, %1, %2, %3;", (u32)__mul24(a, b) + c)
PTX_3(mad24_hi, "mad24.hi.u32 %0, %1, %2, %3;",
      (u32)((u64)(a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16) + c)
PTX_2(mul24_hi, "mul24.hi.s32 %0, %1, %2;",
      (u32)((i64)((i32)(a << 8) >> 8) * ((i32)(b << 8) >> 8) >> 16))
PTX_2(add_sat, "add.sat.s32 %0, %1, %2;", clamped((i64)(i32)a + (i32)b, LIMITS))
PTX_2(sub_sat, "sub.sat.s32 %0, %1, %2;", clamped((i64)(i32)a - (i32)b, LIMITS))
PTX_4(add_chain, "{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.cc.u32 t, %3, t; addc.u32 %0, t, %4; }",
      [=] {
          u64 first = (u64)a + b, second = (u64)c + (u32)first + (first >> 32);
          return (u32)second + d + (u32)(second >> 32);
      }())
PTX_4(sub_chain, "{ .reg .u32 t; sub.cc.u32 t, %1, %2; subc.cc.u32 t, %3, t; subc.u32 %0, t, %4; }",
      [=] {
          u32 first = a - b, one = a < b, second = c - first - one;
          return second - d - (u32)((u64)c < (u64)first + one);
      }())
PTX_4(mad_chain, "{ .reg .u32 t; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 %0, t, %2, %4; }",
      [=] {
          u64 low = (u64)(a * b) + c;
          return (u32)((u64)(u32)low * b >> 32) + d + (u32)(low >> 32);
      }())
PTX_3(sad_s, "sad.s32 %0, %1, %2, %3;", __sad(a, b, c))
PTX_2(szext_s, "szext.clamp.s32 %0, %1, %2;", extended(a, b, true))
PTX_2(szext_u, "szext.wrap.u32 %0, %1, %2;", extended(a, b & 31, false))
PTX_2(bmsk_clamp, "bmsk.clamp.b32 %0, %1, %2;", mask_of(smaller(a, 32u), smaller(b, 32u)))
PTX_2(bmsk_wrap, "bmsk.wrap.b32 %0, %1, %2;", mask_of(a & 31, b & 31))
PTX_2(set_lt, "set.lt.u32.s32 %0, %1, %2;", (i32)a < (i32)b ? ~0u : 0)
PTX_3(set_and, "{ .reg .pred p; setp.ne.u32 p, %3, 0; set.ge.and.u32.u32 %0, %1, %2, p; }",
      a >= b && c ? ~0u : 0)
PTX_4(setp_xor,
      "{ .reg .pred p, q, r; setp.gt.u32 r, %4, 99; setp.lt.xor.s32 p|q, %1, %2, r;"
      " selp.b32 %0, %3, 7, p; @q add.u32 %0, %0, 1; }",
      (((i32)a < (i32)b) != (d > 99) ? c : 7) + (!((i32)a < (i32)b) != (d > 99)))
PTX_4(setp_or,
      "{ .reg .pred p, q, r; setp.ne.u32 r, %4, 0; setp.hi.or.u32 p|q, %1, %2, !r;"
      " selp.b32 %0, %3, %4, p; @!q xor.b32 %0, %0, -1; }",
      (a > b || !d ? c : d) ^ (!(a > b) || !d ? 0 : ~0u))
PTX_3(slct_s, "slct.u32.s32 %0, %1, %2, %3;", (i32)c >= 0 ? a : b)
PTX_1(cnot, "cnot.b32 %0, %1;", a == 0)
PTX_1(cvt_s8, "cvt.sat.s8.s32 %0, %1;", clamped((i32)a, -128, 127))
PTX_1(cvt_u8, "cvt.sat.u8.s32 %0, %1;", clamped((i32)a, 0, 255))
PTX_1(cvt_s16, "cvt.sat.s16.u32 %0, %1;", clamped(a, 0, 32767))
PTX_1(cvt_u16, "cvt.sat.u16.s32 %0, %1;", clamped((i32)a, 0, 65535))
PTX_1(cvt_u32, "cvt.sat.u32.s32 %0, %1;", clamped((i32)a, 0, 0xFFFFFFFFll))
PTX_3(pack_u8, "cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;",
      c << 16 | clamped((i32)a, 0, 255) << 8 | clamped((i32)b, 0, 255))
PTX_3(pack_s8, "cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;",
      c << 16 | (clamped((i32)a, -128, 127) & 255) << 8 | (clamped((i32)b, -128, 127) & 255))
PTX_2(pack_s16, "cvt.pack.sat.s16.s32 %0, %1, %2;",
      clamped((i32)a, -32768, 32767) << 16 | (clamped((i32)b, -32768, 32767) & 0xFFFF))
PTX_2(pack_u16, "cvt.pack.sat.u16.s32 %0, %1, %2;",
      clamped((i32)a, 0, 65535) << 16 | clamped((i32)b, 0, 65535))
PTX_2(mul_s16,
      "{ .reg .s16 x, y, z, t; mov.b32 {x, t}, %1; mov.b32 {y, z}, %2; mul.hi.s16 z, x, y;"
      " mul.wide.s16 %0, z, t; }",
      (u32)(((i32)(i16)a * (i16)b >> 16) * (i32)(i16)(a >> 16)))
PTX_3(mad_u16,
      "{ .reg .u16 x, y, z, t; mov.b32 {x, t}, %1; mov.b32 {y, z}, %2; mad.lo.u16 z, x, y, z;"
      " mad.wide.u16 %0, z, t, %3; }",
      (u32)(u16)((u16)a * (u32)(u16)b + (b >> 16)) * (a >> 16) + c)
PTX_2(shr_s16,
      "{ .reg .s16 x, t; mov.b32 {x, t}, %1; shr.s16 x, x, %2; min.s16 t, t, x;"
      " mov.b32 %0, {x, t}; }",
      [=] {
          i16 x = (i16)((i16)a >> smaller(b, 16u)), t = smaller((i16)(a >> 16), x);
          return (u32)(u16)x | (u32)(u16)t << 16;
      }())
PTX_FLOAT(add_ftz_sat, "{ .reg .f32 t; add.ftz.sat.f32 t, %1, %2; add.f32 %0, t, %3; }",
          __saturatef(flushed(flushed(a) + flushed(b))) + c)
PTX_FLOAT(mul_sat, "{ .reg .f32 t; mul.sat.f32 t, %1, %2; sub.f32 %0, %3, t; }",
          c - __saturatef(a * b))
PTX_FLOAT(fma_rz_sat, "fma.rz.sat.f32 %0, %1, %2, %3;", __saturatef(__fmaf_rz(a, b, c)))
PTX_FLOAT(fma_rm, "fma.rm.f32 %0, %1, %2, %3;", __fmaf_rd(a, b, c))
PTX_FLOAT(cvt_sat, "{ .reg .f32 t; cvt.rmi.sat.f32.f32 t, %1; fma.rn.f32 %0, t, %2, %3; }",
          fmaf(__saturatef(floorf(a)), b, c))
PTX_FLOAT(slct_f, "slct.f32.f32 %0, %1, %2, %3;", c >= 0 ? a : b)
PTX_TEST(setp_unordered,
         "{ .reg .pred p, q; setp.ne.u32 q, %3, 0; setp.ltu.and.f32 p, %1, %2, q;"
         " selp.u32 %0, 3, 5, p; }",
         !(a >= b) && c ? 3 : 5)
PTX_TEST(setp_number,
         "{ .reg .pred p, q, r; setp.ge.s32 r, %3, 0; setp.num.xor.f32 p|q, %1, %2, r;"
         " selp.u32 %0, 3, 5, p; @q add.u32 %0, %0, 8; }",
         ((a == a && b == b) != ((i32)c >= 0) ? 3 : 5) +
             ((a != a || b != b) != ((i32)c >= 0) ? 8 : 0))
PTX_TEST(set_float,
         "{ .reg .f32 t; set.gtu.f32.f32 t, %1, %2; cvt.rzi.u32.f32 %0, t;"
         " add.u32 %0, %0, %3; }",
         (u32)!(a <= b) + c)
PTX_TEST(tested,
         "{ .reg .pred p, q; testp.subnormal.f32 p, %1; testp.finite.f32 q, %2;"
         " selp.u32 %0, %3, 1, p; @q shl.b32 %0, %0, 1; }",
         (fpclassify(a) == FP_SUBNORMAL ? c : 1) << (isfinite(b) ? 1 : 0))
