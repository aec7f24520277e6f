"""Measuring the simulator: one fresh process a trace, a table, ratios to a reference."""

import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import api
from lockstep.errors import InputError, LockstepError
from lockstep.report import columns
from lockstep.report.columns import Column, Kind
from lockstep.report.figures import NONE, clean, count

if TYPE_CHECKING:
    from rich.table import Table

Reference = dict[str, dict[str, float]]
"""Trace name -> configuration -> seconds of the other simulator."""

WARM_UP_INSTRUCTIONS = 1000
_COLUMNS = ("trace", "config", "user_seconds")


@dataclass(frozen=True, slots=True)
class Job:
    """One trace to run on one GPU."""

    path: Path
    trace: str
    gpu: str  # "" = by the trace's binaries
    reference_seconds: float = math.nan


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one run took."""

    trace: str
    gpu: str
    warp_instructions: int
    cycles: int
    read_seconds: float
    simulate_seconds: float
    kips: float
    peak_rss_mb: float
    reference_seconds: float
    result_hash: str
    stopped: str

    @property
    def speedup(self) -> float:
        """How much faster than the reference the simulation was, reading left out."""
        return _over(self.reference_seconds, self.simulate_seconds)

    @property
    def speedup_with_reading(self) -> float:
        """The same with the time to read the trace."""
        return _over(self.reference_seconds, self.simulate_seconds + self.read_seconds)

    def to_dict(self) -> dict[str, Any]:
        """All fields and both ratios."""
        ratios = {"speedup": self.speedup, "speedup_with_reading": self.speedup_with_reading}
        return asdict(self) | ratios


def _over(reference: float, seconds: float) -> float:
    return reference / seconds if seconds > 0 else math.nan


def examples() -> list[Path]:
    """The traces that ship with lockstep."""
    package = Path(__file__).parents[1]
    for root in (package, package.parents[1], Path()):  # installed, a checkout, run in a checkout
        folder = root / "examples"
        found = sorted(folder.glob(f"*{api.TRACEFILE_SUFFIX}"))
        found += sorted(folder.glob("*/kernelslist.g"))
        if found:
            return found
    raise LockstepError("no shipped examples found here; name the traces to measure")


def name_of(path: Path) -> str:
    """What a trace is called: its directory for a kernel list, else its file without suffix."""
    path = path.resolve()
    if path.is_dir():
        return path.name
    return path.parent.name if path.name == "kernelslist.g" else path.name.split(".")[0]


def read_reference(path: Path) -> Reference:
    """Read the CSV: columns trace (a prefix such as ``gen:`` is dropped), config, user_seconds."""
    known: Reference = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            if missing := set(_COLUMNS) - set(rows.fieldnames or ()):
                raise ValueError(f"without {', '.join(sorted(missing))}")
            for row in rows:
                trace, config, seconds = (row[name] or "" for name in _COLUMNS)
                known.setdefault(trace.rpartition(":")[2], {})[config] = float(seconds)
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    except (ValueError, TypeError, csv.Error) as error:
        problem = f"expected a CSV with columns {', '.join(_COLUMNS)}"
        raise InputError(path, "", f"{problem} ({error})") from error
    return known


def plan(paths: list[Path], gpu: str | None, reference: Reference) -> list[Job]:
    """The runs to make. A configuration is a GPU's name, perhaps after a prefix and "_"."""
    jobs = []
    for path in paths:
        trace = name_of(path)
        known = {_gpu_of(config): s for config, s in reference.get(trace, {}).items()}
        known.pop("", None)  # configurations of no GPU of ours
        if gpu is not None:
            known = {gpu: known.get(gpu, math.nan)}
        for name, seconds in (known or {"": math.nan}).items():
            jobs.append(Job(path, trace, name, seconds))
    return jobs


def _gpu_of(config: str) -> str:
    matching = [n for n in api.gpu_names() if config == n or config.endswith("_" + n)]
    return max(matching, key=len, default="")


