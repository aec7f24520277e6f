"""The order of accesses: against a twin that keeps warps as lists."""

from itertools import count, cycle, pairwise

import numpy as np
import pytest

from lockstep.caches import order as module
from lockstep.caches.accesses import BARRIER, INVALIDATE, PRIVATE, READ, WRITE
from lockstep.caches.order import (
    GREEDY_REST,
    Interleaver,
)
from lockstep.caches.turns import PLACE_LINES, PRIVATE_REGION, PRIVATE_SHIFT
from lockstep.errors import WorkloadError


class Warp:
    """One warp of the twin: what is left of its stream."""

    def __init__(self, stream, number, turn):
        self.left, self.number, self.at, self.went = list(enumerate(stream)), number, turn, False
        self.waits = False

    def skip(self):
        """Pass what touches nothing and is no barrier; whether the warp can go on."""
        while self.left:
            _, (kind, _, lines) = self.left[0]
            if lines or kind in (BARRIER, INVALIDATE):
                break
            self.left.pop(0)
        self.waits = bool(self.left) and self.left[0][1][0] == BARRIER

    @property
    def ready(self):
        return bool(self.left) and not self.waits


class Twin:
    """The order of a launch as the documentation of the module has it."""

    def __init__(self, sms, order="lrr", same=0.0, rest=None, lots=()):
        self.sms, self.order, self.lots, self.same = sms, order, lots, same
        self.rest = (GREEDY_REST if order == "gto" else 0) if rest is None else rest

    def run(self, ctas, places, warps, turn=0):
        """All entries: line, site, warp, sm, sectors, kind, flags."""
        self.places = [[None] * places for _ in range(self.sms)]
        self.began = [[0] * places for _ in range(self.sms)]
        last = [-1] * self.sms
        waiting, next_sm, out = list(enumerate(ctas)), 0, []
        while True:
            full = 0
            while waiting and full < self.sms:
                sm, next_sm = next_sm, (next_sm + 1) % self.sms
                if None not in self.places[sm]:
                    full += 1
                    continue
                full = 0
                number, streams = waiting.pop(0)
                slot = self.places[sm].index(None)
                self.began[sm][slot] = number
                held = [Warp(s, number * warps + k, turn) for k, s in enumerate(streams)]
                self.places[sm][slot] = held
                for warp in held:
                    warp.skip()
                self._meet(sm, slot)
            if not any(p is not None for held in self.places for p in held):
                return out, turn
            for sm in range(self.sms):
                w = self._choose(sm, last[sm], turn, warps)
                if w is None:
                    continue
                last[sm] = w
                slot, k = divmod(w, warps)
                warp = self.places[sm][slot][k]
                out += self._entries(warp, sm, slot)
                warp.went = True
                if warp.left.pop(0)[1][0] == READ:
                    warp.at = turn + 1 + self.rest
                warp.skip()
                if not warp.ready:
                    self._meet(sm, slot)
            turn += 1

    def _entries(self, warp, sm, slot):
        site, (kind, flags, lines) = warp.left[0]
        base = PRIVATE_REGION + (sm << PRIVATE_SHIFT) + slot * PLACE_LINES if flags else 0
        touched = [(base + line, sectors) for line, sectors in lines] or [(0, 0)]
        for line, sectors in touched:
            yield line, site, warp.number, sm, sectors, kind, flags

    def _meet(self, sm, slot):
        held = self.places[sm][slot]
        while True:
            living = [warp for warp in held if warp.left]
            if not living:
                self.places[sm][slot] = None
                return
            if not all(warp.waits for warp in living):
                return
            for warp in living:
                warp.left.pop(0)
                warp.skip()

    def _choose(self, sm, last, turn, warps):
        held = {
            slot * warps + k: warp
            for slot, cta in enumerate(self.places[sm])
            if cta is not None
            for k, warp in enumerate(cta)
        }
        if not any(warp.ready for warp in held.values()):
            return None
        may = [w for w, warp in held.items() if warp.ready and warp.at <= turn]
        if last in may and held[last].went and (self.order == "gto" or self._again()):
            return last
        if self.order == "gto":
            return min(may, key=lambda w: (self.began[sm][w // warps], w), default=None)
        return min(may, key=lambda w: (w <= last, w), default=None)

    def _again(self):
        return self.same > 0 and self.lots.pop(0) < self.same


def play(interleaver, ctas, make_batch, places, warps, chunks=None):
    """All entries of a launch that is added as it is wanted."""
    out = []
    interleaver.begin(places, warps)

    def run(more):
        again = True
        while again:
            n, again = interleaver.run(more)
            out.extend(interleaver.entries[:n].view(np.ndarray).copy().tolist())
            if chunks is not None:
                chunks.append(n)

    left, many = list(ctas), cycle((1, 7, 3, 64))
    while left:
        n = next(many)
        interleaver.add(make_batch(*left[:n]))
        del left[:n]
        run(True)
    run(False)
    return out


SHAPES = [(1, 1, 1, 3), (1, 3, 4, 20), (3, 2, 5, 40), (2, 4, 1, 9), (5, 2, 3, 200), (4, 1, 8, 2)]


@pytest.mark.parametrize(("sms", "places", "warps", "ctas"), SHAPES)
@pytest.mark.parametrize("rest", [None, 0, 3])
@pytest.mark.parametrize("order", ["lrr", "gto"])
def test_every_entry_has_its_place(
    sms, places, warps, ctas, rest, order, make_batch, random_streams
):
    rng = np.random.default_rng(sms * 100 + ctas)
    numbers = count()
    launch = [random_streams(rng, warps, numbers=numbers) for _ in range(ctas)]
    found = play(Interleaver(sms, order, rest=rest), launch, make_batch, places, warps)
    expected, _ = Twin(sms, order, rest=rest).run(launch, places, warps)
    assert found == expected
    lines = [f[0] % PLACE_LINES for f in found if f[5] < BARRIER]
    assert len(lines) == len(set(lines)) == next(numbers)  # each once, and none is missing


@pytest.mark.parametrize("order", ["lrr", "gto"])
def test_chunks_do_not_change_the_order(monkeypatch, order, make_batch, random_streams):
    rng = np.random.default_rng(7)
    launch = [random_streams(rng, 4, lines=20) for _ in range(30)]
    whole = play(Interleaver(3, order, same=0.4), launch, make_batch, 2, 4)
    for chunk in (1, 2, 7, 64):  # most CTAs have more lines, and steps, too
        monkeypatch.setattr(module, "CHUNK", chunk)
        chunks = []
        parts = play(Interleaver(3, order, same=0.4), launch, make_batch, 2, 4, chunks)
        assert parts == whole and max(chunks) == chunk


def test_launches_follow_each_other_with_other_shapes(make_batch, random_streams):
    rng = np.random.default_rng(3)
    interleaver, turn = Interleaver(3), 0
    for places, warps, ctas in [(2, 3, 20), (1, 8, 3), (4, 1, 50), (4, 1, 0), (2, 3, 100)]:
        launch = [random_streams(rng, warps) for _ in range(ctas)]
        expected, turn = Twin(3).run(launch, places, warps, turn)
        assert play(interleaver, launch, make_batch, places, warps) == expected


def test_a_launch_that_was_left_leaves_nothing(make_batch, random_streams):
    rng = np.random.default_rng(4)
    interleaver = Interleaver(2)
    interleaver.begin(2, 3)
    for _ in range(30):
        interleaver.add(make_batch(random_streams(rng, 3, steps=40)))
    interleaver.run(True)
    launch = [random_streams(rng, 2) for _ in range(5)]
    found = play(interleaver, launch, make_batch, 1, 2)
    assert found == Twin(2).run(launch, 1, 2)[0]


@pytest.mark.parametrize("same", [0.25, 0.8, 1.0])
def test_a_share_of_turns_stays_with_its_warp(same, make_batch):
    read = (READ, 0, [(1, 1)])
    launch = [[[read] * 300] * 8]
    found = play(Interleaver(1, same=same, seed=5), launch, make_batch, 1, 8)
    assert found == play(Interleaver(1, same=same, seed=5), launch, make_batch, 1, 8)
    warps = [f[2] for f in found[:1200]]
    stays = np.mean([a == b for a, b in pairwise(warps)])
    assert abs(stays - same) < 0.05
    if same < 1:
        assert found != play(Interleaver(1, same=same, seed=6), launch, make_batch, 1, 8)


@pytest.mark.parametrize("seed", range(6))
def test_the_lots_of_a_twin(seed, monkeypatch, make_batch, random_streams):
    """Where lots are known, the order with them is, too: one is drawn where a warp may go on."""
    rng = np.random.default_rng(seed)
    launch = [random_streams(rng, 4, steps=30) for _ in range(12)]
    interleaver = Interleaver(2, same=0.5, rest=seed % 3, seed=seed)
    x, lots = (2 * seed + 1) & ((1 << 62) - 1), []
    for _ in range(5000):
        x ^= (x << 13) & ((1 << 62) - 1)
        x ^= x >> 7
        x ^= (x << 17) & ((1 << 62) - 1)
        lots.append((x & 0xFFFF) / 0x10000)
    twin = Twin(2, same=0.5, rest=seed % 3, lots=lots)
    assert play(interleaver, launch, make_batch, 2, 4) == twin.run(launch, 2, 4)[0]


def test_a_new_cta_is_not_the_warp_that_went_last(make_batch):
    """In the place of the greedy warp's CTA another begins: the oldest warp goes on first."""
    one, many = [(WRITE, 0, [(1, 1)])], [(WRITE, 0, [(2, 1)])] * 3
    found = play(Interleaver(1, "gto"), [[one], [many], [many]], make_batch, 2, 1)
    assert [f[2] for f in found] == [0, 1, 1, 1, 2, 2, 2]


def test_a_warp_rests_after_it_has_read(make_batch):
    read, write = (READ, 0, [(1, 1)]), (WRITE, 0, [(2, 1)])
    launch = [[[read, read], [write, write, write]]]
    found = play(Interleaver(1, rest=2), launch, make_batch, 1, 2)
    assert [f[2] for f in found] == [0, 1, 1, 0, 1]
    found = play(Interleaver(1, rest=0), launch, make_batch, 1, 2)
    assert [f[2] for f in found] == [0, 1, 0, 1, 1]


def test_warps_meet_at_barriers(make_batch):
    read, barrier = (READ, 0, [(1, 1)]), (BARRIER, 0, [])
    launch = [[[read, read, barrier, read], [barrier, read], [read], []]]  # two end before it
    found = play(Interleaver(1), launch, make_batch, 1, 4)
    assert [(f[2], f[1]) for f in found] == [(0, 0), (2, 0), (0, 1), (1, 1), (0, 3)]


def test_an_instruction_of_nothing_takes_no_turn(make_batch):
    nothing, read = (WRITE, 0, []), (READ, 0, [(1, 1)])
    launch = [[[nothing, read, nothing], [nothing]], [[], []], [[nothing], [read]]]
    found = play(Interleaver(1), launch, make_batch, 1, 2)
    assert [(f[2], f[1]) for f in found] == [(0, 1), (5, 0)]


def test_a_forgetful_l1_is_an_entry_without_a_line(make_batch):
    ((line, site, _, _, sectors, kind, _),) = play(
        Interleaver(1), [[[(INVALIDATE, 0, [])]]], make_batch, 1, 1
    )
    assert (line, site, sectors, kind) == (0, 0, 0, INVALIDATE)


def test_places_of_an_sm_have_local_memory_beside_each_other(make_batch):
    local = (READ, PRIVATE, [(5, 1)])
    interleaver = Interleaver(2)
    interleaver.begin(2, 1, apart=3)
    interleaver.add(make_batch(*[[[local]]] * 5))
    n, _ = interleaver.run(False)
    at = [(f[3], f[0] - PRIVATE_REGION - (f[3] << PRIVATE_SHIFT))
          for f in interleaver.entries[:n].tolist()]  # fmt: skip
    assert at == [(0, 5), (1, 5), (0, 8), (1, 8), (0, 5)]


def test_memory_does_not_grow_with_a_launch(make_batch):
    """CTAs that have ended are forgotten: the arrays are as large after 40 as after 4,000."""
    stream = [(READ, 0, [(k, 1) for k in range(8)])] * 16
    sizes = []
    for ctas in (400, 4000):
        interleaver = Interleaver(2)
        interleaver.begin(4, 2)
        batch, entries = make_batch(*[[stream, stream[:3]]] * 40), 0
        for left in range(ctas, -1, -40):
            again = True
            while again:
                n, again = interleaver.run(left > 0)
                entries += n
            if left:
                interleaver.add(batch)
        assert entries == ctas * 19 * 8
        sizes.append({name: len(array) for name, array in interleaver._arrays.items()})
    assert sizes[0] == sizes[1]
    assert sizes[0]["steps"] == 1 << 14


def test_resident_and_waiting_ctas_survive_a_move(make_batch, random_streams):
    """Arrays that are too small from the start: CTAs move while they run."""
    rng = np.random.default_rng(9)
    numbers = count()
    launch = [
        random_streams(rng, 3, steps=int(rng.choice([1, 60])), numbers=numbers) for _ in range(300)
    ]
    interleaver = Interleaver(3)
    for name in ("loaded", "moved", "firsts", "steps", "lines"):
        interleaver._put(name, interleaver._arrays[name][:4].copy())
    found = play(interleaver, launch, make_batch, 3, 3)
    assert found == Twin(3).run(launch, 3, 3)[0]


def test_what_is_no_order():
    with pytest.raises(WorkloadError, match="there is no order 'x'; expected lrr or gto"):
        Interleaver(1, "x")
    with pytest.raises(WorkloadError, match="a share of 2 turns"):
        Interleaver(1, same=2)
