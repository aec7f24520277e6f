"""Variables that hold addresses of others: initialisers of PTX, relocations of cubins."""

import shutil
import subprocess

import numpy as np
import pytest

import lockstep

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 8 .u32 numbers[4] = {11, 22, 33, 44};
.visible .global .align 8 .u64 plain = numbers+8;
.visible .global .align 8 .u64 several[2] = {generic(numbers)+4, 7};
.visible .entry k(.param .u64 out)
{
.reg .b64 %d<4>; .reg .b32 %r<4>;
ld.param.u64 %d1, [out];
ld.global.u64 %d2, [plain]; ld.global.u32 %r1, [%d2]; st.global.u32 [%d1], %r1;
ld.global.u64 %d2, [several]; ld.u32 %r1, [%d2]; st.global.u32 [%d1+4], %r1;
ld.global.u32 %r1, [several+8]; st.global.u32 [%d1+8], %r1;
ret;
}
"""
EXPECTED = [33, 22, 7]


def run(device, module):
    out = device.zeros(3, np.uint32)
    module["k"][1, 1](out)
    return out.numpy().tolist()


def test_initialisers_of_ptx():
    with lockstep.Device("A100") as device:
        assert run(device, device.load_ptx(TEXT)) == EXPECTED


@pytest.mark.skipif(not shutil.which("ptxas"), reason="needs ptxas")
def test_relocations_of_cubins(tmp_path):
    (tmp_path / "k.ptx").write_text(TEXT)
    command = ["ptxas", "-arch=sm_80", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")]
    subprocess.run(command, check=True)
    with lockstep.Device("A100") as device:
        assert run(device, device.load_cubin(tmp_path / "k.cubin")) == EXPECTED
