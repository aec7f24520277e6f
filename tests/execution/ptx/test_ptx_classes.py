import pytest

from lockstep.execution.ptx import classes
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.isa.ptx.parser import parse

BOTH = CachePolicy.ACQUIRE | CachePolicy.RELEASE
ROWS = [
    ("add.s32 %r1, %r2, %r3", OpClass.INT32, Space.NONE, 0, 0),
    ("mul.lo.s32 %r1, %r2, %r3", OpClass.IMAD, Space.NONE, 0, 0),
    ("mad.wide.u32 %rd1, %r2, %r3, %rd2", OpClass.IMAD_WIDE, Space.NONE, 0, 0),
    ("fma.rn.f32 %f1, %f2, %f3, %f1", OpClass.FP32, Space.NONE, 0, 0),
    ("fma.rn.f64 %fd1, %fd2, %fd3, %fd1", OpClass.FP64, Space.NONE, 0, 0),
    ("fma.rn.f16x2 %r1, %r2, %r3, %r1", OpClass.FP16, Space.NONE, 0, 0),
    ("div.rn.f32 %f1, %f2, %f3", OpClass.SFU, Space.NONE, 0, 0),
    ("div.rn.f64 %fd1, %fd2, %fd3", OpClass.FP64, Space.NONE, 0, 0),
    ("ex2.approx.f32 %f1, %f2", OpClass.SFU, Space.NONE, 0, 0),
    ("setp.lt.f32 %p1, %f1, %f2", OpClass.INT32, Space.NONE, 0, 0),
    ("cvt.rn.f32.s32 %f1, %r1", OpClass.CONVERT, Space.NONE, 0, 0),
    ("mov.u32 %r1, %tid.x", OpClass.SPECIAL_REGISTER, Space.NONE, 0, 0),
    ("mov.u32 %r1, %ntid.x", OpClass.MOVE, Space.NONE, 0, 0),
    ("ld.param.u32 %r1, [p]", OpClass.MOVE, Space.NONE, 0, 0),
    ("ld.const.f32 %f1, [%rd1]", OpClass.LOAD, Space.CONSTANT, 4, 0),
    ("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1]", OpClass.LOAD, Space.GLOBAL, 16, 0),
    ("ld.global.nc.u8 %r1, [%rd1]", OpClass.LOAD, Space.GLOBAL, 1, 0),
    ("ld.u64 %rd2, [%rd1]", OpClass.LOAD, Space.GENERIC, 8, 0),
    ("ld.volatile.shared.u32 %r1, [%r2]", OpClass.LOAD, Space.SHARED, 4, CachePolicy.VOLATILE),
    ("ld.global.cg.u32 %r1, [%rd1]", OpClass.LOAD, Space.GLOBAL, 4, CachePolicy.BYPASS_L1),
    ("st.local.v2.f64 [%r1], {%fd1,%fd2}", OpClass.STORE, Space.LOCAL, 16, 0),
    ("atom.global.add.u32 %r1, [%rd1], %r2", OpClass.ATOMIC, Space.GLOBAL, 4, 0),
    ("atom.shared.cas.b64 %rd1, [%r1], %rd2, %rd3", OpClass.ATOMIC, Space.SHARED, 8, 0),
    ("red.global.add.f32 [%rd1], %f1", OpClass.REDUCTION, Space.GLOBAL, 4, 0),
    ("red.shared.add.u32 [%r1], %r2", OpClass.ATOMIC, Space.SHARED, 4, 0),
    ("cp.async.ca.shared.global [%r1], [%rd1], 16", OpClass.ASYNC_COPY, Space.GLOBAL, 16, 0),
    ("cp.async.mbarrier.arrive.shared.b64 [%r1]", OpClass.REDUCTION, Space.SHARED, 8, 0),
    ("cp.async.mbarrier.arrive.noinc.b64 [%rd1]", OpClass.REDUCTION, Space.GENERIC, 8, 0),
    ("mbarrier.arrive.shared.b64 %rd1, [%r1]", OpClass.ATOMIC, Space.SHARED, 8, 0),
    ("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1", OpClass.OBJECT_WAIT, Space.SHARED, 8, 0),
    ("mbarrier.pending_count.b64 %r1, %rd1", OpClass.INT32, Space.NONE, 0, 0),
    ("txq.width.b32 %r1, [%rd1]", OpClass.TEXTURE, Space.TEXTURE, 0, 0),
    ("suq.width.b32 %r1, [%rd1]", OpClass.TEXTURE, Space.TEXTURE, 0, 0),
    ("cp.async.commit_group", OpClass.COMMIT_GROUP, Space.NONE, 0, 0),
    ("cp.async.wait_group 1", OpClass.WAIT_GROUP, Space.NONE, 0, 0),
    ("shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1", OpClass.SHUFFLE, Space.NONE, 0, 0),
    ("vote.sync.ballot.b32 %r1, %p1, -1", OpClass.VOTE, Space.NONE, 0, 0),
    ("bar.sync 0", OpClass.BARRIER, Space.NONE, 0, 0),
    ("bar.arrive 1, 64", OpClass.ARRIVE, Space.NONE, 0, 0),
    ("bar.warp.sync -1", OpClass.CONVERGENCE, Space.NONE, 0, 0),
    ("membar.gl", OpClass.FENCE, Space.NONE, 0, BOTH),
    ("membar.cta", OpClass.LOCAL_FENCE, Space.NONE, 0, BOTH | CachePolicy.OF_CTA),
    ("fence.acq_rel.cta", OpClass.LOCAL_FENCE, Space.NONE, 0, BOTH | CachePolicy.OF_CTA),
    ("fence.acq_rel.gpu", OpClass.FENCE, Space.NONE, 0, BOTH),
    ("fence.sc.sys", OpClass.FENCE, Space.NONE, 0, BOTH),
    ("fence.acquire.gpu", OpClass.FENCE, Space.NONE, 0, CachePolicy.ACQUIRE),
    ("fence.proxy.async", OpClass.LOCAL_FENCE, Space.NONE, 0, 0),
    ("ld.acquire.gpu.global.u32 %r1, [%rd1]", OpClass.LOAD, Space.GLOBAL, 4,
     CachePolicy.BYPASS_L1 | CachePolicy.ACQUIRE),
    ("ld.relaxed.cta.global.u32 %r1, [%rd1]", OpClass.LOAD, Space.GLOBAL, 4,
     CachePolicy.BYPASS_L1 | CachePolicy.OF_CTA),
    ("st.release.gpu.global.u32 [%rd1], %r1", OpClass.STORE, Space.GLOBAL, 4, CachePolicy.RELEASE),
    ("atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], %r2", OpClass.ATOMIC, Space.GLOBAL, 4, BOTH),
    ("bra L", OpClass.BRANCH, Space.NONE, 0, 0),
    ("ret", OpClass.BRANCH, Space.NONE, 0, 0),
    ("exit", OpClass.EXIT, Space.NONE, 0, 0),
]  # fmt: skip


