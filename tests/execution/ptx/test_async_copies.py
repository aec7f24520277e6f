"""Asynchronous copies, their groups, and barrier objects."""

import shutil
import subprocess

import numpy as np
import pytest

import lockstep

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"


def kernel(body, registers=""):
    return f"""{HEADER}
.visible .entry k(.param .u64 source, .param .u64 target)
{{
.reg .b64 %in, %out, %a, %s, %state; .reg .b32 %i, %x, %y, %m, %n; .reg .pred %p, %q; {registers}
.shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 barrier;
ld.param.u64 %in, [source]; ld.param.u64 %out, [target];
mov.u32 %i, %tid.x; mov.u32 %m, barrier;
{body}
ret;
}}
"""


def cubin(text, folder):
    """The machine code of PTX, by ptxas."""
    if not shutil.which("ptxas"):
        pytest.skip("needs ptxas, and there is none")
    (folder / "k.ptx").write_text(text)
    command = ["ptxas", "-arch=sm_90", folder / "k.ptx", "-o", folder / "k.cubin"]
    subprocess.run(command, check=True)
    return (folder / "k.cubin").read_bytes()


def run(device, body, source, target, threads=64):
    arrays = [device.array(source), device.array(target)]
    device.load_ptx(kernel(body))["k"][1, threads](*arrays)
    return arrays[1].numpy()


COPY_OUT = """ld.shared.v4.b32 {%x, %y, %m, %n}, [%s]; mad.wide.u32 %out, %i, 16, %out;
st.global.v4.b32 [%out], {%x, %y, %m, %n};"""


@pytest.mark.parametrize("size", [4, 8, 16])
def test_parts_are_read_and_the_rest_is_zero(device, size):
    """Thread i copies i % (size + 1) bytes; what is not read need not exist."""
    body = f"""rem.u32 %x, %i, {size + 1}; mad.wide.u32 %in, %i, 16, %in;
mov.u64 %s, tile; mad.wide.u32 %s, %i, 16, %s;
mov.b32 %y, -1; st.shared.v4.b32 [%s], {{%y, %y, %y, %y}};
cp.async.ca.shared.global [%s], [%in], {size}, %x; cp.async.commit_group; cp.async.wait_group 0;
{COPY_OUT}"""
    rng = np.random.default_rng(1)
    # the allocation ends with the last byte that is read
    last = 63 * 16 + 63 % (size + 1)
    source = rng.integers(0, 256, last, np.uint8)
    got = run(device, body, source, np.zeros((64, 16), np.uint8))
    padded = np.concatenate([source, np.zeros(32, np.uint8)])
    for i, row in enumerate(got):
        count = i % (size + 1)
        expected = np.full(16, 255, np.uint8)
        expected[:size] = 0
        expected[:count] = padded[16 * i : 16 * i + count]
        assert np.array_equal(row, expected), i


