"""st.async, red.async, and copies to the CTAs of a cluster."""

import numpy as np
import pytest

import lockstep

KERNEL = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 target)
{{
.reg .b64 %in, %out, %s, %state, %far; .reg .b32 %i, %x, %y, %z, %w, %m, %b; .reg .pred %p;
.reg .b16 %mask;
.shared .align 128 .b8 tile[2048]; .shared .align 8 .b64 barrier;
ld.param.u64 %in, [source]; ld.param.u64 %out, [target];
mov.u32 %i, %tid.x; mov.u32 %m, barrier;
mad.wide.u32 %in, %i, 16, %in; mad.wide.u32 %out, %i, 16, %out;
mov.u64 %s, tile; mad.wide.u32 %s, %i, 16, %s;
mov.u32 %x, 1; mov.u32 %y, 2; mov.u32 %z, 3; mov.u32 %w, 4;
st.shared.v4.u32 [%s], {{%x, %y, %z, %w}};
setp.ne.u32 %p, %i, 0;
@!%p mbarrier.init.shared.b64 [%m], {threads};
bar.sync 0;
{arrive}
{body}
WAIT: mbarrier.try_wait.shared.b64 %p, [%m], %state;
@!%p bra WAIT;
ld.shared.v4.u32 {{%x, %y, %z, %w}}, [%s];
st.global.v4.u32 [%out], {{%x, %y, %z, %w}};
ret;
}}
"""
THREADS = 64


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("H100", timing=False) as device:
        yield device


def run(device, body, size):
    """Each thread expects ``size`` bytes, and waits for those of all."""
    arrive = f"mbarrier.arrive.expect_tx.shared.b64 %state, [%m], {size};"
    text = KERNEL.format(body=body, arrive=arrive, threads=THREADS)
    rng = np.random.default_rng(3)
    source = rng.integers(0, 2**32, (THREADS, 4), np.uint32)
    target = device.array(np.zeros_like(source))
    device.load_ptx(text)["k"][1, THREADS](device.array(source), target)
    return source, target.numpy()


LOAD = "ld.global.v4.u32 {%x, %y, %z, %w}, [%in];"
BYTES = "mbarrier::complete_tx::bytes"


def test_stores_arrive_before_the_barrier_opens(device):
    body = f"{LOAD} st.async.weak.shared::cluster.{BYTES}.v4.u32 [%s], {{%x, %y, %z, %w}}, [%m];"
    source, got = run(device, body, 16)
    assert np.array_equal(got, source)


def test_generic_addresses_of_single_values(device):
    body = f"""{LOAD} cvta.shared.u64 %far, %s; cvt.u64.u32 %in, %m; cvta.shared.u64 %in, %in;
st.async.{BYTES}.s32 [%far+8], %x, [%in];"""
    source, got = run(device, body, 4)
    assert np.array_equal(got[:, 2], source[:, 0])
    assert np.array_equal(got[:, 3], np.full(THREADS, 4))


@pytest.mark.parametrize(
    "form, function",
    [
        ("add.u32", lambda old, new: old + new),
        ("min.s32", lambda old, new: np.minimum(old.view(np.int32), new.view(np.int32))),
        ("max.u32", np.maximum),
        ("inc.u32", lambda old, new: np.where(old >= new, 0, old + 1)),
        ("xor.b32", np.bitwise_xor),
    ],
)
def test_reductions(device, form, function):
    name = f"red.async.relaxed.cluster.shared::cluster.{BYTES}.{form}"
    source, got = run(device, f"{LOAD} {name} [%s+4], %x, [%m];", 4)
    old = np.full(THREADS, 2, np.uint32)
    assert np.array_equal(got[:, 1], function(old, source[:, 0]).astype(np.uint32))


def test_a_long_sum(device):
    name = f"red.async.relaxed.cluster.{BYTES}.add.u64"
    body = f"""ld.global.u64 %far, [%in]; cvta.shared.u64 %in, %s; cvt.u64.u32 %out, %m;
cvta.shared.u64 %out, %out; {name} [%in], %far, [%out];
ld.param.u64 %out, [target]; mad.wide.u32 %out, %i, 16, %out;"""
    source, got = run(device, body, 8)
    total = source.view(np.uint64)[:, 0] + np.uint64(1 + (2 << 32))
    assert np.array_equal(got.view(np.uint64)[:, 0], total)


@pytest.mark.parametrize("mask", [1, 3])
def test_copies_to_several_ctas_are_for_those_that_the_mask_names(device, mask):
    name = f"cp.async.bulk.shared::cluster.global.{BYTES}.multicast::cluster"
    source, got = run(device, f"mov.u16 %mask, {mask}; {name} [%s], [%in], 16, [%m], %mask;", 16)
    assert np.array_equal(got, source)


def test_a_copy_that_is_not_for_this_cta_writes_nothing(device):
    name = f"cp.async.bulk.shared::cluster.global.{BYTES}.multicast::cluster"
    _, got = run(device, f"mov.u16 %mask, 2; {name} [%s], [%in], 16, [%m], %mask;", 0)
    assert np.array_equal(got, np.tile(np.uint32([1, 2, 3, 4]), (THREADS, 1)))
