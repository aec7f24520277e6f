"""Functions that need a driver, and what calls them."""

from lockstep.device.driver_calls import needs_driver
from lockstep.isa.sass.binary import Cubin, Relocation

CALL, DESCRIPTOR = 75, 62


def cubin(*calls):
    relocations = tuple(Relocation(f".text.{a}", 0, kind, b) for a, b, kind in calls)
    return Cubin(90, (), {}, b"", 0, (), relocations, {})


def test_who_calls_a_function_that_needs_a_driver_needs_it_too():
    found = needs_driver(
        cubin(
            ("grid", "__cuda_syscall_CGS_sync", CALL),
            ("middle", "grid", CALL),
            ("k", "middle", CALL),
            ("other", "malloc", CALL),
            ("launches", "k", DESCRIPTOR),
        ),
        (),
    )
    assert found.keys() == {"grid", "middle", "k"}
    assert found["k"] == "it calls grid, for which a driver has the code (__cuda_syscall_CGS_sync)"


def test_what_is_served_needs_none():
    calls = ("__cudaCDP2Free", "__cuda_syscall_cnpv2X", CALL), ("k", "__cudaCDP2Free", CALL)
    assert needs_driver(cubin(*calls), {"__cudaCDP2Free"}) == {}


def test_the_first_device_runtime_is_told():
    found = needs_driver(cubin(("cudaLaunchDeviceV2", "cnpLaunchDeviceV2", CALL)), ())
    assert "compile without CUDA_FORCE_CDP1_IF_SUPPORTED" in found["cudaLaunchDeviceV2"]
