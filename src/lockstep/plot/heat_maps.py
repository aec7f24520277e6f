"""How busy each SM or each DRAM channel was, kernel by kernel."""

from typing import TYPE_CHECKING

from lockstep.errors import LockstepError, unknown
from lockstep.metrics.result import Result
from lockstep.report.figures import kernel_name
from lockstep.report.page.heat import MAPS, heat_maps
from lockstep.report.pictures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TICKS = 24  # kernels that have their name on the axis


def heat_map(result: Result, of: str = "active") -> "Figure":
    """A row for each unit and a column for each kernel, in percent.

    ``of``: ``active``, cycles with work of each SM; ``issue``, issued instructions of each SM, of
    all that it could issue; ``dram``, clocks with data on the bus of each DRAM channel. Of many
    kernels, those with most cycles are shown. Raises :class:`LockstepError` for a table, which has
    no rows for units, and for a result without kernels.
    """
    if of not in MAPS:
        raise LockstepError(unknown("heat map", of, MAPS) + f" (there are {', '.join(MAPS)})")
    if not isinstance(result, Result):
        raise LockstepError(
            "a heat map needs a result: tables of kernels and of campaigns have no numbers of "
            "single SMs and channels"
        )
    maps = heat_maps(result)
    if not maps:
        raise LockstepError("nothing to draw a heat map of: no kernel has run")
    found = maps[MAPS.index(of)]
    values, kernels = found["values"], found["kernels"]
    width = 3.5 + 0.3 * min(len(kernels), _TICKS)
    figure, axes = new_figure(max(4.5, width), 4)
    image = axes.imshow(values, cmap="viridis", vmin=0, vmax=100, aspect="auto",
                        interpolation="nearest", origin="lower")  # fmt: skip
    figure.colorbar(image, ax=axes, label="%")
    if len(kernels) <= _TICKS:
        names = [kernel_name(result.run.kernels[k].name, 16) for k in kernels]
        labels = [f"{k + 1} {name}".replace("$", r"\$") for k, name in zip(kernels, names)]
        axes.set_xticks(range(len(kernels)), labels, rotation=60, ha="right", fontsize=7)
    axes.set(xlabel="kernel", ylabel=found["row"])
    axes.set_title(found["title"], fontsize=9)
    return figure
