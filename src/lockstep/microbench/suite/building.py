"""Short forms that declarations are written in."""

from collections.abc import Iterable

from lockstep.microbench.benchmark import Argument, Buffer, Case, Kind, Launch, Row
from lockstep.microbench.measures import Slope

WARP = 32
OUT = Buffer("out", 1 << 20)
SINK = Buffer("sink", 1 << 20)


def buffer(name: str, offset: int = 0) -> Argument:
    """The address of a buffer."""
    return Argument(Kind.BUFFER, name, offset)


def i32(value: int) -> Argument:
    """A 32-bit integer."""
    return Argument(Kind.I32, value)


def i64(value: int) -> Argument:
    """A 64-bit integer."""
    return Argument(Kind.I64, value)


def f32(value: float) -> Argument:
    """A float."""
    return Argument(Kind.F32, value)


def f64(value: float) -> Argument:
    """A double."""
    return Argument(Kind.F64, value)


def iterations(full: bool, long: int = 12, small: int = 6) -> tuple[int, int, int]:
    """Of the three segments, the last ``long`` on hardware: the last two's difference counts."""
    return (2, 2, long if full else small)


def segments_case(
    row: tuple[str, str, str],
    kernel: str,
    arguments: Iterable[Argument],
    measure: Slope,
    *,
    notes: str = "",
    block: int = 0,
    buffers: tuple[Buffer, ...] = (),
    **launch,
) -> Case:
    """A case of one block whose kernel is ``kernel(out, sink, *arguments, segments)``.

    ``row``: name, parameters, unit. ``block``: threads, if they are not whole warps.
    """
    given = (buffer("out"), buffer("sink"), *arguments, Argument(Kind.SEGMENTS, measure.segments))
    grid = launch.pop("grid", 1)
    one = Launch(kernel, grid, block or WARP * measure.warps, given, **launch)
    return Case((Row(*row, measure, notes),), (one,), (OUT, SINK, *buffers))
