// Floating-point operations of 32, 64 and 16 bits, special functions, and sequences of them.
#include "chain.cuh"

#define FLOAT(NAME, ASM) \
  OPERATION(NAME, float, 1.0f + t * 0.001f + k, asm volatile(ASM : "+f"(x) : "f"(b), "f"(c));)
#define DOUBLE(NAME, ASM) \
  OPERATION(NAME, double, 1.0 + t * 0.001 + k, asm volatile(ASM : "+d"(x) : "d"(b), "d"(c));)
#define HALVES(NAME, ASM) \
  OPERATION(NAME, u32, 0x3c003c00u + t + k, asm volatile(ASM : "+r"(x) : "r"(b), "r"(c));)
#define OF_FLOAT(NAME, START, EXPRESSION) \
  OPERATION(NAME, float, START, x = EXPRESSION; asm volatile("" : "+f"(x));)
#define OF_DOUBLE(NAME, EXPRESSION) \
  OPERATION(NAME, double, 1.5 + t * 0.001 + k, x = EXPRESSION; asm volatile("" : "+d"(x));)

namespace op {
FLOAT(fadd, "add.rn.f32 %0, %0, %1;")
FLOAT(fmul, "mul.rn.f32 %0, %0, %1;")
FLOAT(ffma, "fma.rn.f32 %0, %0, %1, %2;")
FLOAT(fmnmx, "{ .reg .f32 q; max.f32 q, %0, %1; min.f32 %0, q, %2; }")
FLOAT(fset, "{ .reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %1, %2, p; }")
FLOAT(mufu_rcp, "{ .reg .f32 q; rcp.approx.ftz.f32 q, %0; add.rn.f32 %0, q, %1; }")
FLOAT(mufu_rsq, "rsqrt.approx.ftz.f32 %0, %0;")
FLOAT(mufu_ex2, "ex2.approx.ftz.f32 %0, %0;")
FLOAT(mufu_lg2, "lg2.approx.ftz.f32 %0, %0;")
FLOAT(mufu_sqrt, "sqrt.approx.ftz.f32 %0, %0;")
FLOAT(mufu_sin, "sin.approx.ftz.f32 %0, %0;")
FLOAT(cvt_f32_f16, "{ .reg .b16 q; cvt.rn.f16.f32 q, %0; cvt.f32.f16 %0, q; }")
FLOAT(cvt_f32_f64, "{ .reg .f64 q; cvt.f64.f32 q, %0; cvt.rn.f32.f64 %0, q; }")
FLOAT(frnd, "cvt.rni.f32.f32 %0, %0;")
DOUBLE(dadd, "add.rn.f64 %0, %0, %1;")
DOUBLE(dmul, "mul.rn.f64 %0, %0, %1;")
DOUBLE(dfma, "fma.rn.f64 %0, %0, %1, %2;")
DOUBLE(dsetp_sel, "{ .reg .pred p; setp.lt.f64 p, %0, %1; selp.f64 %0, %1, %2, p; }")
HALVES(hadd2, "add.f16x2 %0, %0, %1;")
HALVES(hmul2, "mul.f16x2 %0, %0, %1;")
HALVES(hfma2, "fma.rn.f16x2 %0, %0, %1, %2;")
OF_FLOAT(div_rn, 1.5f + t * 0.001f + k, __fdiv_rn(c, x))
OF_FLOAT(div_fast, 1.5f + t * 0.001f + k, __fdividef(c, x))
OF_FLOAT(sqrt_rn, 1.5f + t * 0.001f + k, __fsqrt_rn(x))
OF_FLOAT(rcp_rn, 1.5f + t * 0.001f + k, __frcp_rn(x))
OF_FLOAT(expf_full, 0.1f + t * 0.0001f + k, expf(-x))
OF_FLOAT(sinf_full, 0.1f + t * 0.0001f + k, sinf(x))
OF_DOUBLE(ddiv_rn, __ddiv_rn(c, x))
OF_DOUBLE(dsqrt_rn, __dsqrt_rn(x))
#if __CUDA_ARCH__ >= 800
FLOAT(mufu_tanh, "tanh.approx.f32 %0, %0;")
HALVES(hfma2_bf16, "fma.rn.bf16x2 %0, %0, %1, %2;")
HALVES(hmnmx2, "{ .reg .b32 q; max.f16x2 q, %0, %1; min.f16x2 %0, q, %2; }")
#endif
}  // namespace op

SINGLE(fadd) SINGLE(fmul) SINGLE(ffma) SINGLE(fmnmx) SINGLE(fset) SINGLE(mufu_rcp)
SINGLE(mufu_rsq) SINGLE(mufu_ex2) SINGLE(mufu_lg2) SINGLE(mufu_sqrt) SINGLE(mufu_sin)
SINGLE(cvt_f32_f16) SINGLE(cvt_f32_f64) SINGLE(frnd) SINGLE(dadd) SINGLE(dmul) SINGLE(dfma)
SINGLE(dsetp_sel) SINGLE(hadd2) SINGLE(hmul2) SINGLE(hfma2) SEQUENCE(div_rn) SEQUENCE(div_fast)
SEQUENCE(sqrt_rn) SEQUENCE(rcp_rn) SEQUENCE(ddiv_rn) SEQUENCE(dsqrt_rn) SEQUENCE(expf_full)
SEQUENCE(sinf_full)
#if __CUDA_ARCH__ >= 800
SINGLE(mufu_tanh) SINGLE(hfma2_bf16) SINGLE(hmnmx2)
#endif
