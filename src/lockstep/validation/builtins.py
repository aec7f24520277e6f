"""Builds of the built-in programs, run and compared with an H100, counted by Nsight Compute.

``main.cu`` of each in ``examples/kernels`` is built for sm_90; builds are looked for as
``FOLDER/NAME``. Up to 40 launches of each were measured, caches as the program left them.
"""

from collections.abc import Callable
from pathlib import Path

from lockstep import api
from lockstep.correlation.comparison import Row, correlate_read
from lockstep.correlation.hardware import read_hardware
from lockstep.correlation.launches import CYCLES, Launch
from lockstep.errors import LockstepError
from lockstep.validation.comparison import Comparison, Figure
from lockstep.validation.runs import Runner, executable

GPU = "H100_SXM"
REPLAYED = ("launch.l2=replay",)  # the counters took several passes; see docs/validation.md
SOURCE = "H100 80GB HBM3 (SXM5), ncu 2025.3.1"
SIZES = {"s": "default sizes", "l": "large sizes"}
COUNTERS = {
    CYCLES: "cycles",
    "sm__inst_executed.sum": "warp instructions",
    "dram__sectors_read.sum": "DRAM sectors read",
    "dram__sectors_write.sum": "DRAM sectors written",
}


def key(size: str, counter: str) -> str:
    """What the table of a counter at a size is called in a document."""
    return f"built-in {size} {COUNTERS[counter]}"


def measured(size: str) -> dict[str, list[Launch]]:
    """The launches of each program at one of ``SIZES``."""
    path = Path(__file__).parent / "data" / "builtins_h100_sxm.csv"
    found: dict[str, list[Launch]] = {}
    for launch in read_hardware(path, {"size": size}):
        found.setdefault(launch.program, []).append(launch)
    return found


def programs(
    folder: Path, run: Runner, say: Callable[[str], None], gpu: str = GPU
) -> list[Comparison]:
    """Run what is there at both sizes, and compare each counter over all launches of a program.

    ``say`` is told of each program that begins.
    """
    api.gpu(gpu)  # before anything is run: there may be none of this name
    return [comparison for size in SIZES for comparison in _of_size(size, folder, run, say, gpu)]


def _of_size(
    size: str, folder: Path, run: Runner, say: Callable[[str], None], gpu: str
) -> list[Comparison]:
    results = {
        counter: Comparison(
            key(size, counter),
            f"Built-in programs on {gpu}, {SIZES[size]}: {what}",
        )
        for counter, what in COUNTERS.items()
    }
    for name, launches in measured(size).items():
        try:
            row = _row(name, launches, folder, run, say, gpu)
        except LockstepError as error:
            for result in results.values():
                result.skipped.append(f"{name}: {error}")
            continue
        for counter, result in results.items():
            if counter in row.hardware and counter in row.ours:
                figure = Figure(name, row.ours[counter], row.hardware[counter], SOURCE)
                result.figures.append(figure)
    return list(results.values())


def _row(
    name: str,
    launches: list[Launch],
    folder: Path,
    run: Runner,
    say: Callable[[str], None],
    gpu: str,
) -> Row:
    """All launches of a program as one. Raises :class:`LockstepError` where one is missing."""
    program = executable(folder / name, folder / name / name)
    if program is None:
        raise LockstepError("not built")
    arguments = tuple(dict(launches[0].section)["args"].split())
    say(" ".join([name, *arguments]))
    found = correlate_read(launches, [run(program, arguments, gpu)], (), "program")
    if found.coverage["compared"] < len(launches):
        raise LockstepError("; ".join(found.remarks))
    return found.rows[0]
