"""Choosing among the launches of a running program: what is simulated, and what is estimated."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.device import Treatment
from lockstep.errors import LockstepError
from lockstep.execution.launches.geometry import Geometry
from lockstep.sampling import Plan
from lockstep.sampling.running import Follower, Online, Warmth


class Program:
    """Launches as a device has them, with the cycles that a simulation would find."""

    def __init__(self, names, cycles, grids=None, streams=None):
        self.names, self.cycles_of = names, cycles
        self.grids = [1] * len(names) if grids is None else grids
        self.streams = [0] * len(names) if streams is None else streams
        self.device = SimpleNamespace(
            synchronize=self.synchronize, memory=None, gpu=None, stop=None
        )
        self.queued = []
        self.treatments = []

    def synchronize(self):
        for number, launch in self.queued:
            cycles = int(self.cycles_of[number])
            launch.cycles, launch.run = cycles, SimpleNamespace(cycles=cycles, complete=True)
        self.queued = []

    def run(self, chooser):
        for number, name in enumerate(self.names):
            launch = SimpleNamespace(
                kernel=SimpleNamespace(name=name, parameters=[]),
                device=self.device,
                code=f"code of {name}",
                geometry=Geometry((int(self.grids[number]), 1, 1), (32, 1, 1), 0),
                parameters=b"",
                stream=int(self.streams[number]),
                registers=16,
                shared_bytes=0,
                id=number + 1,
                run=None,
            )
            treatment = chooser(launch)
            self.treatments.append(treatment)
            if treatment is Treatment.SIMULATE:
                self.queued.append((number, launch))
        self.synchronize()
        return chooser.outcome()

    def table(self):
        chooser = Online(every=1)
        self.run(chooser)
        return chooser._light.table()


def _simulated(program):
    return [k for k, t in enumerate(program.treatments) if t is Treatment.SIMULATE]


def test_a_plan_is_followed():
    names = list("abab")
    program = Program(names, [10, 20, 30, 40])
    table = program.table()
    plan = Plan.of(table, "test", [0, 1, 0, 1], [0, 1, 2], drawn=True)
    program = Program(names, [10, 20, 30, 40])
    outcome = program.run(Follower(plan))
    assert [t.name for t in program.treatments] == ["SIMULATE"] * 3 + ["EXECUTE"]
    assert outcome.cycles.total == 40 + 40
    assert [(row.kernel, row.launches, row.simulated) for row in outcome.by_kernel()] == [
        ("a", 2, 2), ("b", 2, 1),
    ]  # fmt: skip
    assert outcome.by_kernel()[0].estimated == 40
    assert outcome.speedup == 80 / 60


@pytest.mark.parametrize("warm, between", [(Warmth.ALL, "WARM"), (Warmth.NOTHING, "EXECUTE")])
def test_what_is_before_a_chosen_launch_warms(warm, between):
    program = Program(["a"] * 5, [10] * 5)
    plan = Plan.of(program.table(), "test", [0] * 5, [1, 3], drawn=True)
    program = Program(["a"] * 5, [10] * 5)
    program.run(Follower(plan, warm=warm))
    expected = [between, "SIMULATE", between, "SIMULATE", "EXECUTE"]
    assert [t.name for t in program.treatments] == expected


def test_all_others_warm_in_one_pass_or_none_does():
    program = Program(list("abc" * 400), [10, 20, 30] * 400)
    program.run(Online(error=0.1, warm=Warmth.NOTHING))
    assert Treatment.WARM not in program.treatments
    program.run(Online(error=0.1))
    assert program.treatments[1200:].count(Treatment.EXECUTE) == 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"] * 3, "the plan is for 4 launches, and there are 3"),
        (["a"] * 6, "the plan is for 4 launches, and there are 6"),
        (list("aaab"), "made for other launches"),
        ([], "launched nothing"),
    ],
)
def test_a_plan_of_another_program_is_refused(names, message):
    plan = Plan.of(Program(["a"] * 4, [1] * 4).table(), "test", [0] * 4, [0, 1], drawn=True)
    with pytest.raises(LockstepError, match=message):
        Program(names, [1] * len(names)).run(Follower(plan))


@pytest.mark.parametrize("make", [lambda: Online(error=0.05), lambda: Online(every=2)])
def test_several_streams_are_refused(make):
    program = Program(["a"] * 9, [10] * 9, streams=[0, 0, 0, 7, 0, 0, 0, 0, 0])
    with pytest.raises(LockstepError, match="streams 0 and 7 may run at the same time"):
        program.run(make())


def _truths():
    random = np.random.default_rng(3)
    n = 2000
    place, noise = np.arange(n), 1 + 0.02 * np.random.default_rng(1).standard_normal(n)
    yield "noise", ["k"] * n, 5000 * noise
    yield "drift", ["k"] * n, (2000 + place) * noise
    yield "loop", list("abb" * (n // 3)), (np.tile([900, 90, 5000], n // 3) * noise[: n // 3 * 3])
    yield "modes", ["k"] * n, np.where(random.random(n) < 0.3, 1500, 1000) * noise


TRUTHS = {name: (names, cycles) for name, names, cycles in _truths()}


@pytest.mark.long
@pytest.mark.parametrize("name", TRUTHS)
def test_one_pass_gives_an_interval_that_holds(name):
    names, cycles = TRUTHS[name]
    truth, held, widths, share = np.floor(cycles).sum(), 0, [], []
    for seed in range(40):
        program = Program(names, cycles)
        outcome = program.run(Online(error=0.02, seed=seed))
        held += outcome.cycles.low <= truth <= outcome.cycles.high
        widths.append(outcome.cycles.half_width)
        share.append(1 / outcome.speedup)
    assert held >= 34  # 38 are expected of 40
    assert np.mean(widths) < (0.06 if name == "drift" else 0.03)
    assert np.mean(share) < 0.25


@pytest.mark.parametrize("launches", [1, 2, 3, 4, 5, 9, 40, 41, 59, 60, 61])
@pytest.mark.parametrize("options", [{"every": 10}, {"error": 0.1}])
def test_wherever_a_program_ends_something_stands_for_each_launch(launches, options):
    for seed in range(5):
        program = Program(["k"] * launches, [100] * launches)
        outcome = program.run(Online(**options, seed=seed))
        assert outcome.cycles.total == pytest.approx(100 * launches)
        if launches <= 3 and "error" in options:
            assert outcome.cycles.half_width == 0


def test_strata_that_are_drawn_whole_leave_the_others_their_share():
    """A launch in 16 takes three times as long: what has met one is to be drawn whole."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        cycles = np.where(random.random(300) < 1 / 16, 18_000, 6_000)
        program = Program(["k"] * 300, cycles + random.integers(-240, 240, 300))
        program.run(Online(error=1e-5, seed=seed))
        assert len(_simulated(program)) >= 200, seed


