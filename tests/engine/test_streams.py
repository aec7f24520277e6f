"""Arenas of streams: they grow, they are tidied up, and every CTA finds its part again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep._jit import as_records
from lockstep.builder import KernelBuilder
from lockstep.engine import run
from lockstep.engine.machine import Machine
from lockstep.engine.record import totals
from lockstep.engine.streams import ARENAS, INSTRUCTIONS, Streams
from lockstep.model.dispatch import state
from lockstep.workload import ADDRESS, RUN, WARP, Cta


@pytest.fixture(scope="module")
def streams(small):
    """Function that makes streams whose arenas hold four entries at first."""
    machine = Machine(small(), 1, {})
    machine.close()

    def make():
        sm = machine.sm._replace(
            kernels=as_records(np.zeros_like(machine.sm.kernels)),
            ctas=as_records(np.zeros_like(machine.sm.ctas)),
            warp_streams=as_records(np.zeros(4, WARP)),
            runs=as_records(np.zeros(4, RUN)),
            addresses=as_records(np.zeros(4, ADDRESS)),
            pool=np.zeros(4, np.int64),
        )
        sm.kernels.active[:2] = 1
        dispatcher = state.build(machine.gpu, machine.sm.control)
        return Streams(sm, dispatcher, machine.own_sms)

    return make


def cta_of(number, lengths):
    """A CTA whose entries can be told from those of all others."""
    parts = []
    for k, (dtype, length) in enumerate(zip((WARP, RUN, ADDRESS, np.dtype("i8")), lengths)):
        part = np.zeros(length, dtype)
        values = number * 1000 + k * 100 + np.arange(length)
        if dtype.names:
            part[dtype.names[0]] = values
            for name in INSTRUCTIONS if dtype is WARP else ():
                part[name] = values % 7
        else:
            part[:] = values
        parts.append(part)
    return Cta((number, 0, 0), *parts)


def launch(streams, slot, s, c):
    """The oldest waiting CTA of a slot becomes resident in a CTA slot of an SM."""
    sm = streams.sm
    d = streams.dispatcher
    entry = d.pending[slot, d.progress[slot].taken % d.pending.shape[1]]
    d.progress[slot].taken += 1
    cta = sm.ctas[s, c]
    cta.active, cta.kernel, cta.cta = 1, slot, entry.cta
    cta.runs, cta.addresses, cta.pool = entry.runs, entry.addresses, entry.pool
    return int(entry.cta)


def check(streams, waiting, resident, made):
    sm, d = streams.sm, streams.dispatcher
    for slot, numbers in waiting.items():
        for n, number in enumerate(numbers):
            entry = d.pending[slot, (d.progress[slot].taken + n) % d.pending.shape[1]]
            assert entry.cta == number
            warps = made[slot, number].warps
            assert [entry[name] for name in INSTRUCTIONS] == [warps[n].sum() for n in INSTRUCTIONS]
            places = [entry.warps, entry.runs, entry.addresses, entry.pool]
            found(sm, places, made[slot, number], ARENAS)
    for (s, c), (slot, number) in resident.items():
        cta = sm.ctas[s, c]
        found(sm, [cta.runs, cta.addresses, cta.pool], made[slot, number], ARENAS[1:])


def found(sm, places, cta, names):
    parts = {"warp_streams": cta.warps, "runs": cta.runs, "addresses": cta.addresses}
    parts["pool"] = cta.pool
    for place, name in zip(places, names):
        part = np.asarray(getattr(sm, name))[place : place + len(parts[name])]
        assert (part == parts[name]).all(), name


step = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 1),
              st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=1, max_size=3)),
    st.tuples(st.just("launch"), st.integers(0, 1), st.just([])),
    st.tuples(st.just("retire"), st.integers(0, 9), st.just([])),
)  # fmt: skip


@settings(max_examples=100)
@given(st.lists(step, max_size=40))
def test_every_living_cta_finds_its_streams(streams, script):
    streams = streams()
    waiting, resident, made, free = {0: [], 1: []}, {}, {}, [(0, c) for c in range(8)]
    for number, (what, n, lengths) in enumerate(script):
        if what == "add" and len(waiting[n]) < 20:
            batch = {3 * number + k: cta_of(3 * number + k, each) for k, each in enumerate(lengths)}
            made |= {(n, k): cta for k, cta in batch.items()}
            streams.add(n, batch)
            waiting[n] += batch
            assert streams.waiting(n) == len(waiting[n])
        elif what == "launch" and waiting[n] and free:
            place = free.pop()
            assert launch(streams, n, *place) == waiting[n][0]
            resident[place] = (n, waiting[n].pop(0))
        elif what == "retire" and resident:
            place = sorted(resident)[n % len(resident)]
            streams.sm.ctas[place].active = 0
            streams.retire(*resident.pop(place))
            free.append(place)
        check(streams, waiting, resident, made)


def test_memory_follows_what_is_alive(streams):
    streams = streams()
    for number in range(300):
        streams.add(0, {number: cta_of(number, (3, 3, 3, 3))})
        launch(streams, 0, 0, 0)
        streams.sm.ctas[0, 0].active = 0
        streams.retire(0, number)
    assert all(len(getattr(streams.sm, name)) <= 16 for name in ARENAS)


def test_dropping_everything_begins_at_the_front(streams):
    streams = streams()
    streams.add(0, {0: cta_of(0, (2, 2, 2, 2))})
    streams.drop_all()
    streams.add(0, {1: cta_of(1, (2, 2, 2, 2))})
    entry = streams.dispatcher.pending[0, 1]
    assert (entry.warps, entry.runs, entry.addresses, entry.pool) == (0, 0, 0, 0)


@pytest.mark.long
def test_long_runs_of_random_addresses_stay_right(small):
    """300 CTAs, each with more addresses than the arenas hold at first."""
    k = KernelBuilder("pools", grid=300, block=128)
    pattern = k.random(0x7F0000000000, 1 << 22, seed=5)
    with k.loop(24):
        k("LDG.E R1, [R2]", address=pattern)
    gpu = small()
    expected = 0
    for cta in k.kernel().ctas():
        lines = cta.pool.reshape(-1, 32) // 128
        expected += sum(len(np.unique(row)) for row in lines)
    result = run(k.workload(), gpu)
    assert totals(result.kernels[0].sm)["transactions"] == expected
