"""The points of a sweep, as a TOML file describes them.

::

    workloads = ["vecadd", "traces/gather.lst"]
    gpus = ["QV100"]
    seeds = [0, 1]
    timing = "full"
    inside = "windows"

    [[workloads]]  # or, instead of the list, one by one
    name = "saxpy"
    size = [1000, 2000]

    [[workloads]]
    command = ["./app", "1000"]

    [changes]  # all combinations
    "l1.latency" = [28, 34]
    "sm.count" = 40

    [[zip]]  # the first with the first, the second with the second
    "l2.sets" = [48, 96]
    "l2.ways" = [16, 8]

Paths are relative to the file.
"""

import itertools
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lockstep import api, kernels, toml_files
from lockstep.campaigns.point import Setting, SweepPoint
from lockstep.errors import InputError, LockstepError, suggestion

MOST_POINTS = 200_000  # which take 70 MB before the first one runs
MOST_LEVELS = 8  # of a name of a change
LONGEST = 60  # characters of one that an error shows
Settings = tuple[tuple[str, Setting], ...]


class _Workload(msgspec.Struct, forbid_unknown_fields=True):
    """A table of ``workloads``."""

    name: str = ""
    size: int | list[int] | None = None
    command: list[str] = []


class _Sweep(msgspec.Struct, forbid_unknown_fields=True):
    """The file."""

    workloads: list[str | _Workload]
    gpus: list[str]
    changes: dict[str, Any] = {}
    zip: list[dict[str, Any]] = []
    seeds: list[int] = msgspec.field(default_factory=lambda: [0])
    timing: str | list[str] = "full"
    inside: str | list[str] = ""


class SweptWorkload(NamedTuple):
    """What points have of a workload."""

    workload: str
    size: int | None = None
    arguments: tuple[str, ...] = ()


def read_points(path: str | Path) -> list[SweepPoint]:
    """The points of a file: workloads outermost, then GPUs, timings, rules inside launches,
    changes; seeds innermost.

    Raises :class:`InputError` that says what is wrong with it.
    """
    path = Path(path)
    sweep = _read(path)
    _check(path, sweep)
    timings = _as_list(sweep.timing)
    groups = [_zipped(path, group) for group in sweep.zip]
    groups += [
        [((name, v),) for v in _as_list(value)] for name, value in _flat(path, sweep.changes)
    ]
    workloads = [made for each in sweep.workloads for made in _workloads(path, each)]
    gpus = [_gpu(path, name) for name in sweep.gpus]
    chosen = [[_timing(path, t) for t in timings], [_rule(path, t) for t in _as_list(sweep.inside)]]
    axes: list[list] = [workloads, gpus, *chosen, *groups, sweep.seeds]
    if (count := math.prod(map(len, axes))) > MOST_POINTS:
        raise InputError(path, "", f"has {count:,} points; expected at most {MOST_POINTS:,}")
    points = []
    for (name, size, arguments), gpu, timing, inside, *settings, seed in itertools.product(*axes):
        changes = tuple(pair for each in settings for pair in each)
        points.append(SweepPoint(name, gpu, changes, seed, size, arguments, timing, inside))
    return points


def _read(path: Path) -> _Sweep:
    try:
        return msgspec.convert(toml_files.read(path, "sweep file"), _Sweep)
    except msgspec.ValidationError as error:
        raise InputError(path, "", f"{error}{_nearest_key(str(error))}") from error


def _nearest_key(problem: str) -> str:
    """What a key may have been that the file should not have."""
    wrong = re.search(r"unknown field `([^`]+)`", problem)
    if not wrong:
        return ""
    inside = "$.workloads" in problem
    return suggestion(wrong[1], (_Workload if inside else _Sweep).__struct_fields__)


def _check(path: Path, sweep: _Sweep) -> None:
    for name, values in _must_have(sweep):
        if not values:
            raise InputError(path, "", f"{name} is empty: there are no points")
    if lowest := [seed for seed in sweep.seeds if not 0 <= seed < 1 << 63]:
        raise InputError(path, "", f"seed {lowest[0]}: expected at least 0, of 63 bits")
    named = [name for name, _ in _flat(path, sweep.changes)]
    named += [name for group in sweep.zip for name, _ in _flat(path, group)]
    if twice := [name for name in dict.fromkeys(named) if named.count(name) > 1]:
        raise InputError(path, "", f"{twice[0]} is changed twice")
    for name, value in (
        *_flat(path, sweep.changes),
        *(p for g in sweep.zip for p in _flat(path, g)),
    ):
        values = _as_list(value)
        if not values:
            raise InputError(path, "", f"{name} has no values")
        if wrong := [v for v in values if not isinstance(v, (bool, int, float, str))]:
            problem = f"{name}: {wrong[0]!r:.60} is no number and no text"
            raise InputError(path, "", f"{problem}; a list is a text, such as '0, 8192'")


