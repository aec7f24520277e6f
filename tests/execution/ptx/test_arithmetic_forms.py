"""Which arithmetic forms exist: those that ptxas refuses are refused here too."""

import pytest

from lockstep.execution.ptx import instructions  # noqa: F401  (fills the table)
from lockstep.execution.ptx.opcodes import find

VALID = """add.s32 add.sat.s32 add.u16x2 add.cc.u64 addc.s32 subc.cc.u32 madc.hi.cc.u64 mul.wide.s16
mad.hi.sat.s32 mad24.hi.sat.s32 min.relu.s16x2 bfind.shiftamt.u64 dp2a.hi.s32.u32 lop3.or.b32
shf.r.clamp.b32 prmt.b32.rc16 szext.wrap.s32 bmsk.clamp.b32 mov.b128 cnot.b16 shr.s16
add.rm.ftz.sat.f32 fma.rp.f64 mad.rn.f32 div.full.ftz.f32 sqrt.rz.f64 rsqrt.approx.f64
min.ftz.NaN.xorsign.abs.f16x2 fma.rn.relu.bf16x2 ex2.approx.ftz.bf16 tanh.approx.f16x2
add.rz.f32x2 fma.rm.sat.f32.bf16 testp.subnormal.f64 setp.ltu.and.ftz.f32 set.ge.xor.bf16.s64
set.nan.u32.f16x2 slct.ftz.b64.f32 cvt.sat.u8.s64 cvt.rni.ftz.sat.s32.f32 cvt.rp.f16.u64
cvt.rz.relu.satfinite.bf16x2.f32 cvt.rn.satfinite.relu.e5m2x2.f16x2 cvt.rna.tf32.f32
cvt.rn.f64.bf16 cvt.pack.sat.u4.s32.b32"""
INVALID = """add.u8 add.rn.s32 add.sat.u32 add.sat.f64 add.ftz.f64 mul.s32 mul.wide.u64
mad.lo.sat.s32
abs.u32 neg.u64 min.f16x3 min.xorsign.f32 bfe.b32 shl.u32 shf.l.b32 prmt.b64 popc.u32 lop3.b64
fma.f32 fma.rz.f16 div.f32 div.approx.f64 sqrt.f32 sqrt.approx.f64 sin.f32 tanh.approx.f64
ex2.approx.bf16 ex2.approx.ftz.f16 copysign.f16 testp.f32 setp.lo.s32 setp.ltu.u32 setp.lt.b32
setp.lt.ftz.f64 set.lt.u64.u32 selp.f16 slct.s32.u32 mov.f16 mov.u8 cvt.s32.f32 cvt.f32.s32
cvt.rn.s32.s64 cvt.rn.s32.f32 cvt.f32.f64 cvt.rn.u8.bf16 cvt.rn.e4m3x2.f32
cvt.rz.satfinite.e4m3x2.f32
cvt.rna.f16.f32 cvt.pack.u8.s32 cvt.rn.f16x2.f64 cvt.sat.u32.u16"""


@pytest.mark.parametrize("name", VALID.split())
def test_form_exists(name):
    assert find(name) is not None


@pytest.mark.parametrize("name", INVALID.split())
def test_form_is_refused(name):
    assert find(name) is None
