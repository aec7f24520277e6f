"""Pictures of a proxy beside its original, by matplotlib, an extra: ``lockstep-gpu[plots]``."""

from typing import TYPE_CHECKING

import pandas as pd

from lockstep.proxies.agreement import RATE
from lockstep.report.pictures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def against_original(rows: pd.DataFrame) -> "Figure":
    """Rates of the proxy over those of the original, a colour for each set of configurations.

    ``rows``: as of :func:`~lockstep.proxies.agreement.compare`; what is no rate is left out.
    """
    figure, axes = new_figure()
    axes.plot([0, 1], [0, 1], lw=0.7, color="#777777")
    for name, mine in rows[rows["metric"].str.endswith(RATE)].groupby("set", sort=False):
        axes.plot(mine["original"], mine["proxy"], "o", ms=2.5, alpha=0.7, label=str(name))
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="original", ylabel="proxy", aspect="equal")
    axes.legend(fontsize=6)
    return figure