def _must_have(sweep: _Sweep) -> Iterator[tuple[str, Any]]:
    """What has one value at least, by what the file calls it; no points come of nothing."""
    for name in ("workloads", "gpus", "seeds"):
        yield name, getattr(sweep, name)
    for name in ("timing", "inside"):
        yield name, _as_list(getattr(sweep, name))
    for each in sweep.workloads:
        if isinstance(each, _Workload):
            yield f"size of {each.name}", _as_list(each.size)
    for group in sweep.zip:
        yield "a [[zip]]", group


def _zipped(path: Path, group: dict[str, Any]) -> list[Settings]:
    """Settings that go together."""
    lists = {name: _as_list(value) for name, value in _flat(path, group)}
    if len({len(values) for values in lists.values()}) > 1:
        sizes = ", ".join(f"{name} {len(values)}" for name, values in lists.items())
        raise InputError(path, "", f"lists of one zip are of different lengths: {sizes}")
    return [tuple(zip(lists, values)) for values in zip(*lists.values())]


def _workloads(path: Path, entry: str | _Workload) -> Iterator[SweptWorkload]:
    """A workload in each of its sizes."""
    if isinstance(entry, str):
        yield SweptWorkload(_located(path, entry))
        return
    if bool(entry.name) == bool(entry.command):
        raise InputError(path, "", "a workload has either a name or a command")
    if entry.command:
        if entry.size is not None:
            raise InputError(path, "", "size is for built-in programs, a command has arguments")
        yield SweptWorkload(_located(path, entry.command[0]), None, tuple(entry.command[1:]))
        return
    for size in _as_list(entry.size):
        yield SweptWorkload(_located(path, entry.name), size)


def _located(path: Path, name: str) -> str:
    """A built-in program's name, or a path."""
    return name if name in kernels.names() else _beside(path, name)


def _beside(path: Path, name: str) -> str:
    """A path relative to the file's folder; one without a folder would be sought in PATH."""
    found = os.path.normpath(os.path.join(path.parent, name))
    return found if os.path.dirname(found) else os.path.join(os.curdir, found)


def _gpu(path: Path, name: str) -> str:
    """A GPU's name, or the path of a file or folder."""
    known = {each.lower() for each in api.gpu_names()}
    if name.lower() in known or not os.path.exists(path.parent / name):  # of any text
        return name
    return _beside(path, name)


def _timing(path: Path, text: str) -> str:
    kind, colon, plan = text.partition(":")
    text = f"plan:{_beside(path, plan)}" if colon and kind == "plan" else text
    if text != "full" and not (colon and kind in ("sample", "plan")):
        why = ": a sweep simulates" if text == "none" else ""
        expected = "full, sample:error=1%, sample:10 or plan:FILE"
        raise InputError(path, "", f"timing = {text!r}{why}; expected {expected}")
    if text != "full":  # else nothing of sampling is needed, which takes long to import
        from lockstep.sampling.running.choice import chooser_of

        with _named(path, "timing"):
            chooser_of(text)
    return text


def _rule(path: Path, text: str) -> str:
    if text:
        from lockstep.sampling.inside.choice import check_rule

        with _named(path, "inside"):
            check_rule(text)
    return text


@contextmanager
def _named(path: Path, key: str) -> Iterator[None]:
    """Errors of a value say where it stands, those of a file that it names which file that is."""
    try:
        yield
    except InputError:
        raise
    except LockstepError as error:
        raise InputError(path, "", f"{key} = {error}") from None


def _flat(path: Path, table: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Dotted names: TOML makes tables of those without quotes."""
    if prefix.count(".") > MOST_LEVELS:
        raise InputError(path, "", f"{prefix[:LONGEST]}...: no name of a change is so deep")
    found = []
    for name, value in table.items():
        inner = isinstance(value, dict)
        found += _flat(path, value, f"{prefix}{name}.") if inner else [(prefix + name, value)]
    return found


def _as_list(value: Any) -> list:
    return value if isinstance(value, list) else [value]
