"""Launches on caches that were warmed, beside the same launches of a full simulation.

    python benchmarks/warming.py [--gpu QV100] [--most 30] [program[:size] ...]

Each program is simulated. Then each of its launches but the first (``--most`` of them, evenly
spread, if there are more) is simulated alone: after the others were only executed (cold), and after
they were warmed. Prints a Markdown table of programs: by how many percent the cycles of these
launches are off, in sum and at worst.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import lockstep
from lockstep.device import Choose, Device, Treatment
from lockstep.gpus.spec import GPU
from lockstep.kernels import load, names

LONG = 20_000  # cycles: shorter launches answer to any change with a few percent


class Row(NamedTuple):
    """One launch: its cycles in the full simulation, after nothing, and after warming."""

    full: int
    cold: int
    warmed: int

    def error(self, cycles: int) -> float:
        """How far off some cycles are, in percent."""
        return 100 * (cycles / self.full - 1)


def simulated(program: str, gpu: GPU, choose: Choose | None = None) -> dict[int, int]:
    """Cycles of the simulated launches of a program, by number; its size may follow a colon."""
    name, _, size = program.partition(":")
    with Device(gpu, timing=True, choose=choose) as device:
        for check in load(name).run(device, **({"size": int(size)} if size else {})):
            check.verify()
        return {launch.id: launch.cycles for launch in device.launches}


def alone(program: str, gpu: GPU, number: int, others: Treatment) -> int:
    """Cycles of one launch, with something else done with all others."""

    def choose(launch: lockstep.device.Launch) -> Treatment:
        return Treatment.SIMULATE if launch.id == number else others

    return simulated(program, gpu, choose)[number]


def study(program: str, gpu: GPU, most: int) -> Iterator[Row]:
    """Launches of a program, without the first."""
    full = simulated(program, gpu)
    numbers = np.array(sorted(full)[1:])
    if len(numbers) > most:
        numbers = numbers[np.linspace(0, len(numbers) - 1, most).astype(int)]
    for number in numbers.tolist():
        others = Treatment.EXECUTE, Treatment.WARM
        yield Row(full[number], *(alone(program, gpu, number, other) for other in others))


def table_row(program: str, rows: list[Row]) -> str:
    """All launches of a program."""
    full = sum(row.full for row in rows)
    cells = [program, str(len(rows)), f"{full:,}"]
    for name in ("cold", "warmed"):
        cycles = [getattr(row, name) for row in rows]
        errors = [abs(row.error(c)) for row, c in zip(rows, cycles)]
        cells += [f"{100 * (sum(cycles) / full - 1):+.2f}", f"{max(errors):.2f}"]
    return f"| {' | '.join(cells)} |"


def long_launches(rows: list[Row]) -> str:
    """How far off the launches are that take long."""
    errors = [abs(row.error(row.warmed)) for row in rows if row.full >= LONG]
    mean, worst = sum(errors) / max(1, len(errors)), max(errors, default=0.0)
    count = f"{len(errors)} launches of at least {LONG:,} cycles"
    return f"{count}: {mean:.2f} % off in the mean, {worst:.2f} % at worst"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=names())
    parser.add_argument("--gpu", default="QV100")
    parser.add_argument("--most", type=int, default=30)
    options = parser.parse_args()
    gpu = lockstep.gpu(options.gpu)
    print("| program | launches | cycles | cold | worst | warmed | worst |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    every: list[Row] = []
    for program in options.programs:
        if rows := list(study(program, gpu, options.most)):
            print(table_row(program, rows), flush=True)
        every += rows
    print(f"\n{long_launches(every)}")


if __name__ == "__main__":
    main()