@pytest.mark.parametrize("how", ["recorded", "at issue", "profile"])
@pytest.mark.parametrize("form", ["ptx", "cubin"])
def test_lanes_that_copy_nothing_read_no_sector(how, form, tmp_path):
    """The first lanes copy 16 bytes each, the others zeros: by a size of 0, by a predicate."""
    body = f"""ld.global.u32 %n, [%out]; setp.ge.u32 %p, %i, %n; selp.b32 %x, 0, 16, %p;
mov.u64 %s, tile; mad.wide.u32 %s, %i, 16, %s; mad.wide.u32 %in, %i, 16, %in; add.u64 %a, %in, 4096;
cp.async.cg.shared.global [%s], [%in], 16, %x; cp.async.cg.shared.global [%s+1024], [%a], 16, %p;
cp.async.commit_group; cp.async.wait_group 0; {COPY_OUT}"""
    options = {"profile": True} if how == "profile" else {"timing": True}
    source = np.arange(2048, dtype=np.uint32)
    with lockstep.Device("H100_SXM", at_issue=how == "at issue", **options) as device:
        text = kernel(body)
        module = (
            device.load_ptx(text) if form == "ptx" else device.load_cubin(cubin(text, tmp_path))
        )
        for copying, sectors in ((0, 0), (8, 4), (32, 16)):
            target = np.zeros(128, np.uint32)
            target[0] = copying
            arrays = [device.array(source), device.array(target)]
            launch = module["k"][1, 32](*arrays)
            expected = np.where(np.arange(128) < 4 * copying, source[:128], 0)
            assert np.array_equal(arrays[1].numpy(), expected)
            if how == "profile":
                read = launch.profile["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
            else:
                read = launch.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
            assert read == 1 + 2 * sectors


def test_a_predicate_ignores_the_source(device):
    body = f"""and.b32 %x, %i, 1; setp.eq.u32 %p, %x, 1; mad.wide.u32 %in, %i, 16, %in;
@%p mov.u64 %in, 0; mov.u64 %s, tile; mad.wide.u32 %s, %i, 16, %s;
cp.async.cg.shared.global [%s], [%in], 16, %p; cp.async.wait_all; {COPY_OUT}"""
    source = np.arange(256, dtype=np.int32).reshape(64, 4)
    got = run(device, body, source, np.zeros((64, 4), np.int32))
    assert np.array_equal(got, np.where(np.arange(64)[:, None] % 2, 0, source))


@pytest.mark.parametrize(
    "copy, message",
    [
        ("[%s], [%in+1048576], 16", "invalid global"),
        ("[%s], [%in+8], 16", "misaligned"),
        ("[%s+4], [%in], 16", "misaligned"),
        ("[%s+1048576], [%in], 16", "shared"),
    ],
)
def test_bad_copies_end_the_launch(device, copy, message):
    body = f"mov.u64 %s, tile; cp.async.cg.shared.global {copy};"
    with pytest.raises(lockstep.LockstepError, match=message):
        run(device, body, np.zeros(64, np.int32), np.zeros(4, np.int32))


def test_a_size_that_does_not_exist_is_refused(device):
    text = kernel("mov.u64 %s, tile; cp.async.cg.shared.global [%s], [%in], 8;")
    with pytest.raises(lockstep.InputError, match="cannot copy so many bytes"):
        device.load_ptx(text)


INITIALISE = """setp.eq.u32 %q, %i, 0; @%q mbarrier.init.shared.b64 [%m], COUNT; bar.sync 0;"""
STORE = "mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %x;"
WAIT = """NAME: mbarrier.try_wait.parity.shared.b64 %p, [%m], PHASE; @!%p bra NAME;"""


def waiting(name, phase):
    return WAIT.replace("NAME", name).replace("PHASE", str(phase))


def test_phases_follow_each_other(device):
    """Each thread adds in every phase; after a phase all see the whole sum."""
    body = INITIALISE.replace("COUNT", "96")
    body += "mov.u64 %s, tile; mov.b32 %x, 0;"
    for phase in range(4):
        body += f"""atom.shared.add.u32 %y, [%s+{4 * phase}], %i;
mbarrier.arrive.shared.b64 %state, [%m]; {waiting(f"W{phase}", phase & 1)}
ld.shared.u32 %y, [%s+{4 * phase}]; add.u32 %x, %x, %y;"""
    got = run(device, body + STORE, np.zeros(4, np.int32), np.zeros(96, np.int32), 96)
    assert (got == 4 * 96 * 95 // 2).all()


def test_a_state_names_its_phase(device):
    body = (
        INITIALISE.replace("COUNT", "2")
        + """
@!%q bra DONE;
mbarrier.arrive.shared.b64 %state, [%m]; mbarrier.pending_count.b64 %x, %state;
mbarrier.test_wait.shared.b64 %p, [%m], %state; selp.u32 %y, 10, 0, %p; add.u32 %x, %x, %y;
mbarrier.arrive.release.cta.shared::cta.b64 %a, [%m], 1; mbarrier.pending_count.b64 %y, %a;
mad.lo.u32 %x, %y, 100, %x;
mbarrier.test_wait.shared.b64 %p, [%m], %state; selp.u32 %y, 1000, 0, %p; add.u32 %x, %x, %y;
mbarrier.try_wait.acquire.cta.shared::cta.b64 %p, [%m], %state, 100;
selp.u32 %y, 10000, 0, %p; add.u32 %x, %x, %y;
st.global.u32 [%out], %x; mbarrier.inval.shared.b64 [%m];
DONE:"""
    )
    got = run(device, body, np.zeros(4, np.int32), np.zeros(1, np.int32), 32)
    assert got[0] == 2 + 100 + 1000 + 10000


def test_who_drops_out_is_not_waited_for(device):
    body = (
        INITIALISE.replace("COUNT", "64")
        + f"""mov.b32 %x, 0;
setp.lt.u32 %p, %i, 32; @%p bra STAY;
mbarrier.arrive_drop.shared.b64 %state, [%m]; bra DONE;
STAY: mbarrier.arrive.shared.b64 %state, [%m]; {waiting("A", 0)}
mbarrier.arrive.noComplete.shared.b64 %state, [%m], 1;
{waiting("B", 1)} mov.b32 %x, 7;
DONE: {STORE}"""
    )
    got = run(device, body, np.zeros(4, np.int32), np.zeros(64, np.int32))
    assert np.array_equal(got, np.where(np.arange(64) < 32, 7, 0))


def test_announced_bytes_hold_a_phase_open(device):
    body = (
        INITIALISE.replace("COUNT", "1")
        + """
@!%q bra DONE;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%m], 100;
mbarrier.arrive.expect_tx.shared.b64 %state, [%m], 28; mov.b32 %x, 0;
mbarrier.test_wait.parity.shared.b64 %p, [%m], 0; selp.u32 %y, 1, 0, %p; add.u32 %x, %x, %y;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%m], 127;
mbarrier.test_wait.parity.shared.b64 %p, [%m], 0; selp.u32 %y, 10, 0, %p; add.u32 %x, %x, %y;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%m], 1;
mbarrier.test_wait.parity.shared.b64 %p, [%m], 0; selp.u32 %y, 100, 0, %p; add.u32 %x, %x, %y;
st.global.u32 [%out], %x;
DONE:"""
    )
    got = run(device, body, np.zeros(4, np.int32), np.zeros(1, np.int32), 32)
    assert got[0] == 100


def test_copies_arrive_at_a_barrier(device):
    body = (
        INITIALISE.replace("COUNT", "64")
        + f"""
mov.u64 %s, tile; mad.wide.u32 %s, %i, 16, %s; mad.wide.u32 %in, %i, 16, %in;
cp.async.ca.shared.global [%s], [%in], 16; cp.async.mbarrier.arrive.shared.b64 [%m];
mbarrier.test_wait.parity.shared.b64 %p, [%m], 0; @%p trap;
cp.async.mbarrier.arrive.noinc.shared.b64 [%m]; {waiting("A", 0)}
{COPY_OUT}"""
    )
    source = np.arange(256, dtype=np.int32).reshape(64, 4)
    got = run(device, body, source, np.zeros((64, 4), np.int32))
    assert np.array_equal(got, source)


def test_bulk_copies_there_and_back(device):
    """One thread copies; its barrier knows of the bytes; the result goes back as a group."""
    body = (
        INITIALISE.replace("COUNT", "1")
        + f"""
mov.u32 %x, tile; @!%q bra READY;
mbarrier.arrive.expect_tx.shared.b64 %state, [%m], 1024;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%x], [%in], 1008, [%m];
mbarrier.test_wait.parity.shared.b64 %p, [%m], 0; @%p trap;
add.u32 %y, %x, 1008; add.u64 %a, %in, 1008;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%y], [%a], 16, [%m];
READY: {waiting("A", 0)}
mad.lo.u32 %y, %i, 16, %x; ld.shared.u32 %n, [%y]; add.u32 %n, %n, 1; st.shared.u32 [%y], %n;
bar.sync 0; fence.proxy.async.shared::cta; @!%q bra DONE;
cp.async.bulk.prefetch.L2.global [%in], 64;
cp.async.bulk.global.shared::cta.bulk_group [%out], [%x], 1024;
cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
DONE:"""
    )
    source = np.arange(256, dtype=np.int32)
    got = run(device, body, source, np.zeros(256, np.int32))
    assert np.array_equal(got, source + (np.arange(256) % 4 == 0))


REDUCTIONS = {
    "add.u32": ("u4", np.add),
    "add.u64": ("u8", np.add),
    "add.f32": ("f4", np.add),
    "add.f64": ("f8", np.add),
    "add.noftz.f16": ("f2", np.add),
    "min.s32": ("i4", np.minimum),
    "max.s64": ("i8", np.maximum),
    "max.f16": ("f2", np.maximum),
    "and.b32": ("u4", np.bitwise_and),
    "or.b64": ("u8", np.bitwise_or),
    "xor.b32": ("u4", np.bitwise_xor),
    "inc.u32": ("u4", lambda old, x: np.where(old >= x, 0, old + 1)),
    "dec.u32": ("u4", lambda old, x: np.where((old == 0) | (old > x), x, old - 1)),
}


@pytest.mark.parametrize("operation", REDUCTIONS)
def test_bulk_reductions(device, operation):
    dtype, combine = REDUCTIONS[operation]
    rng = np.random.default_rng(3)
    count = 512 // np.dtype(dtype).itemsize
    source, target = (rng.integers(0, 9, (2, count)) - (dtype[0] in "if") * 4).astype(dtype)
    body = f"""mov.u32 %x, tile; mad.lo.u32 %y, %i, 16, %x; mad.wide.u32 %in, %i, 16, %in;
ld.global.v2.b64 {{%a, %s}}, [%in]; st.shared.v2.b64 [%y], {{%a, %s}}; bar.sync 0;
setp.eq.u32 %q, %i, 0;
@%q cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%out], [%x], 512;"""
    got = run(device, body, source, target, 32)
    assert np.array_equal(got, combine(target, source).astype(dtype))


IN_SHARED = {name: of for name, of in REDUCTIONS.items() if name not in ("max.s64", "or.b64")}
IN_SHARED |= {
    "add.s32": ("i4", np.add),
    "min.u32": ("u4", np.minimum),
    "max.s32": ("i4", np.maximum),
    "min.f16": ("f2", np.minimum),
    "min.bf16": ("bf16", np.minimum),
    "max.bf16": ("bf16", np.maximum),
    "add.noftz.bf16": ("bf16", np.add),
    "or.b32": ("u4", np.bitwise_or),
}


def encoded(values, dtype):
    """Small whole numbers as a type's bytes; bf16 is the upper half of f32."""
    return (values.astype("f4").view("u4") >> 16).astype("u2") if dtype == "bf16" else values


@pytest.mark.long
@pytest.mark.parametrize("operation", IN_SHARED)
def test_bulk_reductions_in_shared_memory(device, operation):
    """The target is read back when the barrier has its bytes."""
    dtype, combine = IN_SHARED[operation]
    rng, numbers = np.random.default_rng(4), "f4" if dtype == "bf16" else dtype
    count = 512 // (2 if dtype == "bf16" else np.dtype(dtype).itemsize)
    signed = numbers[0] in "if"
    source, target = (rng.integers(0, 9, (2, count)) - signed * 4).astype(numbers)
    body = (
        INITIALISE.replace("COUNT", "1")
        + f"""
mov.u32 %x, tile; mad.lo.u32 %y, %i, 16, %x;
mad.wide.u32 %in, %i, 16, %in; mad.wide.u32 %out, %i, 16, %out;
ld.global.v2.b64 {{%a, %s}}, [%in]; st.shared.v2.b64 [%y], {{%a, %s}};
ld.global.v2.b64 {{%a, %s}}, [%out]; st.shared.v2.b64 [%y+512], {{%a, %s}}; bar.sync 0;
@!%q bra READY;
mbarrier.arrive.expect_tx.shared.b64 %state, [%m], 512; add.u32 %n, %x, 512;
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{operation} [%n],
 [%x], 512, [%m];
READY: {waiting("A", 0)}
ld.shared.v2.b64 {{%a, %s}}, [%y+512]; st.global.v2.b64 [%out], {{%a, %s}};"""
    )
    got = run(device, body, encoded(source, dtype), encoded(target, dtype), 32)
    expected = encoded(combine(target, source).astype(numbers), dtype)
    assert np.array_equal(got, expected) and not np.array_equal(expected, encoded(target, dtype))


def test_bulk_copies_stay_in_their_allocation(device):
    body = """mov.u32 %x, tile; mbarrier.init.shared.b64 [%m], 1;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%x], [%in], 1040, [%m];"""
    with pytest.raises(lockstep.LockstepError, match="invalid global"):
        run(device, body, np.zeros(256, np.int32), np.zeros(1, np.int32), 1)
