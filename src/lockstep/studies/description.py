"""What a study is made of: programs, variants of GPUs, numbers of each program, claims, charts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lockstep.report.columns import ALWAYS
from lockstep.report.figures import decimal

if TYPE_CHECKING:
    from lockstep.studies.claims import Claim

SIZES = ("small", "large")
CYCLES = "cycles"  # counter: cycles in which there were CTAs; what a launch costs is left out
HARDWARE = "hardware"  # the name that measured numbers have among the variants

Counters = Mapping[str, float]
Runs = Mapping[str, Counters]
"""The counters of one program by variant, and by ``HARDWARE`` where it was measured."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A GPU with changes. ``gpu``: a preset; "": the study's, which ``--gpu`` replaces."""

    name: str
    changes: tuple[str, ...] = ()
    gpu: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A built-in program, or a host of OpenCL kernels, with its sizes in the program's own unit."""

    name: str
    small: int
    large: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of each program, from its runs; NaN where it has none.

    ``mean`` is geometric for ratios, arithmetic for the others; "": there is none.
    """

    name: str
    of: Callable[[Runs], float]
    show: Callable[[float], str] = decimal
    rank: int = ALWAYS  # as of a column
    mean: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of each program; of several figures, they are stacked."""

    label: str
    figures: tuple[str, ...]


def bars_of(variants: Sequence[Variant], figure: str) -> tuple[Bar, ...]:
    """A bar for each variant: the figure that is called by it and by what it is of."""
    return tuple(Bar(v.name, (f"{v.name} {figure}",)) for v in variants)


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars of each program beside each other. ``line``: where nothing changes, drawn across."""

    name: str
    title: str
    axis: str
    bars: tuple[Bar, ...]
    line: float | None = None
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Study:
    """A question, what is run to answer it, and what the answer is compared with.

    ``counters`` are metrics of the registry that are kept of each run, besides ``CYCLES``; of a GPU
    that has not got one, NaN.
    ``counts`` says which programs means and claims are about. ``measured`` has counters of
    hardware by program, for the GPU and size in question. With ``machine_code`` programs run from
    that where the study's GPU is one for which there is some, from PTX elsewhere. ``opencl``: they
    are hosts of OpenCL kernels, whose binaries are given.
    """

    name: str
    title: str
    question: str
    gpu: str
    programs: tuple[Program, ...]
    variants: tuple[Variant, ...]
    counters: tuple[str, ...]
    figures: tuple[Figure, ...]
    charts: tuple[Chart, ...]
    claims: "Callable[[OutcomeView], list[Claim]]"
    counts: Callable[[Runs], bool] = lambda runs: True
    about: str = "all programs"  # in words, which ones count
    machine_code: bool = False
    opencl: bool = False
    measured: Callable[[str, str], Mapping[str, Counters]] = lambda gpu, size: {}

    def figure(self, name: str) -> Figure:
        """The figure of a name."""
        return next(figure for figure in self.figures if figure.name == name)


class OutcomeView(Protocol):
    """What charts and claims are made of: see :class:`lockstep.studies.outcome.Outcome`."""

    @property
    def study(self) -> Study:
        """What it is of."""
        ...

    @property
    def size(self) -> str:
        """Of the programs: small or large."""
        ...

    @property
    def gpu(self) -> str:
        """That of variants without one."""
        ...

    @property
    def runs(self) -> Mapping[str, Runs]:
        """The counters of each program by variant."""
        ...

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        """The figures of each program, by their names."""
        ...

    @property
    def counted(self) -> list[str]:
        """The programs that means and claims are about."""
        ...

    @property
    def means(self) -> dict[str, float]:
        """The mean of each figure that has one."""
        ...

    def average(self, variant: str, counter: str) -> float:
        """The mean of a counter of a variant over the programs that count."""
        ...


def ratio(counter: str, above: str, below: str) -> Callable[[Runs], float]:
    """The quotient of a counter of two variants; NaN where there is none."""

    def of(runs: Runs) -> float:
        return quotient(value(runs, above, counter), value(runs, below, counter))

    return of


def counter(variant: str, name: str) -> Callable[[Runs], float]:
    """A counter of a variant."""
    return lambda runs: value(runs, variant, name)


def value(runs: Runs, variant: str, name: str) -> float:
    """A counter of a variant; NaN where it is not known."""
    return runs.get(variant, {}).get(name, float("nan"))


def quotient(above: float, below: float) -> float:
    """NaN where nothing can be divided."""
    return above / below if below else float("nan")
