"""Shared memory: passes over the banks, against a twin that serves one pass after the other."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.isa.instruction import OpClass
from lockstep.model.core.shared_memory import passes
from lockstep.model.counters import Stall

pytestmark = pytest.mark.plain


@pytest.fixture(scope="session")
def count(tiny, idle_sms):
    """Function that counts the passes of one access."""
    states = {}

    def run(
        addresses, width, banks=32, bank_bytes=4, stride=None, op=OpClass.LOAD,
        passes_each=1, together=0, rows=64, wide=False, mask=None, warp_size=32, pass_lanes=32,
        ideal=False,
    ):  # fmt: skip
        key = banks, bank_bytes, wide, pass_lanes, warp_size, ideal
        if key not in states:
            names = ("banks", "bank_bytes", "wide_passes", "pass_lanes")
            shape = {f"shared.{name}": value for name, value in zip(names, key)}
            shape["ideal.banks"] = ideal
            states[key] = idle_sms(tiny(sm__warp_size=warp_size, **shape))
        c = states[key]
        c.pool[10 : 10 + len(addresses)] = addresses
        pool = 3 if stride is None else -1
        record = SimpleNamespace(first=addresses[0], stride=stride, pool=pool)
        instruction = SimpleNamespace(
            width=width, op=int(op), passes=passes_each, together=together, rows=rows
        )
        mask = (1 << len(addresses)) - 1 if mask is None else mask
        mask = np.array(mask, np.uint64).astype(np.int64)[()]
        access = SimpleNamespace(lanes=len(addresses), mask=mask)
        return passes(c, 0, record, 7, access, instruction, ideal)

    return run


def naive(addresses, width, banks=32, bank_bytes=4, pass_lanes=32):
    """Serve lanes in groups that move one word a bank at most; each pass takes what fits."""
    lanes = pass_lanes if width <= bank_bytes else max(1, banks * bank_bytes // width)
    total = 0
    for first in range(0, len(addresses), lanes):
        words = {
            a // bank_bytes + k
            for a in addresses[first : first + lanes]
            for k in range(max(1, width // bank_bytes))
        }
        while words:
            taken = {}
            for word in sorted(words):
                taken.setdefault(word % banks, word)
            words -= set(taken.values())
            total += 1
    return total


lanes = st.integers(1, 32)
widths = st.sampled_from([1, 2, 4, 8, 16])


@settings(max_examples=120)
@given(widths, st.lists(st.integers(0, 600), min_size=1, max_size=32), st.sampled_from([4, 8, 12]))
def test_random_addresses_agree_with_the_twin(count, width, elements, bank_bytes):
    addresses = [width * e for e in elements]
    assert count(addresses, width, 32, bank_bytes) == naive(addresses, width, 32, bank_bytes)


@settings(max_examples=120)
@example(width=4, n=9, step=1, banks=8)
@given(widths, lanes, st.integers(-70, 70).filter(bool), st.sampled_from([2, 8, 24, 32]))
def test_strides_agree_with_the_twin(count, width, n, step, banks):
    addresses = [70 * 32 * width + k * step * width for k in range(n)]
    assert count(addresses, width, banks, stride=step * width) == naive(addresses, width, banks)


def naive_warp(addresses, width, mask, pass_lanes):
    """Parts of a warp of 64 lanes one after the other; ``addresses`` are those of active lanes."""
    of_lane = dict(zip((lane for lane in range(64) if mask >> lane & 1), addresses))
    parts = [range(first, first + pass_lanes) for first in range(0, 64, pass_lanes)]
    active = [[of_lane[lane] for lane in part if lane in of_lane] for part in parts]
    return sum(naive(part, width, pass_lanes=pass_lanes) for part in active)


wide_masks = st.one_of(
    st.sampled_from([(1 << 64) - 1, 1 << 63, 1 | 1 << 63, 0xFFFFFFFF, 0xFFFFFFFF << 32]),
    st.integers(1, (1 << 64) - 1),
)


@settings(max_examples=150)
@given(widths, wide_masks, st.sampled_from([16, 32, 64]), st.data())
def test_64_lanes_go_over_the_banks_in_parts(count, width, mask, pass_lanes, data):
    n = mask.bit_count()
    elements = data.draw(st.lists(st.integers(0, 600), min_size=n, max_size=n))
    shape = {"mask": mask, "warp_size": 64, "pass_lanes": pass_lanes}
    addresses = [width * e for e in elements]
    assert count(addresses, width, **shape) == naive_warp(addresses, width, mask, pass_lanes)
    step = data.draw(st.integers(-70, 70).filter(bool))
    addresses = [70 * 64 * width + k * step * width for k in range(n)]
    found = count(addresses, width, stride=step * width, **shape)
    assert found == naive_warp(addresses, width, mask, pass_lanes)


def test_each_half_of_64_lanes_with_an_active_one_takes_a_pass(count):
    def passes(mask, **more):
        return count([64] * mask.bit_count(), 4, stride=0, mask=mask, warp_size=64, **more)

    assert passes((1 << 64) - 1) == 2, "a broadcast too"
    assert passes(1 << 63) == passes(1) == passes(0xFFFFFFFF) == 1
    assert passes(1 | 1 << 63) == 2
    assert passes((1 << 64) - 1, pass_lanes=64) == passes(1 | 1 << 63, pass_lanes=64) == 1
    assert passes((1 << 64) - 1, op=OpClass.ATOMIC) == 64
    assert passes((1 << 64) - 1, pass_lanes=64, op=OpClass.ATOMIC) == 64


@pytest.mark.parametrize("ways", [1, 2, 4, 8, 16, 32])
def test_conflicts_serialise(watch, tiny, ways):
    gpu = tiny()
    k = KernelBuilder("conflict", grid=1, block=32, shared_bytes=8192)
    k("LDS R1, [R2]", address=k.bank_conflict(ways))
    k("MOV R3, R1")
    seen = watch(k.workload(), gpu)
    assert seen.of(0)[1] == gpu.shared.latency + ways - 1
    assert seen.counters["shared_wavefronts"] == ways
    assert seen.counters["shared_accesses"] == 1


@pytest.mark.parametrize("width, passes", [("", 1), (".64", 2), (".128", 4)])
def test_wide_accesses_go_in_halves_and_quarters(watch, tiny, width, passes):
    k = KernelBuilder("wide", grid=1, block=32, shared_bytes=8192)
    size = 4 * passes
    k(f"LDS{width} R4, [R2]", address=lambda at: at.lane * size)
    seen = watch(k.workload(), tiny())
    assert seen.counters["shared_wavefronts"] == passes


def test_a_broadcast_is_one_pass(watch, tiny):
    k = KernelBuilder("broadcast", grid=1, block=32, shared_bytes=8192)
    k("LDS.128 R4, [R2]", address=256)
    assert watch(k.workload(), tiny()).counters["shared_wavefronts"] == 1


def test_passes_keep_the_pipeline_busy(watch, tiny):
    """The second warp's access, of another sub-core, waits for the passes of the first."""
    gpu = tiny()

    def second(ways):
        k = KernelBuilder("busy", grid=1, block=64, shared_bytes=8192)
        k("LDS R1, [R2]", address=k.bank_conflict(ways))
        k("MOV R3, R1")
        seen = watch(k.workload(), gpu)
        assert seen.stalls[Stall.SHORT_SCOREBOARD] > 0
        return seen.of(1)[1]

    assert second(32) - second(8) == 2 * 24
    assert second(1) == gpu.shared.latency + gpu.sm.memory.accept_interval


