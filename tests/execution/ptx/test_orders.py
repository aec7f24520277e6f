"""Orders that an assembler may choose for a block of PTX."""

import pytest

from lockstep.execution.ptx.graph import blocks_of
from lockstep.execution.ptx.orders import Orders
from lockstep.execution.ptx.values import Values
from lockstep.isa.ptx.parser import parse
from lockstep.kernels import load

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 x)\n"
SUM = """
ld.param.u64 %rd1, [x];
ld.global.u32 %r1, [%rd1];
ld.global.u32 %r2, [%rd1+4];
add.u32 %r3, %r1, 1;
add.u32 %r4, %r2, %r3;
ld.global.u32 %r5, [%rd1+8];
add.u32 %r6, %r5, %r4;
st.global.u32 [%rd1], %r6;
ld.global.u32 %r7, [%rd1+12];
st.global.u32 [%rd1+4], %r7;
"""


def orders(body):
    text = f"{HEAD}{{ .reg .b32 %r<20>; .reg .b64 %rd<9>;\n{body}\nret;\n}}"
    module = parse(text, "<test>")
    function = module.functions["k"]
    (block,) = blocks_of(module, function)
    return Orders(Values(module, function), block)


def test_loads_come_first_but_not_past_a_store():
    assert orders(SUM).early() == [0, 1, 2, 5, 3, 4, 6, 7, 8, 9, 10]


def test_what_is_late_comes_before_its_use():
    body = "ld.param.u64 %rd1, [x]; mov.u32 %r1, 1; mov.u32 %r2, 2; add.u32 %r3, %r2, 3;"
    body += "st.global.u32 [%rd1], %r3; st.global.u32 [%rd1], %r1;"
    assert orders(body).late() == [0, 2, 3, 4, 1, 5, 6]


def test_a_register_is_read_before_it_is_written_again():
    body = "mov.u32 %r1, 1; add.u32 %r2, %r1, 4; mov.u32 %r1, 2; st.global.u32 [%rd1], %r2;"
    order = orders(body + "st.global.u32 [%rd1], %r1;").late()
    assert order.index(1) < order.index(2)


@pytest.mark.parametrize("name", ["attention", "needle", "hotspot"])
def test_everything_comes_once_and_after_what_it_needs(name):
    module = parse(load(name).ptx.read_text(), name)
    function = module.functions[name]
    values = Values(module, function)
    for block in (b for b in blocks_of(module, function) if b.resumes is None):
        both = Orders(values, block)
        for order in (both.late(), both.early()):
            assert sorted(order) == list(range(block.first, block.end))
            made = set()
            own = {n for p in order for n in values.targets[p] if n in values.single}
            for place in order:
                before = [n for n in values.sources[place] if n in own]
                later = {n for p in range(place, block.end) for n in values.targets[p]}
                assert all(n in made or n in later for n in before)
                made.update(values.targets[place])
