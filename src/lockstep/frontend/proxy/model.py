"""The model of a kernel's accesses: what it must do, and which kinds there are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from lockstep.errors import WorkloadError, unknown
from lockstep.workload import Code, Cta

METHODS: dict[str, str] = {
    "affine": "lockstep.frontend.proxy.affine",
    "gmap": "lockstep.frontend.proxy.gmap",
}
"""The kinds of models, and the module that registers each."""

_KINDS: dict[str, type["KernelModel"]] = {}


@dataclass(frozen=True, slots=True)
class Launched:
    """Where and how a model is to access memory: one launch of a workload.

    ``bases``: where each allocation that the model knows begins now.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warp_size: int
    bases: np.ndarray  # int64
    number: int = 0  # of the launch in the proxy
    scale: Fraction = Fraction(1)  # share of the accesses that is wanted
    seed: int = 0
    turn: int = 0  # of a smaller launch: other CTAs than in the turns before, as far as there are

    @property
    def warps(self) -> int:
        """Warps of a CTA."""
        return -(-self.block[0] * self.block[1] * self.block[2] // self.warp_size)


Ctas = Callable[[], Iterator[Cta]]
Columns = Mapping[str, np.ndarray]


class KernelModel(ABC):
    """How a kernel accesses memory.

    Addresses are offsets in the allocations that it knows, numbered from 0 on: a launch says which
    those of the proxy are.
    """

    method: ClassVar[str]
    grows: ClassVar[bool] = False  # whether it can generate more accesses than there were

    @property
    @abstractmethod
    def allocations(self) -> int:
        """How many allocations it knows."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What is kept of it in JSON; columns hold what is many."""

    @abstractmethod
    def columns(self) -> Columns:
        """What is kept of it as columns of int64."""

    @classmethod
    @abstractmethod
    def of(cls, facts: Mapping[str, Any], columns: Columns) -> Self:
        """The model that gave these, which may be damaged.

        Raises :class:`~lockstep.frontend.tracefile.columns.Malformed` for whatever could not be
        generated from.
        """

    @abstractmethod
    def check(self, launch: Launched) -> None:
        """Raise ``Malformed`` if a launch of that shape cannot be generated."""

    @abstractmethod
    def generate(self, launch: Launched) -> tuple[tuple[int, int, int], Code, Ctas]:
        """The grid, the code and a way to read the CTAs of a launch, each made on demand.

        The same launch gives the same CTAs.
        """

    def numbers(self) -> int:
        """How many numbers it consists of."""
        return sum(map(len, self.columns().values()))


def register(kind: type[KernelModel]) -> type[KernelModel]:
    """Make a kind of model known by its ``method``; a decorator."""
    _KINDS[kind.method] = kind
    return kind


def kind_of(method: str) -> type[KernelModel]:
    """The kind of model with that name. Raises :class:`WorkloadError` if there is none."""
    if method not in METHODS:
        raise WorkloadError(unknown("method of proxies", method, METHODS))
    import_module(METHODS[method])
    return _KINDS[method]