def test_atomics_on_one_word_follow_each_other(count):
    assert count([64] * 32, 4) == 1
    assert count([64] * 32, 4, op=OpClass.ATOMIC) == 32
    assert count([64, 64, 68, 68, 68], 4, op=OpClass.REDUCTION) == 3
    assert count([64] * 8, 4, stride=0, op=OpClass.ATOMIC) == 8


def test_a_broadcast_is_one_pass_however_wide(count):
    assert [count([64] * 32, width, stride=0) for width in (1, 4, 8, 16)] == [1, 1, 1, 1]


@pytest.mark.parametrize("op, passes", [(OpClass.LOAD, [1, 1, 2]), (OpClass.STORE, [1, 2, 4])])
def test_one_address_may_take_passes_by_its_width(count, op, passes):
    found = [count([64] * 32, width, stride=0, op=op, wide=True) for width in (4, 8, 16)]
    assert found == passes


@settings(max_examples=120)
@given(st.sampled_from([8, 16]), st.lists(st.integers(0, 40), min_size=1, max_size=32))
def test_two_parts_of_a_wide_load_may_go_in_one_pass(count, width, elements):
    addresses = [width * e for e in elements]
    lanes = 128 // width
    expected = 0
    for first in range(0, len(addresses), 2 * lanes):
        both = addresses[first : first + 2 * lanes]
        words = {a // 4 + k for a in both for k in range(width // 4)}
        alone = len({word % 32 for word in words}) == len(words)
        expected += 1 if alone else naive(both, width)
    assert count(addresses, width, wide=True) == expected
    assert count(addresses, width, wide=True, op=OpClass.STORE) == naive(addresses, width)


def test_passes_by_opcode(count):
    """A compare-and-swap that takes two where another takes one, and lanes that share them."""
    apart, same = [4 * lane for lane in range(32)], [64] * 32
    cost = {"op": OpClass.ATOMIC}
    assert [count(apart, 4, passes_each=n, **cost) for n in (1, 2)] == [1, 2]
    assert [count(same, 4, passes_each=n, **cost) for n in (1, 2)] == [32, 64]
    assert [count(same, 4, passes_each=n, together=1, **cost) for n in (1, 3)] == [1, 3]
    assert count([0, 0, 128, 128], 4, together=1, **cost) == 2, "two words of one bank"


@pytest.mark.parametrize("matrices", [1, 2, 4])
def test_rows_of_matrices_that_are_not_named_take_no_pass(count, matrices):
    addresses = [16 * lane for lane in range(32)]
    assert count(addresses, 16, rows=8 * matrices) == matrices


@pytest.mark.parametrize("more", [0, 5])
def test_an_opcode_may_take_longer(watch, tiny, more):
    gpu = tiny(**{"shared.extra_latency.ATOMS_CAS": more} if more else {})
    k = KernelBuilder("longer", grid=1, block=32, shared_bytes=1024)
    k("ATOMS.CAS R1, [R2], R4, R5", address=lambda at: 4 * at.lane)
    k("MOV R3, R1")
    assert watch(k.workload(), gpu).of(0)[1] == gpu.shared.latency + more


@settings(max_examples=150)
@given(
    widths, st.lists(st.integers(0, 600), min_size=1, max_size=32), st.booleans(),
    st.sampled_from([OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC]),
)  # fmt: skip
def test_ideally_no_lanes_meet_in_a_bank(count, width, elements, wide, op):
    addresses = [width * e for e in elements]
    found, ideal = (
        count(addresses, width, op=op, wide=wide, ideal=lifted) for lifted in (False, True)
    )
    assert ideal == min(found, -(-len(elements) * max(width, 4) // 128))
