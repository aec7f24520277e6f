"""What the warp schedulers did over the time of a run."""

from typing import TYPE_CHECKING

from lockstep.errors import LockstepError
from lockstep.metrics.result import Result
from lockstep.report.figures import clean
from lockstep.report.page.document import STALL
from lockstep.report.pictures import new_figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_ISSUED = "issued"
_COLOURS = ("#2f7d4f", *(f"C{n}" for n in (0, 1, 3, 4, 5, 6, 8, 9, 7)))  # what issues is green


def stalls(source: "Result | pandas.DataFrame") -> "Figure":
    """The share of scheduler cycles that went to each state, stacked, over the cycles of a run.

    ``source``: a result of a run with an interval, or its table :attr:`.Result.series`. States
    that never were are left out; what was issued is at the bottom. Raises :class:`LockstepError`
    where there are no intervals.
    """
    table = source.series if isinstance(source, Result) else source
    columns = [str(name) for name in getattr(table, "columns", ())]
    names = [name for name in columns if name.startswith(STALL) and (table[name] > 0).any()]
    if not {"start", "end"} <= set(columns) or not names:
        raise LockstepError(
            "no stalls over time: simulate with an interval, such as "
            'lockstep.simulate(..., interval=500), and pass the result or its table "series"'
        )
    labels = [name.removeprefix(STALL).removesuffix(".pct").replace("_", " ") for name in names]
    order = sorted(range(len(names)), key=lambda k: labels[k] != _ISSUED)
    figure, axes = new_figure(7, 4)
    # A step an interval: its values hold from its start to its end.
    times = [*table["start"], int(table["end"].iloc[-1])]
    below = [0.0] * len(table)
    for place, k in enumerate(order):
        values = table[names[k]].fillna(0).tolist()
        above = [a + b for a, b in zip(below, values)]
        axes.fill_between(times, [*below, below[-1]], [*above, above[-1]], step="post",
                          color=_COLOURS[place % len(_COLOURS)], label=labels[k],
                          linewidth=0)  # fmt: skip
        below = above
    axes.set(xlabel="core cycle", ylabel="scheduler cycles, %", ylim=(0, 100))
    axes.set_xlim(times[0], times[-1])
    if isinstance(source, Result):
        title = f"{source.workload.name} on {source.gpu.name}"
        axes.set_title(clean(title).replace("$", r"\$"), fontsize=9)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1), reverse=True)
    return figure
