"""The vectorised expansion against a naive one that runs every lane by itself."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder

BASE = 1 << 20
# The same functions serve both sides: on arrays in the builder, on integers in the naive twin.
PATTERNS = [
    lambda at: BASE + 4 * at.global_thread,
    lambda at: BASE + 128 * at.thread + 8192 * at.i,
    lambda at: BASE + at.lane * at.lane * 4 + at.warp,
    lambda at: BASE + 4 * at.lane + (at.lane > 9) * 256 + at.cta * 64 + at.block[1],
    lambda at: BASE + sum(at.loops) * 32 + 0 * at.lane,
]
MASKS = [
    0xFFFFFFFF,
    0,
    0x0000FFFF,
    0xA5A50001,
    0xA5A5A5A5F0000001,
    1 << 63,
    lambda at: at.global_thread < 70,
    lambda at: (at.lane + at.i) % 3 == 0,
    lambda at: at.warp == 1,
]
COUNTS = [
    0,
    1,
    3,
    lambda at: at.warp + 1,
    lambda at: at.lane % 3,
    lambda at: at.cta % 2 + 0 * at.lane,
]

instructions = st.tuples(
    st.just("op"),
    st.sampled_from([None, *range(len(PATTERNS))]),
    st.sampled_from(range(len(MASKS))),
)
nodes = st.recursive(
    st.lists(instructions, min_size=1, max_size=3),
    lambda body: st.lists(
        st.one_of(
            instructions,
            st.tuples(st.just("loop"), st.sampled_from(range(len(COUNTS))), body),
            st.tuples(st.just("lanes"), st.sampled_from(range(len(MASKS))), body, body),
        ),
        min_size=1,
        max_size=3,
    ),
    max_leaves=6,
)


def mask_of(k, number):
    """A mask, as much of it as a warp has lanes."""
    mask = MASKS[number]
    return mask if callable(mask) else mask & (1 << k.warp_size) - 1


def build(k, body):
    for kind, *rest in body:
        if kind == "op":
            pattern, mask = rest
            text = "FADD R1, R2, R3" if pattern is None else "LDG.E R4, [R2]"
            address = None if pattern is None else PATTERNS[pattern]
            k(text, address=address, mask=mask_of(k, mask))
        elif kind == "loop":
            with k.loop(COUNTS[rest[0]]):
                build(k, rest[1])
        else:
            with k.lanes(mask_of(k, rest[0])):
                build(k, rest[1])
            with k.otherwise():
                build(k, rest[2])


class Naive:
    """Runs one warp, lane by lane, and writes down what it executes."""

    def __init__(self, cta, block, threads, warp, warp_size):
        self.place = dict(cta=cta, block=block, threads=threads, warp=warp)
        self.warp_size = warp_size
        self.loops, self.stream = [], []

    def at(self, lane, loops):
        thread = self.place["warp"] * self.warp_size + lane
        where = self.place["cta"] * self.place["threads"] + thread
        i = loops[-1] if loops else 0
        return SimpleNamespace(
            **self.place, lane=lane, thread=thread, global_thread=where, loops=loops, i=i
        )

    def allows(self, mask, lane):
        return bool(mask(self.at(lane, self.loops)) if callable(mask) else mask >> lane & 1)

    def run(self, body, active, static):
        """Execute ``body`` whose first instruction has index ``static``; returns the next index."""
        for kind, *rest in body:
            if kind == "op":
                pattern, mask = rest
                on = [lane for lane in active if self.allows(MASKS[mask], lane)]
                where = (PATTERNS[pattern] if pattern is not None else None, on)
                if active:
                    self.stream.append((static, *self.executed(*where)))
                static += 1
            elif kind == "loop":
                static = self.run_loop(COUNTS[rest[0]], rest[1], active, static)
            else:
                inside = [lane for lane in active if self.allows(MASKS[rest[0]], lane)]
                outside = [lane for lane in active if lane not in inside]
                static = self.run(rest[1], inside, static)
                static = self.run(rest[2], outside, static)
        return static

    def executed(self, pattern, on):
        mask = sum(1 << lane for lane in on)
        if pattern is None or not on:
            return mask, None
        return mask, [int(pattern(self.at(lane, self.loops))) for lane in on]

    def run_loop(self, count, body, active, static):
        trips = {a: count(self.at(a, [])) if callable(count) else count for a in active}
        self.loops.append(0)
        end = self.run(body, [], static)
        for i in range(max(trips.values(), default=0)):
            self.loops[-1] = i
            self.run(body, [a for a in active if i < trips[a]], static)
        self.loops.pop()
        return end


def decoded(kernel, cta, warp):
    """The stream of a warp as a list of (static index, mask, addresses of the active lanes)."""
    first, out = int(warp["first_address"]), []
    for run in cta.runs[warp["first_run"] : warp["first_run"] + warp["runs"]]:
        for static in range(run["static"], run["static"] + run["count"]):
            addresses, mask = None, int(run["mask"]) & (1 << 64) - 1
            if kernel.code.instructions["width"][static] and mask:
                n, record = mask.bit_count(), cta.addresses[first]
                pooled = cta.pool[record["pool"] : record["pool"] + n].tolist()
                line = [int(record["first"] + record["stride"] * lane) for lane in range(n)]
                addresses = line if record["pool"] < 0 else pooled
                assert addresses[0] == record["first"]
                first += 1
            out.append((int(static), mask, addresses))
    assert first == warp["first_address"] + warp["addresses"]
    return out


@settings(deadline=None)
@given(nodes, st.integers(1, 140), st.sampled_from([(1, 1), (2, 3)]), st.sampled_from([32, 64]))
def test_streams_equal_those_of_a_naive_per_lane_execution(body, threads, grid, size):
    k = KernelBuilder("random", grid, threads, warp_size=size)
    build(k, body)
    k("EXIT")
    kernel = k.kernel()
    ctas = list(kernel.ctas())
    assert [c.index for c in ctas] == [(x, y, 0) for y in range(grid[1]) for x in range(grid[0])]
    for number, cta in enumerate(ctas):
        assert len(cta.warps) == kernel.warps
        for w, warp in enumerate(cta.warps):
            naive = Naive(number, cta.index, threads, w, size)
            lanes = list(range(min(size, threads - w * size)))
            end = naive.run(body, lanes, 0)
            naive.stream.append((end, sum(1 << lane for lane in lanes), None))
            assert decoded(kernel, cta, warp) == naive.stream
            executed = [mask.bit_count() for _, mask, _ in naive.stream]
            assert warp["warp_instructions"] == len(executed)
            assert warp["thread_instructions"] == sum(executed)


def test_consecutive_segments_under_one_mask_become_one_run():
    k = KernelBuilder("joined", 1, 32)
    with k.loop(1):
        k("FADD R1, R2, R3")
    k("FADD R1, R2, R3")
    k("EXIT")
    cta = next(k.kernel().ctas())
    assert cta.runs.tolist() == [(0, 3, 0xFFFFFFFF)]


def test_all_64_lanes_of_a_warp_are_the_mask_minus_one():
    k = KernelBuilder("wide", 1, 127, warp_size=64)
    k("FADD R1, R2, R3", mask=1 << 63)
    k("FADD R1, R2, R3", mask=(1 << 64) - 1)
    cta = next(k.kernel().ctas())
    assert cta.runs.tolist() == [
        (0, 1, -(1 << 63)), (1, 2, -1), (0, 1, 0), (1, 2, (1 << 63) - 1),
    ]  # fmt: skip
    assert cta.warps["thread_instructions"].tolist() == [1 + 2 * 64, 2 * 63]


def test_a_loop_is_not_unrolled_into_the_code():
    k = KernelBuilder("loop", 1, 32)
    with k.loop(1000):
        k("FADD R1, R1, R3")
        k("FADD R2, R2, R3")
    kernel = k.kernel()
    assert len(kernel.code) == 3
    cta = next(kernel.ctas())
    assert len(cta.runs) == 1001 - 1  # the last iteration runs on into EXIT
    assert cta.warps["warp_instructions"].tolist() == [2001]


def test_ctas_are_made_one_at_a_time():
    k = KernelBuilder("huge", (1 << 30, 4), 32)
    k("LDG.E R4, [R2]", address=k.coalesced(BASE))
    ctas = k.kernel().ctas()
    assert [next(ctas).addresses["first"].tolist() for _ in range(3)] == [
        [BASE], [BASE + 128], [BASE + 256],
    ]  # fmt: skip


def test_a_long_loop_gives_the_same_streams_in_pieces(monkeypatch):
    def streams():
        k = KernelBuilder("pieces", 1, 150)
        with k.loop(9):
            k("LDG.E R4, [R2]", address=k.random(BASE, 1 << 20))
        cta = next(k.kernel().ctas())
        return [cta.warps.tolist(), cta.runs.tolist(), cta.addresses.tolist(), cta.pool.tolist()]

    whole = streams()
    monkeypatch.setattr("lockstep.builder.expansion._ELEMENTS", 1)
    assert streams() == whole


def test_a_stride_that_does_not_fit_goes_to_the_pool():
    k = KernelBuilder("far", 1, 2)
    k("LDG.E R4, [R2]", address=lambda at: at.lane * (1 << 40))
    cta = next(k.kernel().ctas())
    assert cta.addresses["pool"].tolist() == [0]
    assert cta.pool.tolist() == [0, 1 << 40]
    assert np.all(cta.addresses["stride"] == 0)
