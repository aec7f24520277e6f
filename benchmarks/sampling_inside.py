"""Sampling inside launches measured: error of each method against the launch that ran whole.

    python benchmarks/sampling_inside.py [--quick | --large] [--only PROGRAM,...] [--processes N]
                                         [--traces DIR] [--intervals SEEDS] [--rules RULE,...]

Built-in programs at sizes that give launches of ten waves and more, on a quarter and an eighth of a
QV100 (20 and 10 SMs, 8 and 4 channels). ``--large``: some programs at four times the size instead,
on a quarter and on all of it. Each is executed once and kept as a trace, in DIR or a temporary
folder. Truth is the full simulation of the trace, on the same GPU. Prints Markdown tables: a row a
method, with launches of up to and above 30 waves apart, and a row a launch of the default method.
Errors and speed-ups are of the cycles from the first dispatch on: the launch overhead before it is
the same in both. ``--intervals``: CTA windows alone, and how often their intervals hold the truth;
of each launch as many seeds, which draw where the first unit begins.
"""

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import lockstep
from lockstep import kernels
from lockstep.engine.record import KernelRun
from lockstep.gpus.spec import GPU
from lockstep.sampling import inside
from lockstep.workload import Workload

QUARTER, EIGHTH = (20, 8), (10, 4)  # SMs and channels
WHOLE = (80, 32)
LEAST_WAVES, LONG_WAVES = 10, 30
SPEED_UPS = (4, 8)  # of CTA windows
SIZES = {  # 10 to 22 waves on a quarter of a QV100, twice as many on an eighth
    "blackscholes": 600_000,
    "conv2d": 1152,
    "convolution": 960,
    "histogram_global": 800_000,
    "hotspot": 640,
    "kmeans": 600_000,
    "reduce_shared": 1_200_000,
    "scan": 600_000,
    "softmax": 1800,
    "spmv": 20_000,
    "stencil2d": 960,
    "string_search": 800_000,
    "texture": 960,
    "transpose_coalesced": 1920,
    "transpose_naive": 1280,
    "vecadd": 800_000,
}
LARGE = {  # four times as many CTAs: on all of a QV100 as many waves as SIZES on a quarter
    "conv2d": 2304,
    "reduce_shared": 4_800_000,
    "string_search": 3_200_000,
    "texture": 1920,
    "vecadd": 3_200_000,
}
QUICK = {"vecadd": 500_000, "texture": 800}


class Outcome(NamedTuple):
    """What a method gave for one launch; cycles from the first dispatch on."""

    estimated: float
    simulated: int
    half_width: float = math.nan  # of its interval


class Case(NamedTuple):
    """One launch on one GPU, with what every method made of it."""

    program: str
    gpu: str
    waves: float
    truth: int
    outcomes: dict[str, Outcome]


Runs = list[KernelRun]
Found = dict[str, dict[int, Outcome]]  # by method and kernel id
Way = Callable[[Workload, GPU, Runs], tuple[Found, float]]  # with seconds of the processor


def active(run: KernelRun) -> int:
    """Cycles from the first dispatch on."""
    return run.end - run.start


def simulated(workload: Workload, gpu: GPU, rule: Any = None) -> tuple[Runs, float]:
    """The launches of a run, and the seconds that it took, reading included."""
    options = {"stop": rule, "stop_interval": rule.bin} if rule else {}
    begin = time.process_time()
    result = lockstep.simulate(workload, gpu, **options)
    return result.run.kernels, time.process_time() - begin


def outcomes(projections: Iterable[inside.Projection]) -> dict[int, Outcome]:
    """By kernel id, without the launch overhead."""
    found = {}
    for p in projections:
        overhead = p.run.start - p.run.launched
        low, high = p.interval()
        found[p.run.id] = Outcome(p.cycles - overhead, active(p.run), (high - low) / 2)
    return found


def pkp(of: str) -> Way:
    """Principal kernel projection by one reading of its threshold, projected both ways."""

    def way(workload: Workload, gpu: GPU, truth: Runs) -> tuple[Found, float]:
        rule = inside.Stability(of=of)
        runs, seconds = simulated(workload, gpu, rule)
        total = {run.id: run.warp_instructions for run in truth}
        reading = "the GPU's IPC" if of == "gpu" else "the mean"
        found = {}
        for by in ("ctas", "instructions"):
            known = [(run, rule.stable.get(run.id), total[run.id]) for run in runs]
            found[f"PKP, s of {reading}, by {by}"] = outcomes(
                inside.project(run, stable=stable, instructions=n, by=by)
                for run, stable, n in known
            )
        return found, seconds

    return way


