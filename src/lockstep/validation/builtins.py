"""Builds of the built-in programs, run and compared with an H100, counted by Nsight Compute.

``main.cu`` of each in ``examples/kernels`` is built for sm_90; builds are looked for as
``FOLDER/NAME``. Up to 40 launches of each were measured, and some with caches that were emptied.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lockstep import api
from lockstep.correlation.comparison import ComparedRow, correlate_read
from lockstep.correlation.hardware import read_hardware
from lockstep.correlation.launches import CYCLES, Launch
from lockstep.errors import LockstepError
from lockstep.validation.comparison import Comparison, Figure, as_counted
from lockstep.validation.runs import Runner, executable

GPU = "H100_SXM"
SOURCE = "H100 80GB HBM3 (SXM5), ncu 2025.3.1"
SIZES = {"s": "default sizes", "l": "large sizes"}
L1_COUNTERS = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "L1 sectors loaded",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "L1 sectors stored",
}
COUNTERS = {
    CYCLES: "cycles",
    "sm__inst_executed.sum": "warp instructions",
    "lts__t_sectors_srcunit_tex.sum": "L2 sectors",
    "dram__sectors_read.sum": "DRAM sectors read",
    "dram__sectors_write.sum": "DRAM sectors written",
}


@dataclass(frozen=True)
class State:
    """How the profiler left the caches: the file of rows, the GPU that stands for it, counters."""

    file: str
    change: str
    counters: dict[str, str]


STATES = {
    # The counters took several passes: see docs/validation.md.
    "": State("builtins_h100_sxm.csv", "launch.l2=replay", COUNTERS),
    "cold": State("builtins_cold_h100_sxm.csv", "launch.l2=flush", COUNTERS | L1_COUNTERS),
}


def key(state: str, size: str, counter: str) -> str:
    """What the table of a counter at a size is called in a document."""
    return " ".join(filter(None, ("built-in", state, size, STATES[state].counters[counter])))


def measured(state: str, size: str) -> dict[str, list[Launch]]:
    """The launches of each program at one of ``SIZES``, in one of ``STATES``."""
    path = Path(__file__).parent / "data" / STATES[state].file
    found: dict[str, list[Launch]] = {}
    for launch in read_hardware(path, {"size": size}):
        found.setdefault(launch.program, []).append(launch)
    return found


def programs(
    folder: Path,
    runner: Callable[[tuple[str, ...]], Runner],
    say: Callable[[str], None],
    gpu: str = GPU,
) -> list[Comparison]:
    """Run what is there at both sizes, and compare each counter over all launches of a program.

    ``runner`` makes what runs a program on a changed GPU; ``say`` is told of each that begins.
    """
    api.gpu(gpu)  # before anything is run: there may be none of this name
    return [
        comparison
        for state in STATES
        for size in SIZES
        for comparison in _compared(state, size, folder, runner((STATES[state].change,)), say, gpu)
    ]


def _compared(
    state: str, size: str, folder: Path, run: Runner, say: Callable[[str], None], gpu: str
) -> list[Comparison]:
    title = ", ".join(filter(None, (f"Built-in programs on {gpu}", state, SIZES[size])))
    results = {
        counter: Comparison(key(state, size, counter), f"{title}: {what}")
        for counter, what in STATES[state].counters.items()
    }
    for name, launches in measured(state, size).items():
        try:
            row = _row(name, launches, folder, run, say, gpu)
        except LockstepError as error:
            for result in results.values():
                result.skipped.append(f"{name}: {error}")
            continue
        for counter, result in results.items():
            if counter in row.hardware and counter in row.ours:
                ours = as_counted(counter, row.ours[counter])
                figure = Figure(name, ours, row.hardware[counter], SOURCE)
                result.figures.append(figure)
    return list(results.values())


def _row(
    name: str,
    launches: list[Launch],
    folder: Path,
    run: Runner,
    say: Callable[[str], None],
    gpu: str,
) -> ComparedRow:
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
