"""Floating-point operations by opcode."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.metrics import flops
from lockstep.metrics.flops import of_text
from lockstep.model.core.attribution import ATTRIBUTED


@pytest.mark.parametrize(
    ("text", "kind", "precision", "lane"),
    [
        ("FFMA R1, R2, R3, R4", "ffma", "fp32", 2),
        ("@!P0 FADD.FTZ R1, -R2, R3", "fadd", "fp32", 1),
        ("FMUL", "fmul", "fp32", 1),
        ("FFMA2 R2, R4, R6, R8", "ffma", "fp32", 4),
        ("DFMA.RN", "dfma", "fp64", 2),
        ("DADD", "dadd", "fp64", 1),
        ("HFMA2.MMA R1, R2, R3, R4", "hfma", "fp16", 4),
        ("HMUL2.BF16_V2", "hmul", "fp16", 2),
        ("fma.rn.f32", "ffma", "fp32", 2),
        ("sub.f64", "dadd", "fp64", 1),
        ("mul.ftz.f32", "fmul", "fp32", 1),
        ("fma.rn.bf16x2", "hfma", "fp16", 4),
        ("v_mac_f32_e32 v1, v2, v3", "ffma", "fp32", 2),
        ("v_mul_f64 v[1:2], v[3:4], v[5:6]", "dmul", "fp64", 1),
        ("v_subrev_f32_e32 v0, v1, v2", "fadd", "fp32", 1),
    ],
)
def test_what_a_lane_computes(text, kind, precision, lane):
    assert of_text(text) == (kind, precision, lane, 0)


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("HMMA.16816.F32 R4, R8, R10, R4", 2 * 16 * 8 * 16),
        ("HMMA.1688.F32.TF32", 2 * 16 * 8 * 8),
        ("HMMA.884.F32.F32.STEP0", 2 * 8 * 8 * 4),
        ("DMMA.884", 2 * 8 * 8 * 4),
        ("HGMMA.64x256x16.F32", 2 * 64 * 256 * 16 // 4),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2 * 16 * 8 * 16),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 2 * 16**3),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", 2 * 64 * 128 * 16 // 4),
    ],
)
def test_what_a_warp_computes_of_a_product(text, operations):
    assert of_text(text) == ("", "tensor", 0, operations)


@pytest.mark.parametrize(
    "text",
    ["IMAD R1, R2, R3, R4", "LDG.E", "FSETP.GT.AND", "HADD2.F32 R1, -RZ, R2.H0_H0", "MUFU.RCP",
     "add.s32", "mul.wide.u32", "atom.global.add.f32", "red.add.f64", "div.rn.f32", "cvt.f32.f64",
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "IMMA.16832.S8.S8", "v_add_i32_e32 v1, v2",
     "v_cvt_f32_f64", "v_cmp_lt_f32_e32", "s_add_u32", "", "@P0"],
)  # fmt: skip
def test_what_is_no_floating_point_operation(text):
    assert of_text(text) is None


@pytest.fixture
def facts():
    """Function from instructions to facts of a kernel that executed them."""

    def make(*executed):
        counts = np.zeros(len(executed), ATTRIBUTED)
        for row, (_, warps, lanes) in zip(counts, executed):
            row["warp_instructions"], row["thread_instructions"] = warps, lanes
        source = SimpleNamespace(texts=[text for text, _, _ in executed], counts=counts)
        return SimpleNamespace(kernel=SimpleNamespace(source=source))

    return make


def test_operations_are_those_of_lanes_that_took_part(facts):
    k = facts(("FFMA", 10, 200), ("FADD", 2, 64), ("DFMA", 1, 3), ("HMMA.16816.F32", 4, 128))
    assert flops.operations(k, "fp32") == 2 * 200 + 64
    assert flops.operations(k, "fp64") == 6
    assert flops.operations(k, "fp16") == 0
    assert flops.operations(k, "tensor") == 4 * 4096
    assert flops.executed(k, "ffma") == 200 and flops.executed(k, "dmul") == 0
    assert flops.all_operations(k) == 464 + 6 + 4 * 4096
