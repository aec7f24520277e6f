"""Tensor maps that kernels change or make: tensormap.replace and cp_fenceproxy; fma.oob."""

import numpy as np
import pytest

import lockstep
from lockstep.execution.memory.tensor_maps import FIELDS as PLACES
from lockstep.execution.memory.tensor_maps import field_of

HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"


def kernel(body):
    """%m: a map in global memory, %x: a number, %s: 128 bytes of shared memory, %out: a place."""
    return f"""{HEADER}
.visible .entry k(.param .u64 map, .param .u64 number, .param .u64 target)
{{
.reg .b64 %m, %x, %out, %t; .reg .b32 %s, %v, %g; .reg .b16 %h<4>; .reg .pred %p;
.shared .align 128 .b8 copy[128];
ld.param.u64 %m, [map]; ld.param.u64 %x, [number]; ld.param.u64 %out, [target];
mov.u32 %s, copy; cvt.u32.u64 %v, %x;
{body}
ret;
}}
"""


def run(device, body, content=bytes(128), number=0, threads=1):
    """The map and the target (128 bytes) after the kernel."""
    held, out = device.array(np.frombuffer(content, np.uint8)), device.zeros(128, np.uint8)
    device.load_ptx(kernel(body))["k"][1, threads](held, number, out)
    return held.numpy().tobytes(), out.numpy().tobytes()


FIELDS = {
    # name: operands, number, field of the map, its content
    "global_address": ("%x", 0x12345670, "data", [0x12345670]),
    "rank": ("%v", 3, "rank", [3]),
    "box_dim": ("2, %v", 64, "box", [1, 1, 64, 1, 1]),
    "global_dim": ("1, %v", 1000, "sizes", [0, 999, 0, 0, 0]),
    "global_stride": ("3, %x", 1 << 36, "strides", [0, 0, 0, 1 << 36]),
    "element_stride": ("4, %v", 3, "steps", [1, 1, 1, 1, 3]),
    "elemtype": ("10", 0, "kind", [10]),
    "interleave_layout": ("2", 0, "interleave", [2]),
    "swizzle_mode": ("3", 0, "swizzle", [3]),
    "fill_mode": ("1", 0, "fill", [1]),
}


@pytest.mark.parametrize("space", ["global", "shared::cta"])
@pytest.mark.parametrize("name", FIELDS)
def test_each_field(device, name, space):
    operands, number, field, want = FIELDS[name]
    size = "b64" if "%x" in operands else "b32"
    place = "%m" if space == "global" else "%s"
    body = f"tensormap.replace.tile.{name}.{space}.b1024.{size} [{place}], {operands};"
    body += "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
    body += ".sync.aligned [%out], [%s], 128;"
    record, copied = run(device, body, number=number)
    record = copied if space != "global" else record
    assert field_of(record, field) == want
    others = [n for n in PLACES if n not in (field, f"{field}_high")]
    assert all(field_of(record, n) == field_of(bytes(128), n) for n in others)


def test_a_dimension_of_2_to_the_32_is_written_as_zero(device):
    body = "tensormap.replace.tile.global_dim.global.b1024.b32 [%m], 0, %v;"
    assert run(device, body)[0][0x20:0x24] == b"\xff" * 4


def test_a_map_that_a_kernel_makes_is_that_of_the_host(device):
    array = device.array(np.arange(20 * 64, dtype=np.float16).reshape(20, 64))
    made = device.tensor_map(array, (16, 32), swizzle=64, fill="nan")
    replace = "tensormap.replace.tile.{}.shared::cta.b1024.{} [%s], {};"
    fields = [("global_address", "b64", "%x"), ("rank", "b32", "1")]
    fields += [("global_stride", "b64", "0, 128"), ("elemtype", "b32", "6")]
    for axis, size, box in ((0, 64, 32), (1, 20, 16)):
        fields += [("global_dim", "b32", f"{axis}, {size}"), ("box_dim", "b32", f"{axis}, {box}")]
        fields += [("element_stride", "b32", f"{axis}, 1")]
    fields += [("swizzle_mode", "b32", "2"), ("fill_mode", "b32", "1")]
    fields += [("interleave_layout", "b32", "0")]
    zero = "mov.u32 %g, %tid.x; shl.b32 %g, %g, 2; add.u32 %g, %g, %s; st.shared.u32 [%g], 0;\n"
    body = zero + "bar.warp.sync -1; mov.u32 %g, %tid.x; setp.ne.u32 %p, %g, 0; @%p bra F;\n"
    body += "\n".join(replace.format(*field) for field in fields)
    body += "\nF: bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta."
    body += "tensormap::generic.release.gpu.sync.aligned [%m], [%s], 128;"
    record, _ = run(device, body, number=array.pointer, threads=32)
    assert record[:64] == bytes(made)[:64] and record[64:] == bytes(64)