def windows(speed_up: float, seed: int | None = None) -> Way:
    """CTA windows; with a seed above 0, units begin up to a wave later."""

    def way(workload: Workload, gpu: GPU, truth: Runs) -> tuple[Found, float]:
        drawn = np.random.default_rng(seed).random(len(SPEED_UPS)).tolist()
        later = drawn[SPEED_UPS.index(speed_up)] if seed else 0.0
        rule = inside.Windows(speed_up, ramp=(inside.RAMP[0] + later, inside.RAMP[1] + later))
        runs, seconds = simulated(workload, gpu, rule)
        projections = (inside.project_windows(run, rule.units[run.id]) for run in runs)
        name = f"CTA windows, {speed_up:g}x"
        return {name if seed is None else f"{name}, {seed}": outcomes(projections)}, seconds

    return way


def durations(*levels: str) -> Way:
    """Photon, with one level or both, and CTAs that keep their places as warps do, or as CTAs."""

    def way(workload: Workload, gpu: GPU, truth: Runs) -> tuple[Found, float]:
        rule = inside.Durations(levels=levels)
        runs, seconds = simulated(workload, gpu, rule)
        found = {}
        for places, named in zip(reversed(inside.PLACES), ("", ", places of CTAs")):
            projections = (
                inside.project_durations(run, rule.lasting.get(run.id), places) for run in runs
            )
            found[f"Photon, {' and '.join(levels)}{named}"] = outcomes(projections)
        return found, seconds

    return way


def epochs(workload: Workload, gpu: GPU, truth: Runs) -> tuple[Found, float]:
    """TBPoint inside launches; that the trace is read before counts."""
    begin = time.process_time()
    rule = inside.Epochs({k.id: inside.cta_instructions(k) for k in workload.kernels})
    before = time.process_time() - begin
    runs, seconds = simulated(workload, gpu, rule)
    projections = (
        inside.project_windows(run, rule.units.get(run.id, []), like_earlier=True) for run in runs
    )
    return {"TBPoint, epochs": outcomes(projections)}, seconds + before


DEFAULT = "CTA windows, 4x"
WAYS: dict[str, tuple[Way, ...]] = {
    "pkp": (pkp("gpu"), pkp("mean")),
    "photon": (durations("warps"), durations("blocks"), durations(*inside.LEVELS)),
    "tbpoint": (epochs,),
    "windows": tuple(windows(each) for each in SPEED_UPS),
}


Measured = tuple[list[Case], dict[str, float]]


def trace(program: str, size: int, folder: Path) -> Path:
    """A program's trace, recorded once."""
    path = folder / f"{program}-{size}.lst"
    if not path.exists():
        with lockstep.Device("QV100") as device, device.record(path):
            kernels.load(program).run(device, size)
    return path


def measure(
    program: str, size: int, shape: tuple[int, int], folder: Path, rules: list[str], seeds: int = 0
) -> Measured:
    """The methods of some rules on the long launches of one program.

    And the seconds of each, "" of the full run. With ``seeds``, CTA windows alone, as often.
    """
    workload = lockstep.load(trace(program, size, folder))
    gpu = lockstep.gpu("QV100", [f"sm.count={shape[0]}", f"dram.channels={shape[1]}"])
    truth, full = simulated(workload, gpu)
    seconds, found = {"": full}, {}
    drawn = [windows(up, seed) for up in SPEED_UPS for seed in range(seeds)]
    for way in drawn or [way for rule in rules for way in WAYS[rule]]:
        some, spent = way(workload, gpu, truth)
        found |= some
        seconds |= dict.fromkeys(some, spent)
    cases = []
    for run in truth:
        waves = run.ctas / (run.ctas_per_sm * gpu.sm.count)
        if waves >= LEAST_WAVES:
            label = f"{program} {size:,}: {run.title.split('(')[0]}"
            each = {name: by_kernel[run.id] for name, by_kernel in found.items()}
            cases.append(Case(label, f"{gpu.sm.count} SMs", waves, active(run), each))
    return cases, seconds


def error(case: Case, method: str) -> float:
    """Relative to the truth, signed."""
    return case.outcomes[method].estimated / case.truth - 1


