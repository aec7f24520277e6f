"""Special registers of every thread of a three-dimensional launch."""

import numpy as np
import pytest

import lockstep

BLOCK, GRID, SHARED = (3, 4, 5), (2, 3, 2), 96
THREADS, CTAS = 60, 12
AXES = ("x", "y", "z")
NAMES = (
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in AXES),
    *(f"%{name}.{axis}" for name in ("clusterid", "nclusterid") for axis in AXES),
    *(f"%cluster_{name}.{axis}" for name in ("ctaid", "nctaid") for axis in AXES),
    "%cluster_ctarank", "%cluster_nctarank",
    "%laneid", "%warpid", "%nwarpid", "%nsmid",
    "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge",
    "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size",
    "%envreg0", "%envreg31", "%pm0", "%pm7", "%reserved_smem_offset_begin", "WARP_SZ",
)  # fmt: skip


@pytest.fixture(scope="module")
def text():
    lines = [
        ".version 8.6\n.target sm_90\n.address_size 64",
        ".shared .align 8 .b64 room[4];",
        ".visible .entry k(.param .u64 out) {",
        ".reg .b32 %a, %b, %c; .reg .b64 %at, %d; .reg .pred %p; ld.param.u64 %at, [out];",
        "mov.u32 %a, %ctaid.z; mad.lo.u32 %a, %a, 3, 0; mov.u32 %b, %ctaid.y; add.u32 %a, %a, %b;",
        "mov.u32 %b, %ctaid.x; mad.lo.u32 %a, %a, 2, %b; mov.u32 %c, %tid.z;",
        "mov.u32 %b, %tid.y; mad.lo.u32 %c, %c, 4, %b; mov.u32 %b, %tid.x;",
        f"mad.lo.u32 %c, %c, 3, %b; mad.lo.u32 %a, %a, {THREADS}, %c;",
        "mad.wide.u32 %at, %a, 256, %at;",
    ]
    for k, name in enumerate(NAMES):
        lines.append(f"mov.u32 %a, {name}; st.global.u32 [%at+{4 * k}], %a;")
    lines.append("mov.u64 %d, %gridid; st.global.u64 [%at+240], %d;")
    lines.append("mov.pred %p, %is_explicit_cluster; selp.u32 %a, 1, 0, %p;")
    lines.append("st.global.u32 [%at+248], %a; ret; }")
    return "\n".join(lines)


def expected(cta, thread):
    tid = (thread % 3, thread // 3 % 4, thread // 12)
    ctaid = (cta % 2, cta // 2 % 3, cta // 6)
    lane = thread % 32
    below = (1 << lane) - 1
    masks = (1 << lane, below, below | 1 << lane, ~(below | 1 << lane), ~below)
    return [
        *tid, *BLOCK, *ctaid, *GRID, *ctaid, *GRID, 0, 0, 0, 1, 1, 1, 0, 1,
        lane, thread // 32, 2, 80, *(m & 0xFFFFFFFF for m in masks),
        SHARED, SHARED + 32, SHARED + 32 + 1024, 0, 0, 0, 0, 0, 32,
    ]  # fmt: skip


def test_special_registers(text):
    device = lockstep.Device("QV100")
    kernel = device.load_ptx(text)["k"]
    for launch in (1, 2):
        out = device.array(np.zeros((CTAS, THREADS, 64), np.uint32))
        kernel[GRID, BLOCK, SHARED](out)
        words = out.numpy()
        for cta in range(CTAS):
            for thread in range(THREADS):
                got = words[cta, thread, : len(NAMES)].tolist()
                assert dict(zip(NAMES, got)) == dict(zip(NAMES, expected(cta, thread)))
        assert (words[..., 60] == launch).all() and (words[..., 61:63] == 0).all()


def test_an_unknown_one_is_refused(text):
    device = lockstep.Device("QV100")
    with pytest.raises(lockstep.InputError, match="%envreg32"):
        device.load_ptx(text.replace("%envreg31", "%envreg32"))


@pytest.mark.parametrize("name", ["%ctaid.x", "%laneid"])
def test_none_is_an_address(name):
    text = (
        ".version 8.6\n.target sm_90\n.address_size 64\n"
        f".visible .entry k() {{ .reg .f32 %f; ld.shared.f32 %f, [{name}]; ret; }}"
    )
    with pytest.raises(lockstep.InputError, match=f"line 4.*an address in {name}; move it"):
        lockstep.Device("QV100").load_ptx(text)
