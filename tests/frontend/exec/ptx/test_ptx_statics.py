"""Static records of PTX: what only the whole function tells."""

import pytest

from lockstep.frontend.exec.program import Recording
from lockstep.frontend.exec.ptx.translate import Translation
from lockstep.isa.instruction import OpClass
from lockstep.isa.ptx.parser import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
COPY = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], {}, [%r2];"


@pytest.mark.parametrize(
    ("before", "size", "number"),
    [
        ("", "4096", 4096),
        ("mov.u32 %r3, 512;", "%r3", 512),
        ("mov.u32 %r3, 512; mov.u32 %r3, 1024;", "%r3", 0),
        ("mov.u32 %r3, 512; @%p1 add.u32 %r3, %r3, 16;", "%r3", 0),
        ("@%p1 mov.u32 %r3, 512;", "%r3", 0),
        ("mov.u32 %r3, %tid.x;", "%r3", 0),
    ],
)
def test_bytes_of_a_bulk_copy_are_known_where_a_register_has_one_value(before, size, number):
    registers = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;"
    text = f"{HEAD}.entry k()\n{{ {registers}\n{before}\n{COPY.format(size)}\nret;\n}}\n"
    code = Translation(parse(text, "<test>"), "k", Recording.EVERYTHING).program().code
    assert code["immediate"][code["op"] == OpClass.BULK_COPY].tolist() == [number]
