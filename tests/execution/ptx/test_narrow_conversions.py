"""Conversions between bfloat16 and integers of 8 bits, which are in registers of 8 bits."""

import numpy as np
import pytest

import lockstep

MODES = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
NUMBERS = [0.0, 0.5, 1.5, -0.5, -1.5, 2.25, 127.0, 128.0, 200.0, 255.0, 256.0, -128.0, -129.0, 1e9]
NUMBERS += [-1e9, np.inf, -np.inf, np.nan, 100.5, -99.5]
KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
{{
    .reg .b64 %d<4>; .reg .b32 %r<2>; .reg .b16 %h<4>;
    ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
    mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 2;
    add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
    ld.global.b16 %h0, [%d0];
    {{ .reg .b8 %narrow; {narrow} }}
    st.global.b16 [%d1], %h1;
    ret;
}}
"""


def _run(instructions, given):
    with lockstep.Device("H100") as device:
        kernel = device.load_ptx(KERNEL.format(narrow=instructions))["k"]
        out = device.zeros(len(given), given.dtype)
        kernel[1, len(given)](device.array(given), out)
        return out.numpy()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["s8", "u8"])
def test_bfloat16_to_bytes(mode, kind):
    given = (np.array(NUMBERS, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    exact = (given.astype(np.uint32) << 16).view(np.float32)
    found = _run(f"cvt.{mode}.{kind}.bf16 %narrow, %h0; mov.b16 %h1, {{%narrow, 0}};", given)
    limits = (-128, 127) if kind == "s8" else (0, 255)
    whole = np.clip(MODES[mode](np.where(np.isnan(exact), 0, exact)), *limits)
    assert found.astype(np.uint8).astype(f"{kind[0].replace('s', 'i')}1").tolist() == whole.tolist()


@pytest.mark.parametrize("kind", ["s8", "u8"])
def test_bytes_to_bfloat16(kind):
    given = np.arange(256, dtype=np.uint16)
    found = _run(f"mov.b16 {{%narrow, _}}, %h0; cvt.rn.bf16.{kind} %h1, %narrow;", given)
    numbers = (found.astype(np.uint32) << 16).view(np.float32)
    bytes_ = given.astype(np.uint8).astype("i1" if kind == "s8" else "u1")
    assert numbers.tolist() == bytes_.tolist()
