"""Sampling inside launches measured: error of each method against the launch that ran whole.

    python benchmarks/sampling_inside.py [--quick] [--only PROGRAM,...] [--methods NAME;...]
                                         [--traces DIR]

Built-in programs at sizes that give launches of ten waves and more, on a quarter of a QV100 (20
SMs, 8 channels) and on all of it. Each is executed once and kept as a trace, in DIR or a temporary
folder. Truth is the full simulation of the trace, on the same GPU. Prints Markdown tables: a row a
method, with launches of up to and above 30 waves apart, and a row a launch of the default method.
Errors and speed-ups are of the cycles from the first dispatch on: the launch overhead before it is
the same in both.
"""

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import lockstep
from lockstep import kernels
from lockstep.engine.record import KernelRun
from lockstep.gpus.spec import GPU
from lockstep.sampling import inside
from lockstep.workload import Workload

QUARTER = ["sm.count=20", "dram.channels=8"]
LEAST_WAVES, LONG_WAVES = 10, 30
SIZES = {  # 10 to 22 waves on a quarter of a QV100, and about four times as many
    "blackscholes": (600_000, 2_400_000),
    "conv2d": (1152, 2304),
    "convolution": (960, 1920),
    "histogram_global": (800_000, 3_200_000),
    "hotspot": (640, 1280),
    "kmeans": (600_000, 2_400_000),
    "reduce_shared": (1_200_000, 4_800_000),
    "scan": (600_000, 2_400_000),
    "softmax": (1800, 7200),
    "spmv": (20_000, 80_000),
    "stencil2d": (960, 1920),
    "string_search": (800_000, 3_200_000),
    "texture": (960, 1920),
    "transpose_coalesced": (1920, 3840),
    "transpose_naive": (1280, 2560),
    "vecadd": (800_000, 3_200_000),
}
QUICK = {"vecadd": (500_000,), "texture": (800,)}


class Outcome(NamedTuple):
    """What a method gave for one launch; cycles from the first dispatch on."""

    estimated: float
    simulated: int


class Case(NamedTuple):
    """One launch on one GPU, with what every method made of it."""

    program: str
    gpu: str
    waves: float
    truth: int
    outcomes: dict[str, Outcome]


Runs = list[KernelRun]
Method = Callable[[Workload, GPU, Runs], tuple[dict[int, Outcome], float]]


def active(run: KernelRun) -> int:
    """Cycles from the first dispatch on."""
    return run.end - run.start


def simulated(workload: Workload, gpu: GPU, rule: object = None) -> tuple[Runs, float]:
    """The launches of a run, and the seconds that it took without compiling."""
    options = {"stop": rule, "stop_interval": rule.bin} if rule else {}
    begin = time.process_time()
    result = lockstep.simulate(workload, gpu, **options)
    return result.run.kernels, time.process_time() - begin


def outcome(projection: inside.Projection) -> Outcome:
    """Without the launch overhead."""
    run = projection.run
    return Outcome(projection.cycles - (run.start - run.launched), active(run))


def pkp(of: str, by: str) -> Method:
    """Principal kernel projection, by one reading of its threshold."""

    def method(workload: Workload, gpu: GPU, truth: Runs):
        rule = inside.Stability(of=of)
        runs, seconds = simulated(workload, gpu, rule)
        instructions = {run.id: run.warp_instructions for run in truth}
        found = {
            run.id: inside.project(
                run, stable=rule.stable.get(run.id), instructions=instructions[run.id], by=by
            )
            for run in runs
        }
        return {k: outcome(p) for k, p in found.items()}, seconds

    return method


def windows(speed_up: float) -> Method:
    """CTA windows."""

    def method(workload: Workload, gpu: GPU, truth: Runs):
        rule = inside.Windows(speed_up)
        runs, seconds = simulated(workload, gpu, rule)
        found = {run.id: inside.project_windows(run, rule.units[run.id]) for run in runs}
        return {k: outcome(p) for k, p in found.items()}, seconds

    return method


