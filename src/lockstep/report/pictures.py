"""Figures and their files, by matplotlib, which is an extra: ``lockstep-gpu[plots]``."""

import functools
import importlib.util
import io
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.errors import LockstepError
from lockstep.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NO_MATPLOTLIB = "plots need matplotlib: pip install 'lockstep-gpu[plots]'"
FORMATS = ("png", "svg")


def check_matplotlib() -> None:
    """Raise :class:`LockstepError` where plots cannot be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise LockstepError(NO_MATPLOTLIB)


def write_figure(figure: "Figure", folder: str | Path, stem: str) -> list[Path]:
    """Write a picture in each of ``FORMATS``; the files."""
    written = []
    for suffix in FORMATS:
        path = Path(folder) / f"{stem}.{suffix}"
        with replacing(path) as temporary:
            temporary.write_bytes(drawn(figure, suffix))
        written.append(path)
    return written


def write_plot(figure: "Figure", path: str | Path) -> None:
    """Write a figure as PNG or SVG, by the suffix; raises :class:`LockstepError` of any other."""
    suffix = check_plot(path)
    with replacing(path) as temporary:
        temporary.write_bytes(drawn(figure, suffix))


def check_plot(path: str | Path) -> str:
    """The format of a file that a plot shall be in; raises :class:`LockstepError` if it has none.

    And where no plot can be drawn.
    """
    check_matplotlib()
    suffix = Path(path).suffix.removeprefix(".")
    if suffix not in FORMATS:
        known = " or ".join(f".{name}" for name in FORMATS)
        raise LockstepError(f"{path}: a picture's name ends in {known}")
    return suffix


def drawn(figure: "Figure", suffix: str) -> bytes:
    """The bytes of a picture: the same ones for the same rows."""
    import matplotlib

    target = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "lockstep"}):
        metadata = {"Date": None} if suffix == "svg" else {"Software": None}
        figure.savefig(target, format=suffix, dpi=120, metadata=metadata)
    return target.getvalue()


def new_figure(width: float = 5, height: float = 4) -> "tuple[Figure, Axes]":
    """A figure of its own, in inches: pyplot would keep all of them, and ask for a screen."""
    check_matplotlib()
    figure = _notebook_figure()(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


@functools.cache
def _notebook_figure() -> "type[Figure]":
    """A figure that notebooks show, though pyplot knows nothing of it."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def _repr_svg_(self) -> str:
            return drawn(self, "svg").decode()

    return NotebookFigure
