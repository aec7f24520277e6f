"""What a metric is: a name, a unit, a meaning and a formula over the facts of a period."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from lockstep.gpus.spec import GPU
from lockstep.gpus.units import operations
from lockstep.isa.instruction import OF_CUS, OpClass
from lockstep.model.counters import Stall

Keyed = tuple[str, Any]
"""The word that fills ``{}`` in a name, and the key that the formula receives."""


class Metric(msgspec.Struct, frozen=True):
    """One entry of the registry.

    ``name`` is Nsight Compute's where the definition is the same, else it begins with ``sim__``.
    ``formula`` takes :class:`~lockstep.metrics.facts.Facts`; where ``each`` is given, the entry
    stands for one metric a key, ``{}`` in name and meaning is the key's word, and the formula
    takes the key as well. ``kernel`` marks what is defined for a single kernel only,
    ``counted`` what has a value if that was asked to count its instructions.
    """

    name: str
    unit: str
    meaning: str
    formula: Callable[..., float]
    each: Callable[[GPU], Iterable[Keyed]] | None = None
    kernel: bool = False
    counted: bool = False  # of kernels whose instructions were counted
    core: str = ""  # of which GPUs: ``GPU.core``; empty = of all
    modules: bool = False  # of GPUs with several modules alone

    def expand(self, gpu: GPU) -> list[tuple[str, tuple]]:
        """The metrics of this entry on a GPU: names, and what the formula takes besides facts."""
        if self.core and gpu.core != self.core:
            return []
        if self.modules and gpu.modules.count == 1:
            return []
        if self.each is None:
            return [(self.name, ())]
        return [(self.name.format(word), (key,)) for word, key in self.each(gpu)]


def operation_classes(gpu: GPU) -> list[Keyed]:
    """Every operation class that the GPU's cores execute."""
    return [(op.name.lower(), op) for op in OpClass if gpu.core == "cu" or op not in OF_CUS]


def stall_reasons(gpu: GPU) -> list[Keyed]:
    """Every thing a warp scheduler can do in a cycle."""
    return [(stall.name.lower(), stall) for stall in Stall]


def warp_states(gpu: GPU) -> list[Keyed]:
    """Every thing that a warp can do in a cycle."""
    return [*stall_reasons(gpu), ("not_selected", len(Stall))]


def units_of_cus(gpu: GPU) -> list[Keyed]:
    """Every unit of a compute unit."""
    return [(name, name) for name in ("scalar", "branch", "vector_alu", "lds", "vector_memory")]


def directions_of_requests(gpu: GPU) -> list[Keyed]:
    """Requests of vector memory: those that read, and the others."""
    return [(name, name) for name in ("load", "store")]


class UnitKind(NamedTuple):
    """One kind of execution unit, as a formula needs it."""

    instances: int  # in an SM
    intervals: tuple[tuple[int, int], ...]  # OpClass that it executes, cycles between two starts


def execution_units(gpu: GPU) -> list[Keyed]:
    """Every kind of execution unit of the GPU, with what it executes there."""
    executed = list(enumerate(operations(gpu)))
    kinds = []
    for index, unit in enumerate(gpu.sm.units):
        instances = unit.count * (gpu.sm.subcores if unit.scope == "subcore" else 1)
        intervals = tuple((op, o.interval) for op, o in executed if o.unit == index)
        kinds.append((unit.name.lower(), UnitKind(instances, intervals)))
    return kinds
