"""Programs of Hopper's instructions as machine code, by digests of their PTX.

``scripts/sass_hopper.py`` assembles them into ``cubins/hopper.zst``.
"""

import hashlib
from functools import cache
from pathlib import Path

import cubin_files
from ptx_twin import cluster_programs
from ptx_twin.tensor_programs import COPIES, LOAD, kernel, load_body, store_body
from ptx_twin.warpgroup_programs import bits, dense, sparse

PATH = Path(__file__).parent / "cubins" / "hopper.zst"
_HALF, _INTEGER = ("f32", "f16", "f16"), ("s32", "s8", "u8")
_STORE = "cp.async.bulk.tensor.{}.global.shared::cta.bulk_group"
_REDUCE = "cp.reduce.async.bulk.tensor.{{}}.global.shared::cta.{}.bulk_group"
REDUCED = ("add", "min", "inc", "xor")
IN_CLUSTERS = (
    "stores that complete a barrier",
    "vector stores that complete a barrier",
    "reductions that complete a barrier",
    "a copy from CTA to CTA",
    "a copy to every other CTA",
)


@cache
def products():
    """Kernels for warpgroups by name: every type, both kinds of first factors, every layout."""
    found = {
        "f16 to f16": dense(16, ("f16", "f16", "f16"), 128, (0, 1), (1, -1), times=2),
        "negated twice": dense(8, _HALF, 0, (1, 0), (-1, -1), times=2),
        "wide": dense(96, _HALF, 64, (1, 1), (1, 1)),
        "bf16": dense(24, ("f32", "bf16", "bf16"), 32, (0, 0), (1, 1)),
        "bf16 from registers": dense(8, ("f32", "bf16", "bf16"), 64, (0, 1), (-1, 1), True, 2),
        "tf32": dense(16, ("f32", "tf32", "tf32"), 32, (), (1, -1), times=2),
        "tf32 from registers": dense(8, ("f32", "tf32", "tf32"), 0, (), (1, -1), True, 2),
        "eight bits": dense(8, ("f32", "e4m3", "e5m2"), 128, (), (1, -1)),
        "eight bits from registers": dense(16, ("f16", "e5m2", "e4m3"), 0, (), (-1, 1), True, 2),
        "integers": dense(24, _INTEGER, 32, times=2),
        "integers from registers": dense(8, ("s32", "u8", "s8"), 64, (), (), True, 2, ".satfinite"),
        "single bits": bits(),
    }
    for name, kinds, selector, registers in (
        ("f16", ("f16", "f16", "f16"), 0, False),
        ("bf16", ("f32", "bf16", "bf16"), 1, True),
        ("tf32", ("f32", "tf32", "tf32"), 1, False),
        ("eight bits", ("f32", "e4m3", "e5m2"), 0, True),
        ("integers", _INTEGER, 0, False),
    ):
        found[f"sparse {name}"] = sparse(16, kinds, selector, 128, registers)
    return found


def loading(axes, unrolls):
    """The PTX of a kernel that loads tiles."""
    return kernel(load_body(axes, LOAD.replace("global.", "global.im2col.") if unrolls else LOAD))


def storing(axes, unrolls):
    """The PTX of a kernel that stores tiles."""
    mode = ".im2col_no_offs.bulk" if unrolls else ".bulk"
    return kernel(store_body(axes, _STORE.replace(".bulk_group", f"{mode}_group")))


def reducing(operation):
    """The PTX of a kernel that combines a tile with what is there."""
    return kernel(store_body(2, _REDUCE.format(operation)))


HINTS = kernel(
    """prefetch.tensormap [%m]; cp.async.bulk.prefetch.tensor.2d.L2.global [%m, {0, 0}];
cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%m, {0, 0, 0}], {%o0};
cp.async.bulk.prefetch.L2.global [%out], 64;
fence.proxy.tensormap::generic.acquire.gpu [%m], 128; st.shared.u32 [%s], 7;"""
)


_SMALL = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 number, .param .u64 target)
{{
.reg .b64 %x, %out; .reg .b32 %i, %s, %g; .reg .b16 %a, %b; .reg .pred %p;
.shared .align 128 .b8 copy[128];
ld.param.u64 %x, [number]; ld.param.u64 %out, [target]; mov.u32 %s, copy; mov.u32 %i, %tid.x;
{body}
ret;
}}
"""
_CHANGES = (
    "global_address.shared::cta.b1024.b64 [%s], %x", "rank.shared::cta.b1024.b32 [%s], 1",
    "global_stride.shared::cta.b1024.b64 [%s], 0, 0x1234567890",
    "elemtype.shared::cta.b1024.b32 [%s], 6", "swizzle_mode.shared::cta.b1024.b32 [%s], 2",
    "fill_mode.shared::cta.b1024.b32 [%s], 1", "interleave_layout.shared::cta.b1024.b32 [%s], 0",
    "global_dim.shared::cta.b1024.b32 [%s], 0, 64", "global_dim.shared::cta.b1024.b32 [%s], 1, 20",
    "box_dim.shared::cta.b1024.b32 [%s], 0, 32", "box_dim.shared::cta.b1024.b32 [%s], 1, 16",
    "element_stride.shared::cta.b1024.b32 [%s], 0, 1",
    "element_stride.shared::cta.b1024.b32 [%s], 1, 3",
)  # fmt: skip
MADE = _SMALL.format(
    body="shl.b32 %g, %i, 2; add.u32 %g, %g, %s; st.shared.u32 [%g], 0; bar.warp.sync -1;\n"
    "setp.ne.u32 %p, %i, 0; @%p bra F;\n"
    + "".join(f"tensormap.replace.tile.{change};\n" for change in _CHANGES)
    + "F: bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
    "gpu.sync.aligned [%out], [%s], 128;"
)
OUTSIDE = _SMALL.format(
    body="mul.wide.u32 %x, %i, 4; add.u64 %out, %out, %x;\n"
    "ld.global.v2.b16 {%a, %b}, [%out]; fma.rn.oob.f16 %a, %a, %b, %b;\n"
    "fma.rn.oob.relu.bf16 %b, %b, %b, %b; st.global.v2.b16 [%out], {%a, %b};"
)


def texts():
    """The PTX of all of them."""
    yield from (product.text for product in products().values())
    for axes, unrolls in COPIES:
        yield loading(axes, unrolls)
        yield storing(axes, unrolls)
    yield from map(reducing, REDUCED)
    yield from (HINTS, MADE, OUTSIDE)
    yield from (cluster_programs.PROGRAMS[name] for name in IN_CLUSTERS)


def digest(text):
    """What identifies a program."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def machine_code(text):
    """The cubin of a program."""
    found = cubin_files.unpack(PATH).get(digest(text))
    assert found is not None, "out of date: run scripts/sass_hopper.py"
    return found