def summary(cases: list[Case], methods: list[str]) -> list[str]:
    """A row a method."""
    lines = [
        "| method | launches | ended early or cut | mean error | worst | speed-up in cycles, total "
        "| geometric |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in methods:
        errors = [abs(error(case, name)) for case in cases]
        ups = [case.truth / case.outcomes[name].simulated for case in cases]
        total = sum(c.truth for c in cases) / sum(c.outcomes[name].simulated for c in cases)
        mean = math.exp(sum(map(math.log, ups)) / len(ups))
        lines.append(
            f"| {name} | {len(cases)} | {sum(up > 1.001 for up in ups)} "
            f"| {sum(errors) / len(errors):.2%} | {max(errors):.1%} | {total:.2f} | {mean:.2f} |"
        )
    return lines


def table(cases: list[Case], method: str) -> list[str]:
    """A row a launch."""
    lines = [
        "| launch | GPU | waves | cycles | error | speed-up |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for case in cases:
        up = case.truth / case.outcomes[method].simulated
        lines.append(
            f"| {case.program} | {case.gpu} | {case.waves:.1f} | {case.truth:,} "
            f"| {error(case, method):+.2%} | {up:.2f} |"
        )
    return lines


def intervals(cases: list[Case]) -> list[str]:
    """A row a speed-up: how often intervals hold the truth, of all launches and seeds."""
    lines = [
        "| CTA windows | launches | seeds | mean error | holds | half width, mean | median |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for up in SPEED_UPS:
        names = [n for n in cases[0].outcomes if n.startswith(f"CTA windows, {up}x")]
        found = [(error(c, n), c.outcomes[n].half_width / c.truth) for c in cases for n in names]
        errors, halves = np.abs(np.array(found)).T
        lines.append(
            f"| {up}x | {len(cases)} | {len(names)} | {errors.mean():.2%} "
            f"| {(errors <= halves).mean():.1%} | {halves.mean():.1%} | {np.median(halves):.1%} |"
        )
    return lines


def report(cases: list[Case], seconds: list[dict[str, float]]) -> None:
    """Print all tables."""
    methods = list(cases[0].outcomes)
    short = [case for case in cases if case.waves <= LONG_WAVES]
    for title, some in (
        (f"Launches of {LEAST_WAVES} to {LONG_WAVES} waves", short),
        (f"Launches above {LONG_WAVES} waves", [c for c in cases if c.waves > LONG_WAVES]),
        ("All", cases),
    ):
        if some:
            print(f"### {title}\n", *summary(some, methods), "", sep="\n")
    print("### Seconds of the processor, of all programs, reading included\n")
    full = sum(each[""] for each in seconds)
    print("| method | full | sampled | speed-up |", "|---|---:|---:|---:|", sep="\n")
    for name in methods:
        ours = sum(each[name] for each in seconds)
        print(f"| {name} | {full:.0f} | {ours:.0f} | {full / ours:.2f} |")
    if DEFAULT in methods:
        print(f"\n### Launch by launch: {DEFAULT}\n", *table(cases, DEFAULT), sep="\n")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small programs, one GPU")
    parser.add_argument("--large", action="store_true", help="large sizes, and a whole QV100")
    parser.add_argument("--only", metavar="PROGRAM,...", help="some programs")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="side by side")
    parser.add_argument("--intervals", type=int, default=0, metavar="SEEDS", help="how they hold")
    parser.add_argument("--rules", metavar="RULE,...", default=",".join(WAYS), help="some rules")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="keep traces here")
    options = parser.parse_args()
    runs = [(name, size, QUARTER) for name, size in QUICK.items()]
    if not options.quick:
        sizes, shapes = (LARGE, (QUARTER, WHOLE)) if options.large else (SIZES, (QUARTER, EIGHTH))
        runs = [(name, size, shape) for name, size in sizes.items() for shape in shapes]
    if options.only:
        runs = [each for each in runs if each[0] in options.only.split(",")]
    rules = options.rules.split(",")
    if unknown := set(rules) - set(WAYS):
        parser.error(f"no rule is {min(unknown)!r}; there are {', '.join(WAYS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.traces or Path(temporary)
        for name, size in sorted({each[:2] for each in runs}):
            trace(name, size, folder)
        with ProcessPoolExecutor(options.processes) as pool:
            measured = []
            for each in pool.map(
                measure, *zip(*[(*each, folder, rules, options.intervals) for each in runs])
            ):
                measured.append(each)
                print(f"{len(measured)} of {len(runs)} programs", file=sys.stderr)
    if options.intervals:
        print(*intervals([case for cases, _ in measured for case in cases]), sep="\n")
        return 0
    report([case for cases, _ in measured for case in cases], [spent for _, spent in measured])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
