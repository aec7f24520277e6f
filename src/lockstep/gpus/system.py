"""What a system is: GPUs, each with its link to the host, and a fabric that joins them."""

import re
from typing import Annotated

from msgspec import Meta

from lockstep.errors import SpecError
from lockstep.gpus.fabric import FabricSpec
from lockstep.gpus.ranges import Spec
from lockstep.gpus.spec import GPU

MOST_GPUS = 16
_LINK = re.compile(r"(\d{1,4})-(\d{1,4})(?: x(\d{1,4}))?", re.ASCII)


class SystemSpec(Spec, frozen=True, kw_only=True):
    """A host with several GPUs."""

    name: str
    description: Annotated[str, Meta(description="what it is")]
    gpus: Annotated[
        tuple[str, ...],
        Meta(description=f"the GPU of each device, by name or file; at most {MOST_GPUS}"),
    ]
    changes: Annotated[
        tuple[str, ...],
        Meta(description="what is different in all of its GPUs, as --set has it"),
    ] = ()
    fabric: FabricSpec


class GpuSystem:
    """A system with its GPUs read: ``gpus`` by their numbers, ``links`` by pairs of them."""

    def __init__(self, spec: SystemSpec, gpus: tuple[GPU, ...]):
        """Raises :class:`SpecError` where the fabric does not fit the GPUs."""
        self.spec, self.gpus = spec, gpus
        self.links = _links(spec.fabric, len(gpus))
        check(spec.fabric, gpus)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.spec.name

    def are_joined(self, one: int, other: int) -> bool:
        """Whether two GPUs can reach each other's memory without the host."""
        if one == other:
            return False
        if self.spec.fabric.topology != "nvlink":
            return True
        return (min(one, other), max(one, other)) in self.links


def _links(fabric: FabricSpec, count: int) -> dict[tuple[int, int], int]:
    """How many links each pair of GPUs has; pairs with a GPU behind the last one have none."""
    found: dict[tuple[int, int], int] = {}
    for text in fabric.links:
        match = _LINK.fullmatch(text)
        if not match:
            raise SpecError(f"fabric.links: {text[:40]!r}: expected two GPUs, 0-1 or 0-3 x2")
        one, other, several = int(match[1]), int(match[2]), int(match[3] or 1)
        pair = (min(one, other), max(one, other))
        if one == other or several == 0:
            raise SpecError(f"fabric.links: {text}: a link joins two GPUs")
        if pair in found:
            raise SpecError(f"fabric.links: {text}: that pair stands there already; say x2 for two")
        found[pair] = several
    return {pair: several for pair, several in found.items() if pair[1] < count}


def check(fabric: FabricSpec, gpus: tuple[GPU, ...]) -> None:
    """Raise :class:`SpecError` for what a fabric of its kind does not have, or lacks."""
    if not 1 <= len(gpus) <= MOST_GPUS:
        raise SpecError(f"gpus: {len(gpus)} of them; expected 1 to {MOST_GPUS}")
    kind, owned = fabric.topology, {"nvlink": ("links",), "nvswitch": ("links_per_gpu", "ports")}
    for other, names in owned.items():
        for name in names:
            given = bool(getattr(fabric, name))
            if given != (other == kind) and (given or len(gpus) > 1):
                lacks = "is missing" if other == kind else f"is of {other}"
                raise SpecError(f"fabric.{name} {lacks}: the fabric is {kind}")
    if (fabric.bandwidth > 0) != (kind != "pcie"):
        raise SpecError(
            f"fabric.bandwidth = {fabric.bandwidth}: "
            + ("that of pcie is each GPU's host.link_bandwidth" if kind == "pcie" else
               "expected GB/s above 0")
        )  # fmt: skip
    if kind == "pcie" and fabric.latency:
        raise SpecError("fabric.latency: that of pcie is each GPU's host.link_latency")
    taken = fabric.links_per_gpu * len(gpus)
    if taken > fabric.ports:
        raise SpecError(
            f"fabric.ports = {fabric.ports}: {len(gpus)} GPUs of {fabric.links_per_gpu} links take "
            f"{taken}"
        )
    for number, gpu in enumerate(gpus):
        if gpu.host.memory != "discrete" and len(gpus) > 1:
            raise SpecError(
                f"GPU {number} ({gpu.name}): host.memory = {gpu.host.memory}: GPUs of a system "
                "have memories of their own (discrete)"
            )
