"""The instruction roofline of a GPU, with kernels or points of a campaign in it."""

import math
from typing import TYPE_CHECKING, NamedTuple

from lockstep.errors import LockstepError
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.metrics.result import Result
from lockstep.report import figures
from lockstep.report.pictures import new_figure
from lockstep.report.roofline import (
    LEVELS,
    intensities,
    issue_ceiling,
    level_ceilings,
    needed,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INKS = {"L1": "#1f5fa8", "L2": "#b8600b", "DRAM": "#2f7d4f"}
_MARKS = {"L1": "o", "L2": "s", "DRAM": "^"}
_NAMED = 5  # points with a name: the fastest
_RATE = "sim__ipc"  # warp instructions a cycle, of the cycles in which CTAs ran


class RooflineMark(NamedTuple):
    """One kernel or run: warp instructions a second, and a sector of each level."""

    name: str
    rate: float
    intensity: dict[str, float]


def roofline(
    source: "Result | pandas.DataFrame", gpu: GPU | str | None = None, levels: tuple = LEVELS
) -> "Figure":
    """Warp instructions a second over warp instructions a sector, with the GPU's ceilings.

    ``source``: a result, whose kernels are points; or a table with a row each, of
    :attr:`.Result.kernels` or of a campaign. A table needs ``gpu`` unless its column ``gpu`` has
    one name. ``levels``: of :data:`.LEVELS`, a point of each kernel for each. The model is that of
    :mod:`lockstep.report.roofline`. Raises :class:`LockstepError` if there is nothing to draw.
    """
    if wrong := [level for level in levels or ("",) if level not in LEVELS]:
        raise LockstepError(f"no level {wrong[0]!r}: expected some of {', '.join(LEVELS)}")
    if isinstance(source, Result):
        spec, marks = source.gpu, _of_result(source)
    else:
        _check_columns(source)
        spec = _gpu_of(source, gpu)
        marks = _of_table(source, spec)
    if not marks:
        raise LockstepError("nothing to draw a roofline of: no kernel has issued an instruction")
    figure, axes = new_figure(6, 4.2)
    _draw_ceilings(axes, spec, levels, marks)
    for level in levels:
        shown = [(m.intensity[level], m.rate) for m in marks if _is_shown(m, level)]
        axes.plot([p[0] for p in shown], [p[1] for p in shown], _MARKS[level], color=_INKS[level],
                  ms=5, alpha=0.7, label=f"{level} ({len(shown)})")  # fmt: skip
    for mark in sorted(marks, key=lambda m: -m.rate)[:_NAMED]:
        places = [mark.intensity[level] for level in levels if _is_shown(mark, level)]
        if places:
            axes.annotate(mark.name.replace("$", r"\$"), (max(places), mark.rate), fontsize=7,
                          xytext=(4, 3), textcoords="offset points")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="warp instructions a sector")
    axes.set_ylabel("warp instructions a second")
    axes.set_title(f"Instruction roofline of {figures.clean(spec.name)}", fontsize=9)
    axes.legend(fontsize=7, title="sectors of", title_fontsize=7, loc="lower right")
    return figure


def _draw_ceilings(axes: "Axes", gpu: GPU, levels: tuple, marks: list[RooflineMark]) -> None:
    """The roof of issue, and below it the slope of each level up to where they meet."""
    roof = issue_ceiling(gpu).rate
    ceilings = level_ceilings(gpu)
    meets = [roof / ceilings[level].rate for level in levels]
    places = [m.intensity[level] for m in marks for level in levels if _is_shown(m, level)]
    low, high = min(meets + places) / 4, max(meets + places) * 4
    for level in levels:
        rate = ceilings[level].rate
        axes.plot([low, roof / rate], [low * rate, roof], color=_INKS[level], lw=1,
                  label="_" + level)  # fmt: skip
    axes.plot([min(meets), high], [roof, roof], color="#444444", lw=1, label="_issue")


def _is_shown(mark: RooflineMark, level: str) -> bool:
    """A level that moved nothing has no place on the axis."""
    return mark.rate > 0 and math.isfinite(mark.intensity[level])


def _of_result(result: Result) -> list[RooflineMark]:
    names = [figures.kernel_name(kernel.name, 24) for kernel in result.run.kernels]
    rows = zip(names, result.metrics)
    return [mark for name, row in rows if (mark := _mark(name, row, result.gpu)).rate > 0]


def _check_columns(table: "pandas.DataFrame") -> None:
    """Raise :class:`LockstepError` if it is not a table of ours."""
    columns = getattr(table, "columns", ())
    missing = [name for name in (_RATE, *needed()) if name not in columns]
    if missing:
        raise LockstepError(
            f"nothing to draw a roofline of: there is no column {missing[0]}; pass a result, its "
            "table of kernels, or the table of a campaign"
        )


def _of_table(table: "pandas.DataFrame", gpu: GPU) -> list[RooflineMark]:
    label = next((name for name in ("title", "name", "workload") if name in table), None)
    rows = table[table[_RATE].notna()].to_dict("records")
    marks = [
        _mark(figures.clean(str(row[label]))[:24] if label else str(n), dict(row), gpu)
        for n, row in enumerate(rows, 1)
    ]
    return [mark for mark in marks if mark.rate > 0]


def _mark(name: str, metrics: dict, gpu: GPU) -> RooflineMark:
    return RooflineMark(name, metrics[_RATE] * gpu.clock_mhz * 1e6, intensities(metrics, gpu))


def _gpu_of(table: "pandas.DataFrame", gpu: GPU | str | None) -> GPU:
    if isinstance(gpu, GPU):
        return gpu
    if gpu is None:
        found = sorted(set(table["gpu"])) if "gpu" in getattr(table, "columns", ()) else []
        if len(found) != 1:
            has = f"this one has {', '.join(map(str, found))}" if found else "this one has none"
            raise LockstepError(f"the ceilings are of one GPU, and {has}: say which with gpu=")
        gpu = str(found[0])
    return library.gpu(gpu)