def test_grids_that_vary_without_an_order_are_no_places_of_a_loop():
    """2,217 launches of 30 sizes: nothing comes twice behind the same two, and all were drawn."""
    random = np.random.default_rng(3)
    sizes = random.permutation(np.arange(64, 1984, 64))
    grids = random.choice(sizes, 2217)
    times = 3000 + 20 * grids * (1 + 0.02 * random.standard_normal(2217))
    for seed in range(5):
        program = Program(["a"] * 2217, times.astype(int), grids)
        found = program.run(Online(error=0.01, seed=seed)).cycles
        assert len(_simulated(program)) < 1000, seed
        assert found.low <= program.cycles_of.sum() <= found.high, seed
        assert found.half_width < 0.01, seed


def test_one_in_so_many():
    program = Program(["k"] * 101, np.arange(1, 102))
    outcome = program.run(Online(every=10))
    chosen = _simulated(program)
    assert chosen[0] == 0 and len(chosen) == 11
    cells = (np.array(chosen[1:]) - 1) // 10
    assert cells.tolist() == list(range(10))
    assert outcome.cycles.bounded
    assert outcome.plan.parameters == {"every": 10}


def test_the_same_seed_chooses_the_same():
    chosen = []
    for seed in (4, 4, 5):
        program = Program(*TRUTHS["drift"])
        program.run(Online(error=0.05, seed=seed))
        chosen.append(_simulated(program))
    assert chosen[0] == chosen[1] != chosen[2]


def test_what_was_sampled_online_is_a_plan():
    program = Program(*TRUTHS["loop"])
    online = Online(error=0.05)
    outcome = program.run(online)
    again = Program(*TRUTHS["loop"])
    assert again.run(Follower(online.plan())).cycles.total == outcome.cycles.total
    assert _simulated(again) == _simulated(program)


def test_a_kernel_that_shares_strata_has_no_estimate_of_its_own():
    plan = Plan.of(Program(list("aab"), [1] * 3).table(), "test", [0, 1, 1], [0, 2], drawn=False)
    rows = Program(list("aab"), [10, 20, 30]).run(Follower(plan)).by_kernel()
    assert np.isnan(rows[0].estimated) and np.isnan(rows[1].estimated)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "an error, or how many"),
        ({"error": 0.1, "every": 3}, "an error, or how many"),
        ({"error": 0.0}, "error = 0.0"),
        ({"every": 0}, "every = 0"),
        ({"error": 0.1, "confidence": 1.0}, "confidence = 1.0"),
    ],
)
def test_what_cannot_be_asked_for(options, message):
    with pytest.raises(LockstepError, match=message):
        Online(**options)