def warm_up(job: Job, say: Callable[[str], None]) -> None:
    """Let a short run compile the model, so that no measured run does."""
    say("Warming up: the model is compiled where it was not before ...")
    _simulate(job, 1, ["--limit-instructions", str(WARM_UP_INSTRUCTIONS)])


def measure(job: Job, threads: int) -> Measurement:
    """Run one job in a process of its own."""
    document = _simulate(job, threads, [])
    total, run = document["total"], document["run"]
    return Measurement(
        trace=job.trace,
        gpu=document["gpu"],
        warp_instructions=total["warp_instructions"],
        cycles=total["cycles"],
        read_seconds=run["read_seconds"],
        simulate_seconds=run["simulate_seconds"],
        kips=_number(run["kips"]),
        peak_rss_mb=_number(run["peak_rss_mb"]),
        reference_seconds=job.reference_seconds,
        result_hash=run["result_hash"],
        stopped=document["stopped"],
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _simulate(job: Job, threads: int, options: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "result.json"
        command = [sys.executable, "-m", "lockstep", "simulate", str(job.path), "--quiet"]
        command += ["--threads", str(threads), "--json", str(target), *options]
        command += ["--gpu", job.gpu] if job.gpu else []
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        done = subprocess.run(command, stdin=nothing, stderr=pipe, text=True, env=environment())
        if done.returncode not in (0, 1) or not target.exists():
            last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise LockstepError(last[0].removeprefix("lockstep: "))
        return json.loads(target.read_text(encoding="utf-8"))


def environment() -> dict[str, str]:
    """This process's environment, in which ``-m lockstep`` is this very package."""
    home = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH", "")
    return os.environ | {"PYTHONPATH": home + os.pathsep + known if known else home}


def geometric_mean(values: list[float]) -> float:
    """The geometric mean of the values that are defined."""
    logs = [math.log(v) for v in values if not math.isnan(v) and v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


_TABLE = (
    Column("trace", Kind.NAME),
    Column("GPU", Kind.NAME),
    Column("warp inst.", rank=3),
    Column("cycles", rank=4),
    Column("read s", rank=5),
    Column("simulate s"),
    Column("kips", rank=2),
    Column("peak MiB", rank=1),
)
_RATIOS = (Column("reference s", rank=0), Column("faster"), Column("with reading", rank=6))


def table(measured: list[Measurement], width: int) -> "Table":
    """A table of measurements; ratios and their geometric means where there is a reference."""
    compares = any(not math.isnan(m.reference_seconds) for m in measured)
    rows = [_row(m, compares) for m in measured]
    if compares:
        for word, summarise in (("geometric mean", geometric_mean), ("least", _least)):
            ratios = [[m.speedup for m in measured], [m.speedup_with_reading for m in measured]]
            ends = [_times(summarise(values)) for values in ratios]
            rows.append([word, *[""] * len(_TABLE), *ends])
    return columns.table([*_TABLE, *(_RATIOS if compares else ())], rows, width)


def _row(m: Measurement, compares: bool) -> list[str]:
    cells = [clean(m.trace) + (" (stopped)" if m.stopped else ""), m.gpu]
    cells += [count(m.warp_instructions), count(m.cycles)]
    cells += [f"{m.read_seconds:.2f}", f"{m.simulate_seconds:.2f}"]
    cells += [count(m.kips), count(m.peak_rss_mb)]
    if compares:
        known = not math.isnan(m.reference_seconds)
        cells += [f"{m.reference_seconds:.2f}" if known else NONE]
        cells += [_times(m.speedup), _times(m.speedup_with_reading)]
    return cells


def _least(values: list[float]) -> float:
    return min((v for v in values if not math.isnan(v)), default=math.nan)


def _times(ratio: float) -> str:
    return NONE if math.isnan(ratio) else f"{ratio:.1f}x"