def instruction(text):
    registers = ".reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<5>; .reg .f64 %fd<5>;"
    body = f"{registers} .reg .pred %p<3>;\nL: {text};\nret;"
    module = parse(
        f".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u32 p) {{ {body} }}\n",
        "<test>",
    )
    return module.functions["k"].instructions[0]


@pytest.mark.parametrize("text, op, space, width, cache", ROWS, ids=lambda v: str(v)[:24])
def test_what_the_model_sees(text, op, space, width, cache):
    i = instruction(text)
    kind = classes.class_of(i)
    assert kind == op
    assert classes.space_of(i, kind) == space
    assert classes.width_of(i, kind) == width
    assert classes.policy_of(i) == cache


@pytest.mark.parametrize(
    "text, number", [("bar.sync 5", 5), ("cp.async.wait_group 2", 2), ("mov.u32 %r1, 7", 0)]
)
def test_immediates(text, number):
    assert classes.immediate_of(instruction(text)) == number


COPY = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%r2], %r4, [%r3]"


@pytest.mark.parametrize(
    "text, op, space",
    [
        (COPY, OpClass.TILE_COPY, Space.GLOBAL),
        ("cp.async.bulk.global.shared::cta.bulk_group [%r1], [%r2], 16", OpClass.TILE_STORE,
         Space.GLOBAL),
        ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, "
         "[%r3]", OpClass.BULK_COPY, Space.GENERIC),
        ("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%r1, {%r2}], [%r3]",
         OpClass.TILE_STORE, Space.GLOBAL),
        ("cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], "
         "[%r2, {%r3}], [%r4]", OpClass.TILE_COPY, Space.GLOBAL),
        ("cp.async.bulk.prefetch.tensor.1d.L2.global [%r2, {%r3}]", OpClass.CACHE_CONTROL,
         Space.NONE),
    ],
)  # fmt: skip
def test_directions_of_bulk_copies(text, op, space):
    i = instruction(text)
    assert (classes.class_of(i), classes.space_of(i, op)) == (op, space)


def test_the_barrier_of_a_cluster_is_no_barrier_of_the_cta():
    arrive, wait = map(
        instruction, ("barrier.cluster.arrive.release", "barrier.cluster.wait.acquire")
    )
    assert classes.class_of(arrive) == OpClass.CLUSTER_ARRIVE
    assert classes.class_of(wait) == OpClass.CLUSTER_WAIT
    assert classes.policy_of(wait) == 0


@pytest.mark.parametrize(
    "text",
    [
        "ld.shared::cluster.u32 %r1, [%r2]",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3]",
        "atom.shared::cluster.add.u32 %r1, [%r2], %r3",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]",
    ],
)
def test_accesses_of_a_clusters_shared_memory_have_generic_addresses(text):
    i = instruction(text)
    assert classes.space_of(i, classes.class_of(i)) == Space.GENERIC


@pytest.mark.parametrize(
    "text, number, threads",
    [
        ("bar.sync 3", 3, 0),
        ("bar.sync 3, 96", 3, 96),
        ("barrier.arrive.aligned 2, 64", 2, 64),
        ("bar.red.popc.u32 %r1, 4, 128, %p1", 4, 128),
        ("barrier.red.and.pred %p1, 5, %p2", 5, 0),
        ("bar.sync %r1, %r2", 0, 0),
        ("mov.u32 %r1, 64", 0, 0),
    ],
)
def test_barriers_and_how_many_threads_they_wait_for(text, number, threads):
    i = instruction(text)
    assert (classes.immediate_of(i), classes.threads_of(i)) == (number, threads)
