"""Shared memory: passes over the banks, against a twin that serves one pass after the other."""

from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.isa.instruction import OpClass
from lockstep.model.counters import Stall
from lockstep.model.sm.shared_memory import passes

pytestmark = pytest.mark.plain


@pytest.fixture(scope="session")
def count(tiny, idle_sms):
    """Function that counts the passes of one access."""
    states = {}

    def run(
        addresses, width, banks=32, bank_bytes=4, stride=None, op=OpClass.LOAD,
        passes_each=1, together=0, rows=32, wide=False,
    ):  # fmt: skip
        if (banks, bank_bytes, wide) not in states:
            shape = {"banks": banks, "bank_bytes": bank_bytes, "wide_passes": wide}
            gpu = tiny(**{f"shared.{name}": value for name, value in shape.items()})
            states[banks, bank_bytes, wide] = idle_sms(gpu)
        c = states[banks, bank_bytes, wide]
        c.pool[10 : 10 + len(addresses)] = addresses
        pool = 3 if stride is None else -1
        record = SimpleNamespace(first=addresses[0], stride=stride, pool=pool)
        instruction = SimpleNamespace(
            width=width, op=int(op), passes=passes_each, together=together, rows=rows
        )
        return passes(c, 0, record, 7, len(addresses), instruction)

    return run


def naive(addresses, width, banks=32, bank_bytes=4):
    """Serve lanes in groups that move one word a bank at most; each pass takes what fits."""
    lanes = 32 if width <= bank_bytes else max(1, banks * bank_bytes // width)
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
@given(widths, st.lists(st.integers(0, 600), min_size=1, max_size=32), st.sampled_from([4, 8]))
def test_random_addresses_agree_with_the_twin(count, width, elements, bank_bytes):
    addresses = [width * e for e in elements]
    assert count(addresses, width, 32, bank_bytes) == naive(addresses, width, 32, bank_bytes)


@settings(max_examples=120)
@example(width=4, n=9, step=1, banks=8)
@given(widths, lanes, st.integers(-70, 70).filter(bool), st.sampled_from([2, 8, 32]))
def test_strides_agree_with_the_twin(count, width, n, step, banks):
    addresses = [70 * 32 * width + k * step * width for k in range(n)]
    assert count(addresses, width, banks, stride=step * width) == naive(addresses, width, banks)


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
