"""Pictures of results, by matplotlib, which is an extra: ``pip install 'lockstep-gpu[plots]'``.

Each function takes a result, or the table that it or a campaign or a correlation has, and returns
a ``matplotlib.figure.Figure`` that notebooks show; :func:`save` writes it. What cannot be drawn is
a :class:`~lockstep.errors.LockstepError` that says what it would take::

    from lockstep import plot

    plot.save(plot.roofline(result), "roofline.svg")

``rooflines.py`` has ceilings and kernels, ``stall_series.py`` what schedulers did over time,
``heat_maps.py`` units by kernels, ``sweeps.py`` a parameter against a metric; a correlation is
drawn where its page needs it.
"""

from lockstep.correlation.plots import residuals
from lockstep.correlation.plots import scatter as correlation
from lockstep.plot.heat_maps import heat_map
from lockstep.plot.rooflines import roofline
from lockstep.plot.stall_series import stalls
from lockstep.plot.sweeps import sweep
from lockstep.report.pictures import write_plot as save

__all__ = ["correlation", "heat_map", "residuals", "roofline", "save", "stalls", "sweep"]
