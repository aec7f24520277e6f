"""Short forms that declarations are written in."""

from collections.abc import Callable, Iterable

from lockstep.isa.instruction import WARP_SIZE
from lockstep.microbench.benchmark import Argument, Buffer, Case, Kind, Launch, Row, Target
from lockstep.microbench.measures import STAMP_WORDS, Increment, Measure, Slope, Throughput

OUT = Buffer("out", 1 << 20)
SINK = Buffer("sink", 1 << 20)
STAMPS = Buffer("out", 4 << 20)


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


def rate_case(
    target: Target,
    row: tuple[str, str, str],
    kernel: str,
    shape: tuple[int, int],
    arguments: Callable[[int], tuple[Argument, ...]],
    *,
    amounts: tuple[float, int],
    buffers: tuple[Buffer, ...],
    warm: bool,
    notes: str = "",
    stands_for: str = "",
) -> Case:
    """A case of ``kernel(stamps, sink, *arguments(n))``, whose blocks leave stamps.

    ``shape``: blocks, threads. ``amounts``: bytes or operations of one of n, and n. Hardware runs
    one launch of so many, a simulator one of n and one of three times n. What is not ``warm`` must
    not be used before by the shorter one.
    """
    blocks, threads = shape
    each, count = amounts

    def launch(n: int, offset: int) -> Launch:
        given = (buffer("out", offset), buffer("sink"), *arguments(n))
        return Launch(kernel, blocks, threads, given)

    launches: tuple[Launch, ...] = (launch(count, 0),)
    measure: Measure = Throughput(each * count, blocks, target.sms)
    if not target.full:
        launches = (launch(count, 0), launch(3 * count, blocks * STAMP_WORDS * 8))
        measure = Increment(2 * each * count, blocks)
    made = Row(*row, measure, notes, stands_for)
    buffers = (STAMPS, SINK, *buffers)
    return Case((made,), launches, buffers, launches[-1:] if warm else (), 3, cold=not warm)


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
    one = Launch(kernel, grid, block or WARP_SIZE * measure.warps, given, **launch)
    return Case((Row(*row, measure, notes),), (one,), (OUT, SINK, *buffers))