def durations(workload: Workload, gpu: GPU, truth: Runs):
    """Photon, warp level."""
    rule = inside.Durations()
    runs, seconds = simulated(workload, gpu, rule)
    found = {run.id: inside.project_durations(run, rule.lasting.get(run.id)) for run in runs}
    return {k: outcome(p) for k, p in found.items()}, seconds


def epochs(workload: Workload, gpu: GPU, truth: Runs):
    """TBPoint inside launches; reading the trace before counts."""
    begin = time.process_time()
    rule = inside.Epochs({k.id: inside.cta_instructions(k) for k in workload.kernels})
    before = time.process_time() - begin
    runs, seconds = simulated(workload, gpu, rule)
    found = {
        run.id: inside.project_windows(run, rule.units.get(run.id, []), like_earlier=True)
        for run in runs
    }
    return {k: outcome(p) for k, p in found.items()}, seconds + before


DEFAULT = "CTA windows, 4x"
METHODS: dict[str, Method] = {
    "PKP, s of the GPU's IPC, by CTAs": pkp("gpu", "ctas"),
    "PKP, s of the mean, by CTAs": pkp("mean", "ctas"),
    "PKP, s of the mean, by instructions": pkp("mean", "instructions"),
    "Photon, durations of CTAs": durations,
    "TBPoint, epochs": epochs,
    DEFAULT: windows(4),
    "CTA windows, 8x": windows(8),
}


def trace(program: str, size: int, folder: Path) -> Path:
    """A program's trace, recorded once."""
    path = folder / f"{program}-{size}.lst"
    if not path.exists():
        with lockstep.Device("QV100") as device, device.record(path):
            kernels.load(program).run(device, size)
    return path


def measure(
    program: str, size: int, gpu: GPU, path: Path, methods: dict[str, Method]
) -> tuple[list[Case], dict[str, float]]:
    """All methods on the long launches of one program; seconds of each, "" of the full run."""
    workload = lockstep.load(path)
    truth, full = simulated(workload, gpu)
    seconds, found = {"": full}, {}
    for name, method in methods.items():
        found[name], seconds[name] = method(workload, gpu, truth)
    cases = []
    for run in truth:
        waves = run.ctas / (run.ctas_per_sm * gpu.sm.count)
        if waves >= LEAST_WAVES:
            outcomes = {name: found[name][run.id] for name in methods}
            label = f"{program} {size:,}: {run.title.split('(')[0]}"
            cases.append(Case(label, f"{gpu.sm.count} SMs", waves, active(run), outcomes))
    return cases, seconds


def error(case: Case, method: str) -> float:
    """Relative to the truth, signed."""
    return case.outcomes[method].estimated / case.truth - 1


def summary(cases: list[Case], methods: dict[str, Method]) -> list[str]:
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


def report(cases: list[Case], seconds: list[dict[str, float]], methods: dict[str, Method]) -> None:
    """Print all tables."""
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
    parser.add_argument("--only", metavar="PROGRAM,...", help="some programs")
    parser.add_argument("--methods", metavar="NAME;...", help="some methods")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="keep traces here")
    options = parser.parse_args()
    sizes = QUICK if options.quick else SIZES
    if options.only:
        sizes = {name: sizes[name] for name in options.only.split(",")}
    chosen = options.methods.split(";") if options.methods else list(METHODS)
    methods = {name: METHODS[name] for name in chosen}
    quarter, whole = lockstep.gpu("QV100", QUARTER), lockstep.gpu("QV100")
    cases, seconds = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.traces or Path(temporary)
        for program, (first, *more) in sizes.items():
            runs = [(first, quarter)] + [(n, gpu) for n in more for gpu in (quarter, whole)]
            for size, gpu in runs:
                path = trace(program, size, folder)
                some, spent = measure(program, size, gpu, path, methods)
                cases += some
                seconds.append(spent)
    report(cases, seconds, methods)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
