"""All targets by name. A new one is a class in a file of its kind, and a place in this list."""

from collections.abc import Callable
from functools import cache

from fuzzing import (
    accelsim,
    binaries,
    caches,
    calls,
    checkpoints,
    gpus,
    measurements,
    options,
    outside,
    proxies,
    ptx,
    results,
    samplings,
    southern_islands,
    sweeps,
    systems,
    tracefile,
    tunings,
)
from fuzzing.target import Target

MODULES = (
    accelsim,
    tracefile,
    gpus,
    ptx,
    binaries,
    southern_islands,
    options,
    calls,
    caches,
    measurements,
    tunings,
    proxies,
    systems,
    outside,
    sweeps,
    samplings,
    checkpoints,
    results,
)


@cache
def targets() -> dict[str, Callable[[], Target]]:
    """What makes each target, by its name."""
    makers = [make for module in MODULES for make in module.TARGETS]
    return {make.name: make for make in makers}
