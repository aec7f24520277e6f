"""Kernels that make bulk tensor copies, and tensor maps of the twin's cases."""

from ptx_twin.tensor import Case

HEADER = ".version 8.7\n.target sm_90\n.address_size 64\n"
SHARED = 16384
LOAD = "shared::cluster.global.mbarrier::complete_tx::bytes"
COPIES = [(axes, False) for axes in range(1, 6)] + [(axes, True) for axes in range(3, 6)]


def kernel(body, pointer=False):
    """One warp copies a buffer to shared memory, runs the body in lane 0, and copies it back.

    %m: tensor map, %s: a place in the tile, %b: a barrier, %n: bytes; %c0 to %c4, %o0 to %o2.
    """
    kind = ".u64 map" if pointer else ".align 64 .b8 map[128]"
    address = "ld.param.u64 %m, [map];" if pointer else "mov.b64 %m, map; cvta.param.u64 %m, %m;"
    numbers = "".join(f"ld.param.s32 %c{k}, [at + {4 * k}];\n" for k in range(5))
    numbers += "".join(f"ld.param.u16 %o{k}, [offsets + {2 * k}];\n" for k in range(3))
    return f"""{HEADER}
.visible .entry k(.param {kind}, .param .u64 buffer, .param .align 4 .b8 at[20],
    .param .align 2 .b8 offsets[6], .param .u32 place, .param .u32 bytes)
{{
.reg .b64 %m, %out, %to, %state; .reg .b32 %s, %b, %n, %v<4>, %at, %end, %c<5>; .reg .b16 %o<3>;
.reg .pred %p, %q;
.shared .align 1024 .b8 tile[{SHARED}]; .shared .align 8 .b64 barrier;
{address} ld.param.u64 %out, [buffer]; ld.param.u32 %n, [bytes]; ld.param.u32 %s, [place];
{numbers}
mov.u32 %b, barrier; mov.u32 %at, tile; add.u32 %s, %s, %at; add.u32 %end, %at, {SHARED};
mov.u32 %v0, %tid.x; setp.eq.u32 %q, %v0, 0;
mul.lo.u32 %v0, %v0, 16; add.u32 %at, %at, %v0; cvt.u64.u32 %to, %v0; add.u64 %out, %out, %to;
mov.u64 %to, %out;
A: ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%to]; st.shared.v4.b32 [%at], {{%v0, %v1, %v2, %v3}};
add.u32 %at, %at, 512; add.u64 %to, %to, 512; setp.lt.u32 %p, %at, %end; @%p bra A;
bar.warp.sync -1;
@!%q bra Z;
{body}
Z: bar.warp.sync -1;
sub.u32 %at, %at, {SHARED};
B: ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%at]; st.global.v4.b32 [%out], {{%v0, %v1, %v2, %v3}};
add.u32 %at, %at, 512; add.u64 %out, %out, 512; setp.lt.u32 %p, %at, %end; @%p bra B;
ret;
}}
"""


def coordinates(axes):
    return ", ".join(f"%c{k}" for k in range(axes))


def load_body(axes, form=LOAD, more=""):
    """Loads a tile; the phase must end by its bytes."""
    if "im2col" in form:
        more = f", {{{', '.join(f'%o{k}' for k in range(axes - 2))}}}{more}"
    return f"""mbarrier.init.shared.b64 [%b], 1;
mbarrier.arrive.expect_tx.shared.b64 %state, [%b], %n;
cp.async.bulk.tensor.{axes}d.{form} [%s], [%m, {{{coordinates(axes)}}}], [%b]{more};
W: mbarrier.try_wait.parity.shared.b64 %p, [%b], 0; @!%p bra W;"""


def store_body(axes, form):
    return f"""fence.proxy.async.shared::cta;
{form.format(f"{axes}d")} [%m, {{{coordinates(axes)}}}], [%s];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""


def map_of(device, case, array):
    """The tensor map of a case."""
    options = {
        "shape": case.sizes[::-1],
        "strides": case.strides[:0:-1],
        "steps": case.steps[::-1],
        "interleave": case.interleave,
        "swizzle": case.swizzle,
        "fill": case.fill,
        "kind": case.kind,
    }
    if case.pixels:
        corners = {"lower": case.lower[::-1], "upper": case.upper[::-1]}
        return device.im2col_map(array, case.channels, case.pixels, **corners, **options)
    return device.tensor_map(array, case.box[::-1], **options)


def matrix(**options):
    """A copy of a box of 8 x 8 u32 at the start of a tensor of 32 x 8."""
    fields = {"sizes": (32, 8), "strides": (4, 128), "steps": (1, 1), "box": (8, 8), "at": (0, 0)}
    fields |= {"kind": "u32", "interleave": 0, "swizzle": 0, "fill": "zero"}
    return Case(**fields | options)
