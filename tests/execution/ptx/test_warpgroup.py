"""wgmma against NumPy."""

import re

import numpy as np
import pytest

import lockstep
from ptx_twin.warpgroup_programs import HEADER, SWIZZLES, THREADS, bits, dense, kernel, sparse


def check(device, product):
    got = product.run(device.load_ptx(product.text))
    np.testing.assert_array_equal(got, product.want)


@pytest.mark.long
@pytest.mark.parametrize("row", SWIZZLES)
@pytest.mark.parametrize("transposes", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_layouts_in_shared_memory(device, row, transposes):
    check(device, dense(64, ("f32", "f16", "f16"), row, transposes, (1, 1)))


@pytest.mark.parametrize(
    "n, kinds",
    [
        (8, ("f16", "f16", "f16")),
        (24, ("f32", "bf16", "bf16")),
        (16, ("f32", "tf32", "tf32")),
        (8, ("f32", "e4m3", "e5m2")),
        (16, ("f16", "e5m2", "e4m3")),
    ],
)
@pytest.mark.parametrize("registers", [False, True])
def test_products_of_floats(device, n, kinds, registers):
    transposes = (0, 1) if kinds[1] in ("f16", "bf16") else ()
    check(device, dense(n, kinds, 32, transposes, (1, -1), registers, times=2))


@pytest.mark.parametrize("kinds", [("s32", "s8", "u8"), ("s32", "u8", "s8")])
@pytest.mark.parametrize("registers", [False, True])
def test_products_of_integers(device, kinds, registers):
    check(device, dense(8, kinds, 128, registers=registers, times=2, option=".satfinite"))


def test_the_widest_product(device):
    check(device, dense(256, ("f32", "f16", "f16"), 64, (0, 0), (-1, -1)))


def test_single_bits(device):
    check(device, bits())


MEET = f"""{HEADER}
.visible .entry k(.param .u64 target)
{{
.reg .b64 %out; .reg .b32 %i, %w, %k, %v, %at; .reg .pred %p;
.shared .b32 memory[8];
ld.param.u64 %out, [target];
mov.u32 %i, %tid.x; shr.u32 %w, %i, 5; mad.wide.u32 %out, %i, 4, %out;
mov.u32 %at, memory; mad.lo.u32 %at, %w, 4, %at;
st.shared.b32 [%at], %w;
and.b32 %k, %w, 4; mov.u32 %at, memory; mad.lo.u32 %at, %k, 4, %at;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ld.shared.b32 %v, [%at+12];
st.global.b32 [%out], %v;
ret;
}}
"""


def test_waiting_makes_the_warps_of_a_warpgroup_meet(device):
    target = device.array(np.zeros(256, np.uint32))
    device.load_ptx(MEET)["k"][1, 256](target)
    np.testing.assert_array_equal(target.numpy(), np.repeat([3, 7], THREADS))


def test_warps_that_never_come_are_named(device):
    text = re.sub(r"(wgmma\.commit)", r"setp.eq.u32 %p, %w, 0; @%p exit; \1", MEET)
    with pytest.raises(lockstep.LockstepError, match="warpgroup's barrier"):
        device.load_ptx(text)["k"][1, 128](device.array(np.zeros(256, np.uint32)))


def test_a_result_of_the_wrong_size_is_refused(device):
    name = "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32"
    with pytest.raises(lockstep.InputError, match="wrong number of result registers"):
        text = kernel([(name, 1, 1, ", 1, 1")], 8, "f32")
        device.load_ptx(text)


@pytest.mark.long
@pytest.mark.parametrize(
    "n, kinds, selector",
    [
        (8, ("f16", "f16", "f16"), 0),
        (24, ("f32", "bf16", "bf16"), 1),
        (16, ("f32", "tf32", "tf32"), 1),
        (8, ("f32", "e4m3", "e5m2"), 0),
        (8, ("s32", "s8", "u8"), 0),
    ],
)
@pytest.mark.parametrize("row", SWIZZLES)
@pytest.mark.parametrize("registers", [False, True])
def test_sparse_products(device, n, kinds, selector, row, registers):
    check(device, sparse(n, kinds, selector, row, registers))
