"""PTX for what CUDA C++ cannot ask for: matrix products of every shape, and Hopper's bulk copies."""

# ruff: noqa: E501 - a line of PTX is one string
from collections.abc import Iterator
from typing import NamedTuple


class Snippet(NamedTuple):
    """A PTX instruction on generic operands, and the architectures that have it."""

    text: str
    since: str  # "80"; "90a" only compiles for that target
    until: int = 999


def products() -> Iterator[Snippet]:
    """Matrix products: dense and sparse, of every type."""
    yield from _half_products()
    yield from _integer_products()
    yield from _sparse_products()
    for shape, a, b, d in (
        ("m8n8k4", 1, 1, 2),
        ("m16n8k4", 2, 1, 4),
        ("m16n8k8", 4, 2, 4),
        ("m16n8k16", 8, 4, 4),
    ):
        name = f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64"
        yield Snippet(_product(name, "d", d, "d", a, b), "80" if shape == "m8n8k4" else "90")


def _half_products() -> Iterator[Snippet]:
    for a in ("row", "col"):
        for b in ("row", "col"):
            for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
                name = f"mma.sync.aligned.m8n8k4.{a}.{b}.{d}.f16.f16.{c}"
                yield Snippet(
                    _mixed(
                        name,
                        "f" if d == "f32" else "r",
                        8 if d == "f32" else 4,
                        2,
                        2,
                        "f" if c == "f32" else "r",
                        8 if c == "f32" else 4,
                    ),
                    "70",
                    75,
                )
    for shape, na, nb, since in (("m16n8k8", 2, 1, "75"), ("m16n8k16", 4, 2, "80")):
        yield Snippet(
            _product(f"mma.sync.aligned.{shape}.row.col.f16.f16.f16.f16", "r", 2, "r", na, nb),
            since,
        )
        yield Snippet(
            _product(f"mma.sync.aligned.{shape}.row.col.f32.f16.f16.f32", "f", 4, "r", na, nb),
            since,
        )
        yield Snippet(
            _product(f"mma.sync.aligned.{shape}.row.col.f32.bf16.bf16.f32", "f", 4, "r", na, nb),
            "80",
        )
    yield Snippet(
        _product("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "f", 4, "r", 2, 1), "80"
    )
    yield Snippet(
        _product("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f", 4, "r", 4, 2), "80"
    )
    for x in ("e4m3", "e5m2"):
        for y in ("e4m3", "e5m2"):
            yield Snippet(
                _product(f"mma.sync.aligned.m16n8k32.row.col.f32.{x}.{y}.f32", "f", 4, "r", 4, 2),
                "89",
            )


def _integer_products() -> Iterator[Snippet]:
    shapes = (
        ("m8n8k16", 1, 1, 2, 8, "75"),
        ("m16n8k16", 2, 1, 4, 8, "80"),
        ("m16n8k32", 4, 2, 4, 8, "80"),
        ("m8n8k32", 1, 1, 2, 4, "75"),
        ("m16n8k32", 2, 1, 4, 4, "80"),
        ("m16n8k64", 4, 2, 4, 4, "80"),
    )
    for shape, na, nb, nd, bits, since in shapes:
        for x in "su":
            for y in "su":
                for satfinite in ("", ".satfinite"):
                    name = (
                        f"mma.sync.aligned.{shape}.row.col{satfinite}.s32.{x}{bits}.{y}{bits}.s32"
                    )
                    yield Snippet(_product(name, "r", nd, "r", na, nb), since)
    for shape, na, nb, nd in (
        ("m8n8k128", 1, 1, 2),
        ("m16n8k128", 2, 1, 4),
        ("m16n8k256", 4, 2, 4),
    ):
        for op, since in (("xor", "75" if nd == 2 else "80"), ("and", "80")):
            yield Snippet(
                _product(
                    f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{op}.popc",
                    "r",
                    nd,
                    "r",
                    na,
                    nb,
                ),
                since,
            )


def _sparse_products() -> Iterator[Snippet]:
    for shape, n in (("m16n8k16", 2), ("m16n8k32", 4)):
        for d in ("f16", "f32"):
            name = f"mma.sp.sync.aligned.{shape}.row.col.{d}.f16.f16.{d}"
            yield Snippet(
                _product(
                    name, "f" if d == "f32" else "r", 4 if d == "f32" else 2, "r", n, n, ", %e, 0x0"
                ),
                "80",
                90,
            )
        yield Snippet(
            _product(
                f"mma.sp.sync.aligned.{shape}.row.col.f32.bf16.bf16.f32",
                "f",
                4,
                "r",
                n,
                n,
                ", %e, 0x0",
            ),
            "80",
            90,
        )
    for shape, n in (("m16n8k8", 2), ("m16n8k16", 4)):
        yield Snippet(
            _product(
                f"mma.sp.sync.aligned.{shape}.row.col.f32.tf32.tf32.f32",
                "f",
                4,
                "r",
                n,
                n,
                ", %e, 0x0",
            ),
            "80",
            90,
        )
    for shape, n in (("m16n8k32", 2), ("m16n8k64", 4)):
        yield Snippet(
            _product(
                f"mma.sp.sync.aligned.{shape}.row.col.s32.s8.u8.s32", "r", 4, "r", n, n, ", %e, 0x0"
            ),
            "80",
            90,
        )


def _product(
    name: str, result: str, results: int, kind: str, a: int, b: int, tail: str = ""
) -> str:
    return _mixed(name, result, results, a, b, result, results, kind, tail)


def _mixed(name, result, results, a, b, third, thirds, kind="r", tail=""):
    def group(file: str, first: int, count: int) -> str:
        return "{" + ", ".join(f"%{file}{first + i}" for i in range(count)) + "}"

    return f"{name} {group(result, 0, results)}, {group(kind, 16, a)}, {group(kind, 24, b)}, {group(third, 0, thirds)}{tail};"


def matrices() -> Iterator[Snippet]:
    """Loads and stores of matrices in shared memory, and transpositions."""
    for n, registers in (("x1", "{%r0}"), ("x2", "{%r0, %r1}"), ("x4", "{%r0, %r1, %r2, %r3}")):
        for t in ("", ".trans"):
            yield Snippet(
                f"ldmatrix.sync.aligned.m8n8.{n}{t}.shared.b16 {registers}, [%r30];", "75"
            )
            yield Snippet(
                f"stmatrix.sync.aligned.m8n8.{n}{t}.shared.b16 [%r30], {registers};", "90"
            )
    yield Snippet("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r16;", "75")


def conversions() -> Iterator[Snippet]:
    """Packed and narrow conversions."""
    for to, since in (("f16x2", "80"), ("bf16x2", "80"), ("e4m3x2", "89"), ("e5m2x2", "89")):
        narrow = to.startswith("e")
        mode = "rn.satfinite" if narrow else "rn"
        register = "%h0" if narrow else "%r0"
        for relu in ("", ".relu"):
            yield Snippet(f"cvt.{mode}{relu}.{to}.f32 {register}, %f0, %f1;", since)
        if not narrow:
            yield Snippet(f"cvt.rz.{to}.f32 {register}, %f0, %f1;", since)
    for of in ("e4m3x2", "e5m2x2"):
        yield Snippet(f"cvt.rn.f16x2.{of} %r0, %h0;", "89")
        yield Snippet(f"cvt.rn.satfinite.{of}.f16x2 %h0, %r0;", "89")
    yield Snippet("cvt.rna.tf32.f32 %r0, %f0;", "80")
    yield Snippet("cvt.rn.bf16.f32 %h0, %f0;", "80")
    for bits in ("u8", "s8"):
        yield Snippet(f"cvt.pack.sat.{bits}.s32.b32 %r0, %r16, %r17, %r18;", "75")
    for bits in ("u16", "s16"):
        yield Snippet(f"cvt.pack.sat.{bits}.s32 %r0, %r16, %r17;", "75")
    for bits in ("u4", "s4", "u2", "s2"):
        yield Snippet(f"cvt.pack.sat.{bits}.s32.b32 %r0, %r16, %r17, %r18;", "75")
    for f in (
        "tanh.approx.f32 %f0, %f1",
        "ex2.approx.ftz.f32 %f0, %f1",
        "sin.approx.f32 %f0, %f1",
        "lg2.approx.f32 %f0, %f1",
        "rcp.approx.ftz.f64 %d0, %d1",
        "rsqrt.approx.ftz.f64 %d0, %d1",
        "tanh.approx.f16x2 %r0, %r16",
        "ex2.approx.f16x2 %r0, %r16",
        "bfind.u32 %r0, %r16",
        "bfind.shiftamt.s32 %r0, %r16",
        "bfind.u64 %r0, %x0",
        "szext.wrap.s32 %r0, %r16, %r17",
        "szext.clamp.u32 %r0, %r16, %r17",
        "bmsk.clamp.b32 %r0, %r16, %r17",
        "bmsk.wrap.b32 %r0, %r16, %r17",
        "fns.b32 %r0, %r16, %r17, %r18",
        "bfi.b32 %r0, %r16, %r17, %r18, %r19",
        "bfe.s32 %r0, %r16, %r17, %r18",
        "prmt.b32.f4e %r0, %r16, %r17, %r18",
        "prmt.b32.b4e %r0, %r16, %r17, %r18",
        "prmt.b32.rc8 %r0, %r16, %r17, %r18",
        "prmt.b32.ecl %r0, %r16, %r17, %r18",
        "prmt.b32.ecr %r0, %r16, %r17, %r18",
        "prmt.b32.rc16 %r0, %r16, %r17, %r18",
        "testp.subnormal.f32 %p0, %f0",
        "lop3.b32 %r0, %r16, %r17, %r18, 0xd1",
        "copysign.f32 %f0, %f1, %f2",
        "slct.s32.f32 %r0, %r16, %r17, %f0",
        "set.gt.f32.f32 %f0, %f1, %f2",
        "set.lt.and.s32.f32 %r0, %f1, %f2, %p1",
        "set.geu.xor.f32.s32 %f0, %r16, %r17, %p1",
        "mad.hi.s32 %r0, %r16, %r17, %r18",
        "sad.u32 %r0, %r16, %r17, %r18",
        "min.xorsign.abs.f32 %f0, %f1, %f2",
        "max.NaN.f32 %f0, %f1, %f2",
        "min.NaN.xorsign.abs.f16x2 %r0, %r16, %r17",
        "fma.rn.oob.relu.f16x2 %r0, %r16, %r17, %r18",
        "fma.rn.relu.bf16x2 %r0, %r16, %r17, %r18",
        "add.cc.u32 %r0, %r16, %r17; addc.cc.u32 %r1, %r18, %r19; addc.u32 %r2, %r20, %r21",
        "sub.cc.s32 %r0, %r16, %r17; subc.cc.s32 %r1, %r18, %r19; subc.s32 %r2, %r20, %r21",
        "mad.lo.cc.u32 %r0, %r16, %r17, %r18; madc.hi.u32 %r1, %r18, %r19, %r20",
        "add.sat.s32 %r0, %r16, %r17",
        "vadd4.u32.u32.u32.sat %r0, %r16, %r17, %r18",
        "vabsdiff4.u32.u32.u32.add %r0, %r16, %r17, %r18",
        "vset2.s32.u32.lt %r0, %r16, %r17, %r18",
        "vmad.s32.s32.u32.sat %r0, %r16.b0, %r17.h1, %r18",
        "vshl.u32.u32.u32.clamp %r0, %r16, %r17",
        "dp2a.lo.s32.u32 %r0, %r16, %r17, %r18",
        "setp.lt.or.f64 %p0, %d0, %d1, %p1",
        "lop3.or.b32 %r0|%p0, %r16, %r17, %r18, 0x3c, %p1",
        "isspacep.shared %p0, %x0",
        "fma.rn.sat.f16x2 %r0, %r16, %r17, %r18",
        "set.lt.ftz.bf16x2.bf16x2 %r0, %r16, %r17",
        "setp.lt.f16x2 %p0|%p1, %r16, %r17",
        "add.rn.bf16x2 %r0, %r16, %r17",
        "mul.bf16x2 %r0, %r16, %r17",
    ):
        yield Snippet(f + ";", "70")


def asynchronous() -> Iterator[Snippet]:
    """Hopper: transaction barriers, bulk copies, tensor copies, fences, multicast reductions."""
    b = "shared::cta.b64"
    texts = [
        f"mbarrier.arrive.expect_tx.{b} %x0, [%r30], 128;",
        f"mbarrier.expect_tx.relaxed.cta.{b} [%r30], 64;",
        f"mbarrier.complete_tx.relaxed.cta.{b} [%r30], 64;",
        f"mbarrier.try_wait.{b} %p0, [%r30], %x0;",
        f"mbarrier.try_wait.parity.{b} %p0, [%r30], %r16;",
        f"mbarrier.test_wait.parity.{b} %p0, [%r30], %r16;",
        f"mbarrier.try_wait.acquire.cluster.{b} %p0, [%r30], %x0, %r17;",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r30];",
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r30], 32;",
        f"mbarrier.arrive.{b} %x0, [%r30], 5;",
        f"mbarrier.arrive_drop.expect_tx.{b} %x0, [%r30], 16;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r30], [%x1], %r16, [%r31];",
        "cp.async.bulk.global.shared::cta.bulk_group [%x1], [%r30], %r16;",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r29], [%r30], %r16, [%r31];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r30], [%x1], %r16, [%r31], %h0;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r30], [%x1], %r16, [%r31], %x2;",
        "cp.async.bulk.prefetch.L2.global [%x1], %r16;",
        "cp.async.bulk.commit_group;",
        "cp.async.bulk.wait_group 0;",
        "cp.async.bulk.wait_group.read 1;",
        "fence.proxy.async;",
        "fence.proxy.async.global;",
        "fence.proxy.async.shared::cta;",
        "fence.proxy.alias;",
        "fence.mbarrier_init.release.cluster;",
        "fence.acq_rel.cluster;",
        "fence.sc.cluster;",
        "fence.proxy.tensormap::generic.acquire.gpu [%x1], 128;",
        "fence.proxy.tensormap::generic.release.gpu;",
        "prefetch.tensormap [%x1];",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r30], %r16, [%r31];",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r30], {%r16, %r17, %r18, %r19}, [%r31];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r30], %r16, [%r31];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%r30], %r16, [%r31];",
        "multimem.ld_reduce.relaxed.sys.global.add.u32 %r0, [%x1];",
        "multimem.ld_reduce.relaxed.gpu.global.and.b64 %x0, [%x1];",
        "multimem.red.relaxed.sys.global.add.u32 [%x1], %r16;",
        "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%x1];",
        "multimem.ld_reduce.weak.global.max.v2.f16x2 {%r0, %r1}, [%x1];",
        "multimem.st.weak.global.u32 [%x1], %r16;",
        "red.global.add.v2.f32 [%x1], {%f0, %f1};",
        "red.global.add.noftz.v4.f16x2 [%x1], {%r0, %r1, %r2, %r3};",
        "atom.global.v4.f32.add {%f0, %f1, %f2, %f3}, [%x1], {%f4, %f5, %f6, %f7};",
        "elect.sync %r0|%p0, %r16;",
        "atom.global.add.noftz.bf16x2 %r0, [%x1], %r16;",
        "atom.global.cas.b128 %q0, [%x1], %q1, %q2;",
        "atom.global.exch.b128 %q0, [%x1], %q1;",
    ]
    for n in range(1, 6):
        at = ", ".join(f"%r{16 + i}" for i in range(n))
        texts += [
            f"cp.async.bulk.tensor.{n}d.shared::cluster.global.mbarrier::complete_tx::bytes.tile [%r30], [%x1, {{{at}}}], [%r31];",
            f"cp.async.bulk.tensor.{n}d.global.shared::cta.tile.bulk_group [%x1, {{{at}}}], [%r30];",
            f"cp.async.bulk.prefetch.tensor.{n}d.L2.global.tile [%x1, {{{at}}}];",
            f"cp.reduce.async.bulk.tensor.{n}d.global.shared::cta.add.tile.bulk_group [%x1, {{{at}}}], [%r30];",
            f"cp.async.bulk.tensor.{n}d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r30], [%x1, {{{at}}}], [%r31], %h0;",
            f"cp.async.bulk.tensor.{n}d.shared::cluster.global.mbarrier::complete_tx::bytes.tile.L2::cache_hint [%r30], [%x1, {{{at}}}], [%r31], %x2;",
        ]
        if n > 2:
            offsets = ", ".join(["%h0", "%h1", "%h0"][: n - 2])
            texts.append(
                f"cp.async.bulk.tensor.{n}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r30], [%x1, {{{at}}}], [%r31], {{{offsets}}};"
            )
    for op, kind in (
        ("add", "u32"),
        ("min", "s32"),
        ("max", "u64"),
        ("and", "b32"),
        ("or", "b64"),
        ("xor", "b32"),
        ("inc", "u32"),
        ("dec", "u32"),
        ("add.noftz", "f16"),
        ("add", "f32"),
        ("add", "f64"),
        ("add.noftz", "bf16"),
    ):
        texts.append(
            f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{kind} [%x1], [%r30], %r16;"
        )
    return (Snippet(text, "90") for text in texts)