@pytest.mark.parametrize(
    "instruction, message",
    [
        ("tensormap.replace.tile.box_dim.global.b1024.b32 [%m], 5, %v;", "ordinal of 0 to 4"),
        ("tensormap.replace.tile.global_stride.global.b1024.b64 [%m], 4, %x;", "ordinal of 0 to 3"),
        ("tensormap.replace.tile.box_dim.global.b1024.b32 [%m], %v, %v;", "constant ordinal"),
        ("tensormap.replace.tile.rank.global.b1024.b32 [%m], 1, %v;", "no ordinal"),
        ("tensormap.replace.tile.elemtype.global.b1024.b32 [%m], 13;", "0 to 12"),
        ("tensormap.replace.tile.elemtype.global.b1024.b32 [%m], %v;", "a constant"),
        ("tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%m], 1;", "sm_100"),
        (
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
            ".sync.aligned [%m], [%s], 64;",
            "128 bytes",
        ),
    ],
)
def test_the_wrong_operands_are_refused(device, instruction, message):
    with pytest.raises(lockstep.InputError, match=message):
        device.load_ptx(kernel(instruction))


OOB = 0x7FF7
PRODUCTS = [
    # a, b, c, sum of f16, with .relu; 1.5 = 0x3E00, 2 = 0x4000, 3 = 0x4200
    (0x3E00, 0x4000, 0x0000, 0x4200, 0x4200),
    (OOB, 0x4000, 0x4200, 0, 0),
    (0x4000, OOB, 0x4200, 0, 0),
    (0x8000 | OOB, 0xC000, 0x4200, 0, 0),
    (0x4000, 0x4000, OOB, 0x7FFF, 0x7FFF),
    (0x7FFF, 0x4000, 0x4200, 0x7FFF, 0x7FFF),
    (0xBE00, 0x4000, 0x0000, 0xC200, 0),
]


@pytest.mark.parametrize("a, b, c, want, positive", PRODUCTS)
def test_a_product_of_what_is_outside_is_zero(device, a, b, c, want, positive):
    other = PRODUCTS[0]
    body = f"mov.b16 %h0, {a}; mov.b16 %h1, {b}; mov.b16 %h2, {c};\n"
    body += "fma.rn.oob.f16 %h3, %h0, %h1, %h2; st.global.b16 [%out], %h3;\n"
    body += "fma.rn.oob.relu.f16 %h3, %h0, %h1, %h2; st.global.b16 [%out + 2], %h3;\n"
    pairs = [x << 16 | y for x, y in zip((a, b, c), other)]
    body += f"mov.b32 %g, {pairs[0]}; mov.b32 %s, {pairs[1]}; mov.b32 %v, {pairs[2]};\n"
    body += "fma.rn.oob.f16x2 %g, %g, %s, %v; st.global.b32 [%out + 4], %g;"
    _, out = run(device, body)
    got = np.frombuffer(out[:8], np.uint16).tolist()
    assert got == [want, positive, other[3], want]


def test_bf16_too(device):
    body = f"mov.b16 %h0, {OOB}; mov.b16 %h1, 0x3F80; mov.b16 %h2, 0x4000;\n"
    body += "fma.rn.oob.bf16 %h3, %h0, %h1, %h2; st.global.b16 [%out], %h3;\n"
    body += "fma.rn.oob.relu.bf16 %h3, %h1, %h1, %h2; st.global.b16 [%out + 2], %h3;\n"
    body += "mov.b32 %g, 0x3F807FF7; mov.b32 %v, 0x40004000;\n"
    body += "fma.rn.oob.bf16x2 %g, %g, %v, %v; st.global.b32 [%out + 4], %g;"
    _, out = run(device, body)
    got = np.frombuffer(out[:8], np.uint16).tolist()
    assert got == [0, 0x4040, 0, 0x4080]
