"""Programs sampled while they run, without a profile: error, interval, and seconds saved.

    python benchmarks/sampling_online.py --truth DIR [--error 0.01] [--seeds 3] [program[:size] ...]

Each program is executed, then run with ``Online`` as its ``choose``: launches that are not
simulated are warmed or only executed. Prints a Markdown table: error against the full simulation in
``DIR`` (``sampling_truth.py`` makes it) and the interval; ``s_cycles``, the estimated cycles by the
simulated ones; ``s_once``, processor seconds of the full simulation by those of the sampled run;
and R, the same by those of the execution alone: no run that executes everything saves more.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from sampling_truth import PROGRAMS, Program, Truth, place

import lockstep
from lockstep.device import Device, Treatment
from lockstep.errors import LockstepError
from lockstep.execution.launches.geometry import Geometry
from lockstep.gpus.spec import GPU
from lockstep.sampling import LaunchTable, Plan
from lockstep.sampling.running import Online, Warmth
from lockstep.sampling.sampler import OneStep


class OnePass(OneStep):
    """``Online`` as a sampler: it is fed with the launches of a table, and with their times."""

    name, level, times = "online", 0, True

    def __init__(self, error: float = 0.01):
        self.error = error

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """What it simulates when the launches come in this order."""
        online = Online(self.error, seed=int(random.integers(2**31)))
        queued: list[tuple[SimpleNamespace, float]] = []

        def synchronize() -> None:
            for launch, time in queued:
                launch.run = SimpleNamespace(cycles=time)
            queued.clear()

        device = SimpleNamespace(synchronize=synchronize, memory=None, stop=None)
        for launch, time in zip(_launches(table, device), table.times.tolist()):
            if online(launch) is Treatment.SIMULATE:
                queued.append((launch, time))
        synchronize()
        plan = online.plan()
        return Plan.of(
            table, self.name, plan.stratum, plan.chosen, drawn=True, family=plan.family
        )  # fmt: skip


def _launches(table: LaunchTable, device: SimpleNamespace) -> Iterator[SimpleNamespace]:
    """What ``Online`` looks at of each launch."""
    columns = ("name", "code", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
    others = ("shared_bytes", "registers")
    records = table.frame[[*columns, *others]].itertuples(index=False, name=None)
    kernels: dict[str, SimpleNamespace] = {}
    for name, code, gx, gy, gz, bx, by, bz, shared, registers in records:
        if name not in kernels:
            kernels[name] = SimpleNamespace(name=name, parameters=[])
        yield SimpleNamespace(
            kernel=kernels[name], code=code, geometry=Geometry((gx, gy, gz), (bx, by, bz), shared),
            parameters=b"", stream=0, registers=registers, shared_bytes=shared, run=None,
            device=device,
        )  # fmt: skip


class Row(NamedTuple):
    """One run."""

    error: float
    half_width: float
    held: bool
    s_cycles: float
    seconds: float


def sampled(program: Program, gpu: GPU, truth: float, online: Online) -> Row:
    """Run a program with some of its launches simulated."""
    with Device(gpu, timing=True, choose=online) as device:
        seconds = program.run(device)
        found = online.outcome()
    cycles = found.cycles
    return Row(
        cycles.total / truth - 1,
        cycles.half_width,
        cycles.low <= truth <= cycles.high,
        found.speedup,
        seconds,
    )


def executed(program: Program, gpu: GPU) -> float:
    """Processor seconds of plain execution, the second time in this process."""
    for size in (program.kernel.small, program.size):
        with Device(gpu) as device:
            seconds = program.run(device, size)
    return seconds


def table_row(program: Program, truth: Truth, plain: float, warm: Warmth, rows: list[Row]) -> str:
    """A line of the table."""
    mean = np.array([row[:5] for row in rows], float)
    seconds = mean[:, 4].mean()
    cells = [
        program.name,
        f"{len(truth.table):,}",
        "warmed" if warm is Warmth.ALL else "executed",
        f"{100 * np.abs(mean[:, 0]).mean():.2f}",
        f"{100 * mean[:, 0].mean():+.2f}",
        f"{100 * mean[:, 1].mean():.2f}",
        f"{int(mean[:, 2].sum())} of {len(rows)}",
        f"{len(rows) / (1 / mean[:, 3]).sum():.1f}",
        f"{truth.simulation / seconds:.1f}",
        f"{truth.simulation / plain:.1f}",
        f"{100 * plain / seconds:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--truth", type=Path, required=True, metavar="DIR")
    parser.add_argument("--gpu", default="QV100")
    parser.add_argument("--error", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    gpu = lockstep.gpu(options.gpu)
    print(
        "| program | launches | others are | error, % | bias, % | half width, % | holds "
        "| s_cycles | s_once | R | s_once / R, % |"
    )
    print("| --- " * 11 + "|")
    for program in map(Program.of, options.programs):
        truth = Truth.read(place(options.truth, program, gpu))
        plain, total = executed(program, gpu), float(truth.table.times.sum())
        for warm in (Warmth.ALL, Warmth.NOTHING):
            small = program._replace(size=program.kernel.small)
            sampled(small, gpu, total, Online(options.error, warm=warm))  # compiles
            rows = [
                sampled(program, gpu, total, Online(options.error, seed=seed, warm=warm))
                for seed in range(options.seeds)
            ]
            print(table_row(program, truth, plain, warm, rows), flush=True)


if __name__ == "__main__":
    try:
        main()
    except LockstepError as error:
        sys.exit(str(error))
