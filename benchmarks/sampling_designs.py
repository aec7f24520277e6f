"""One plan, several designs of a GPU: how well samples tell ratios of times, and metrics.

    python benchmarks/sampling_designs.py --truth DIR [--error 0.01] [--seeds 200]
        [program[:size] ...]

Plans are made by ``bounded`` for the first design, whose times it sees; the launches that they
choose stand for all on every design. ``DIR`` has the launch tables of ``sampling_truth.py``, and
gets what the model counted of every launch in full simulations of each design,
``PROGRAM-SIZE-DESIGN.npz``; what is there already is left alone. Prints two Markdown tables: the
time on a design by that on the first one, with the interval of pairs and, beside it, how wide that
of two samples would be which know nothing of each other; and metrics of all launches together: the
smallest and the largest value on these designs, and the largest mean error, worst error and least
coverage, in points of percentages, of IPC in percent of it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sampling_truth import Program, Truth, place

import lockstep
from lockstep.device import Device, Launch
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.model.counters import PARTITION_COUNTERS, SM_COUNTERS
from lockstep.sampling import Plan, draw, estimate, estimate_ratio, sampler
from lockstep.sampling.counters import Counters, counted, estimate_rates
from lockstep.workload import Cta, Kernel

PROGRAMS = (
    "gaussian:208", "gramschmidt:256", "fdtd2d:128", "lu:768", "needle:2048", "decoder:64",
)  # fmt: skip
GPU_NAME = "QV100"
DESIGNS: dict[str, tuple[str, ...]] = {
    "80 SMs, 6 MB": (),
    "40 SMs": ("sm.count=40",),
    "3 MB of L2": ("l2.sets=16",),
    "12 MB of L2": ("l2.sets=64",),
}
FIRST = next(iter(DESIGNS))
ROUNDING = 1e-9
WIDTH = 2 + (SM_COUNTERS.itemsize + PARTITION_COUNTERS.itemsize) // 8  # of :class:`Counters`
METRICS = {
    "dram__bytes.sum.pct_of_peak_sustained_elapsed": "DRAM utilisation, %",
    "sim__l2_hit_rate.pct": "L2 hit rate, %",
    "sim__ipc": "IPC",
}


class Counting:
    """Watches a device, and keeps what the model counted of each launch."""

    reads = False

    def __init__(self) -> None:
        self.rows: dict[int, np.ndarray] = {}

    def launched(self, launch: Launch) -> None:
        """Nothing is known yet."""

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """It does not ask for that."""

    def ended(self, launch: Launch) -> None:
        """Keep its counters."""
        assert launch.run is not None
        self.rows[launch.id] = counted(launch.run)


class Study(NamedTuple):
    """A program: its launch table, with the times of the first design, and counters by design."""

    name: str
    truth: Truth
    counters: dict[str, Counters]

    @classmethod
    def of(cls, program: Program, folder: Path) -> "Study":
        """Read what is there, and simulate what is not."""
        gpu = lockstep.gpu(GPU_NAME)
        truth, found = Truth.read(place(folder, program, gpu)), {}
        for number, (name, changes) in enumerate(DESIGNS.items()):
            path = folder / f"{program.name}-{GPU_NAME}-design{number}.npz"
            design = lockstep.gpu(GPU_NAME, list(changes))
            if not path.exists():
                np.savez_compressed(path, values=simulated(program, design))
            values = np.load(path)["values"]
            if values.shape != (len(truth.table), WIDTH):
                raise LockstepError(f"{path} is of other launches or other counters: remove it")
            found[name] = Counters(design, values, SM_COUNTERS, PARTITION_COUNTERS)
        return cls(program.name, truth, found)

    def cycles(self, design: str) -> np.ndarray:
        """Of every launch, float64."""
        return self.counters[design].values[:, 0].astype(np.float64)


def simulated(program: Program, gpu: GPU) -> np.ndarray:
    """The counters of every launch, in program order."""
    counting = Counting()
    with Device(gpu, timing=True) as device:
        device.watch(counting)
        program.run(device, verify=True)
    print(f"{program.name}: {len(counting.rows)} launches", file=sys.stderr, flush=True)
    return np.array([row for _, row in sorted(counting.rows.items())])


class Trial(NamedTuple):
    """What one sample says of one number: ``error`` and ``half`` of its interval, in its unit."""

    error: float
    half: float
    apart: float  # half of the interval of two samples that know nothing of each other

    @property
    def held(self) -> bool:
        """Whether the interval holds the truth; one of no width is rounded."""
        return abs(self.error) <= self.half + ROUNDING


def plans(study: Study, error: float, seeds: int) -> Iterator[Plan]:
    """One a seed, for the first design."""
    table, cycles = study.truth.table, study.cycles(FIRST)
    for seed in range(seeds):
        yield draw(sampler("bounded", error=error), table, seed, lambda rows: cycles[rows])[0]


def ratio_trial(study: Study, plan: Plan, design: str) -> Trial:
    """The time on a design by that on the first one; relative."""
    below, above = study.cycles(FIRST), study.cycles(design)
    found = estimate_ratio(plan, above[plan.chosen], below[plan.chosen])
    truth = above.sum() / below.sum()
    halves = [estimate(plan, cycles[plan.chosen]).half_width for cycles in (below, above)]
    half = (found.high - found.low) / 2 / truth
    return Trial(found.total / truth - 1, half, float(np.hypot(*halves)))


def metric_trials(study: Study, plan: Plan, design: str) -> dict[str, Trial]:
    """Metrics of all launches: in points where they are percentages, else relative in percent."""
    counters, trials = study.counters[design], {}
    truth = counters.rates()
    found = estimate_rates(plan, counters.of_rows(plan.chosen))
    for name in METRICS:
        value, low, high, _ = found.loc[name]
        scale = 1.0 if name.endswith(".pct") or "pct_of" in name else 100 / truth[name]
        trials[name] = Trial(scale * (value - truth[name]), scale * (high - low) / 2, float("nan"))
    return trials


def cells(trials: list[Trial], scale: float = 1.0) -> list[str]:
    """Mean and worst error, how often intervals hold, and half of them."""
    errors = scale * np.abs([trial.error for trial in trials])
    held, half = (np.mean([getattr(t, name) for t in trials]) for name in ("held", "half"))
    return [
        f"{errors.mean():.2f}",
        f"{errors.max():.2f}",
        f"{100 * held:.1f}",
        f"{scale * half:.2f}",
    ]


def print_row(values: Sequence[str]) -> None:
    """A line of a Markdown table."""
    print(f"| {' | '.join(values)} |", flush=True)


def print_head(names: Sequence[str]) -> None:
    """The first two lines of a Markdown table."""
    print_row(names)
    print_row(["---"] * len(names))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--truth", type=Path, required=True, metavar="DIR")
    parser.add_argument("--error", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, default=200)
    options = parser.parse_args()
    studies = [Study.of(Program.of(text), options.truth) for text in options.programs]
    chosen = {s.name: list(plans(s, options.error, options.seeds)) for s in studies}
    errors = ("error", "worst", "holds, %", "half width")
    relative = [name if name.startswith("holds") else f"{name}, %" for name in errors]
    print_head(["program", "design", "simulated", "time by the first's", *relative, "unpaired, %"])
    for study in studies:
        simulated_launches = np.mean([len(plan.chosen) for plan in chosen[study.name]])
        for design in list(DESIGNS)[1:]:
            trials = [ratio_trial(study, plan, design) for plan in chosen[study.name]]
            ratio = study.cycles(design).sum() / study.cycles(FIRST).sum()
            apart = np.mean([trial.apart for trial in trials])
            head = [study.name, design, f"{simulated_launches:.0f}", f"{ratio:.3f}"]
            print_row([*head, *cells(trials, 100), f"{100 * apart:.2f}"])
    print()
    print_head(["program", "metric", "smallest", "largest", "error", "worst", "holds, %"])
    for study in studies:
        print_metrics(study, chosen[study.name])


def print_metrics(study: Study, chosen: list[Plan]) -> None:
    """A row a metric: on which design it is smallest and largest, and the worst of all designs."""
    found = {d: [metric_trials(study, plan, d) for plan in chosen] for d in DESIGNS}
    truths = [counters.rates() for counters in study.counters.values()]
    for name, title in METRICS.items():
        values = [truth[name] for truth in truths]
        trials = [[each[name] for each in found[design]] for design in DESIGNS]
        errors = np.abs([[trial.error for trial in some] for some in trials])
        held = [100 * np.mean([trial.held for trial in some]) for some in trials]
        figures = errors.mean(axis=1).max(), errors.max()
        print_row(
            [study.name, title, *(f"{v:.2f}" for v in (min(values), max(values), *figures)),
             f"{min(held):.1f}"]
        )  # fmt: skip


if __name__ == "__main__":
    try:
        main()
    except LockstepError as error:
        sys.exit(str(error))