def warpgroup() -> Iterator[Snippet]:
    """Hopper's products of a group of four warps."""
    fence = "wgmma.fence.sync.aligned;"
    done = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
    kinds = (
        ("k16", "f16.f16", (16, 32)),
        ("k16", "bf16.bf16", (32,)),
        ("k8", "tf32.tf32", (32,)),
        ("k32", "e4m3.e5m2", (16, 32)),
        ("k32", "s8.u8", (0,)),
        ("k32", "u8.u8", (0,)),
        ("k256", "b1.b1", (0,)),
    )
    for k, types, results in kinds:
        for bits in results:
            for n in (8, 16, 64, 128, 256):
                file, count, d = (
                    ("r", n // 4, "f16")
                    if bits == 16
                    else ("f", n // 2, "f32")
                    if bits
                    else ("r", n // 2, "s32")
                )
                regs = "{" + ", ".join(f"%{file}{64 + i}" for i in range(count)) + "}"
                flags = ", %p0" + (", 1, -1" if bits else "") + (", 0, 1" if k == "k16" else "")
                tail = ".and.popc" if types == "b1.b1" else ""
                name = f"wgmma.mma_async.sync.aligned.m64n{n}{k}.{d}.{types}{tail}"
                yield Snippet(f"{fence} {name} {regs}, %x0, %x1{flags}; {done}", "90a")
                flags = ", 1" + (", -1, 1" if bits else "") + (", 1" if k == "k16" else "")
                yield Snippet(
                    f"{fence} {name} {regs}, {{%r16, %r17, %r18, %r19}}, %x1{flags}; {done}", "90a"
                )
    for n in (24, 152, 208):
        yield Snippet("setmaxnreg.inc.sync.aligned.u32 %d;".replace("%d", str(n)), "90a")
        yield Snippet("setmaxnreg.dec.sync.aligned.u32 %d;".replace("%d", str(n)), "90a")


def module(snippet: Snippet, target: str, salt: int = 0) -> str:
    """A PTX module with one kernel: operands come from memory, and go back there."""
    loads, stores = [], []
    files = (
        ("r", "b32", 0, 32, 4),
        ("f", "f32", 0, 8, 4),
        ("d", "f64", 0, 20, 8),
        ("x", "b64", 0, 3, 8),
        ("h", "b16", 0, 2, 2),
    )
    used = snippet.text
    for file, kind, first, count, size in files:
        if f"%{file}" not in used:
            continue
        top = 200 if "wgmma" in used and file in "rf" else count
        for i in range(first, top):
            if (
                f"%{file}{i}," in used
                or f"%{file}{i};" in used
                or f"%{file}{i}}}" in used
                or f"%{file}{i}]" in used
                or f"%{file}{i}|" in used
                or f"%{file}{i}." in used
            ):
                loads.append(f"ld.global.{kind} %{file}{i}, [%in + {salt * 32 + i * size}];")
                stores.append(f"st.global.{kind} [%out + {salt * 64 + i * size}], %{file}{i};")
    for i in range(3):
        if f"%q{i}" in used:
            loads.append(f"ld.global.b128 %q{i}, [%in + {i * 16}];")
            stores.append(f"st.global.b128 [%out + {i * 16}], %q{i};")
    predicate = "setp.ne.s32 %p0, %t, 3; setp.ne.s32 %p1, %t, 5;"
    stores.append("selp.s32 %t, 1, 0, %p0; st.global.s32 [%out + 4096], %t;")
    quads = ".reg .b128 %q<4>;" if "%q" in used else ""
    body = "\n    ".join([*loads, predicate, used, *stores])
    return f""".version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{{
    .reg .b32 %r<256>; .reg .f32 %f<256>; .reg .f64 %d<32>; .reg .b64 %x<8>, %in, %out; .reg .b16 %h<8>;
    .reg .pred %p<4>; .reg .b32 %t, %e; {quads}
    ld.param.u64 %in, [a]; ld.param.u64 %out, [b];
    ld.global.b32 %e, [%in + 2048]; mov.u32 %t, %tid.x;
    {body}
    ret;
}}
"""


def snippets() -> list[Snippet]:
    """All of them."""
    return [*products(), *matrices(), *conversions(), *asynchronous(), *warpgroup()]
