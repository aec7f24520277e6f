"""What a system must fulfil."""

import msgspec
import pytest

from gpu_systems import NVSWITCH, PCIE, small_system
from lockstep.errors import SpecError
from lockstep.gpus import library, systems
from lockstep.gpus.fabric import FabricSpec


@pytest.mark.parametrize(
    ("fabric", "message"),
    [
        (NVSWITCH | {"ports": 5}, "fabric.ports = 5: 3 GPUs of 2 links take 6"),
        (NVSWITCH | {"ports": 0}, "fabric.ports is missing: the fabric is nvswitch"),
        (NVSWITCH | {"links": ("0-1",)}, "fabric.links is of nvlink: the fabric is nvswitch"),
        (PCIE | {"bandwidth": 16.0}, "that of pcie is each GPU's host.link_bandwidth"),
        (PCIE | {"latency": 5}, "that of pcie is each GPU's host.link_latency"),
    ],
)
def test_a_fabric_has_what_its_kind_has(fabric, message):
    with pytest.raises(SpecError, match=message):
        small_system(3, **fabric)


def test_ports_are_enough_from_both_sides():
    assert len(small_system(3, **NVSWITCH | {"ports": 6}).gpus) == 3


def test_memory_of_a_gpu_is_its_own():
    with pytest.raises(SpecError, match="GPUs of a system have memories of their own"):
        small_system(2, ["host.memory=migrating"])


@pytest.mark.parametrize("count", [0, 17])
def test_how_many_gpus(count):
    with pytest.raises(SpecError, match=f"{count} GPUs: expected 1 to 16"):
        systems.on_switch(library.gpu("QV100"), count)


def test_any_gpus_behind_a_switch():
    system = systems.on_switch(library.gpu("QV100"), 3)
    assert (system.name, len(system.gpus)) == ("3 x QV100", 3)
    assert system.are_joined(0, 2) and system.spec.fabric.topology == "pcie"


def test_headers_come_along():
    fabric = FabricSpec(topology="pcie", payload_bytes=256, header_bytes=16)
    assert [fabric.on_link(n) for n in (1, 256, 257, 16384)] == [17, 272, 289, 64 * 272]
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"topology": "pcie", "payload_bytes": 0}, FabricSpec)
