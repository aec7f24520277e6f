// Integer operations, conversions, and what warps do together.
#include "chain.cuh"

#define WORD(NAME, ASM) \
  OPERATION(NAME, u32, t * 7 + k + 3, asm volatile(ASM : "+r"(x) : "r"(b), "r"(c));)
#define LONG(NAME, START, ASM) \
  OPERATION(NAME, u64, START, asm volatile(ASM : "+l"(x) : "l"(b), "l"(c));)

namespace op {
WORD(iadd3, "{ .reg .u32 q; add.u32 q, %0, %1; add.u32 %0, q, %2; }")
WORD(imad, "mad.lo.u32 %0, %0, %1, %2;")
WORD(imad_hi, "mad.hi.u32 %0, %0, %1, %2;")
LONG(imad_wide, t * 7 + k + 3,
     "{ .reg .u32 q, r, s, t; mov.b64 {q, r}, %0; mov.b64 {s, t}, %1; mad.wide.u32 %0, q, s, %0; }")
WORD(lop3, "lop3.b32 %0, %0, %1, %2, 0x96;")
WORD(shf, "shf.l.wrap.b32 %0, %0, %1, %2;")
WORD(shl_var, "{ .reg .u32 q; and.b32 q, %0, 1; shl.b32 %0, %1, q; }")
WORD(isetp_sel, "{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %1, %2, p; }")
WORD(prmt, "prmt.b32 %0, %0, %1, 0x2143;")
WORD(popc, "popc.b32 %0, %0;")
WORD(flo, "bfind.u32 %0, %0;")
WORD(brev, "brev.b32 %0, %0;")
WORD(lea, "{ .reg .u32 q; shl.b32 q, %0, 3; add.u32 %0, q, %1; }")
WORD(vimnmx, "{ .reg .u32 q; max.u32 q, %0, %1; min.u32 %0, q, %2; }")
WORD(dp4a, "dp4a.u32.u32 %0, %0, %1, %2;")
WORD(i2f_f2i, "{ .reg .f32 q; cvt.rn.f32.s32 q, %0; cvt.rzi.s32.f32 %0, q; }")
WORD(shfl_idx, "shfl.sync.idx.b32 %0, %0, %0, 31, -1;")
WORD(shfl_bfly, "shfl.sync.bfly.b32 %0, %0, 5, 31, -1;")
WORD(vote_sel, "{ .reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }")
WORD(match_any, "match.any.sync.b32 %0, %0, -1;")
WORD(s2r_warpid, "{ .reg .u32 q; mov.u32 q, %%warpid; add.u32 %0, %0, q; }")
WORD(s2r_clock, "{ .reg .u32 q; mov.u32 q, %%clock; add.u32 %0, %0, q; }")
LONG(cs2r_clock64, t, "{ .reg .u64 q; mov.u64 q, %%clock64; xor.b64 %0, %0, q; }")
LONG(iadd64, t * 7 + k + 3, "{ .reg .u64 q; add.u64 q, %0, %1; add.u64 %0, q, %2; }")
LONG(imul64, t * 7 + k + 3, "mad.lo.u64 %0, %0, %1, %2;")
OPERATION(udiv32, u32, t * 7 + k + 0x7fffff03u,
          x = 0xfffffff1u / (x | 1u); asm volatile("" : "+r"(x));)
OPERATION(urem32, u32, t * 7 + k + 0x7fffff03u,
          x = 0xfffffff1u % (x | 1u); asm volatile("" : "+r"(x));)
OPERATION(udiv64, u64, t * 7 + k + 0x7fffff03u,
          x = 0xfffffffffffffff1ull / (x | 0x1000000001ull); asm volatile("" : "+l"(x));)
OPERATION(sync_warp, u32, t, __syncwarp(); asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(b));)
#if __CUDA_ARCH__ >= 800
WORD(redux_add, "redux.sync.add.u32 %0, %0, -1;")
WORD(redux_max, "redux.sync.max.u32 %0, %0, -1;")
#endif
}  // namespace op

SINGLE(iadd3) SINGLE(imad) SINGLE(imad_hi) SINGLE(imad_wide) SINGLE(lop3) SINGLE(shf)
SINGLE(shl_var) SINGLE(isetp_sel) SINGLE(prmt) SINGLE(popc) SINGLE(flo) SINGLE(brev) SINGLE(lea)
SINGLE(vimnmx) SINGLE(dp4a) SINGLE(i2f_f2i) SINGLE(shfl_idx) SINGLE(shfl_bfly) SINGLE(vote_sel)
SEQUENCE(match_any) SINGLE(s2r_warpid) SINGLE(s2r_clock) SINGLE(cs2r_clock64) SINGLE(iadd64)
SEQUENCE(imul64) SEQUENCE(udiv32) SEQUENCE(urem32) SEQUENCE(udiv64) SINGLE(sync_warp)
#if __CUDA_ARCH__ >= 800
SINGLE(redux_add) SINGLE(redux_max)
#endif
