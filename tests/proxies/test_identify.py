"""Which program a proxy is of: found among a few, at every level."""

import numpy as np
import pytest

from lockstep import kernels
from lockstep.device import Device
from lockstep.frontend.proxy import LEVELS
from lockstep.proxies import ProxyProfiler
from lockstep.proxies.identify import Fingerprint, fingerprint, nearest

SMALL = ("saxpy", "conv2d", "atax", "transpose_naive", "spmv", "half_dot")


def proxy(name, size, seed, **options):
    profiler = ProxyProfiler(**options)
    with Device("QV100") as device:
        device.watch(profiler)
        kernels.load(name).run(device, size, seed)
        device.synchronize()
    return profiler.proxy(name)


@pytest.fixture(scope="module")
def library():
    return {
        name: fingerprint(proxy(name, kernels.load(name).small, 0, method="gmap")) for name in SMALL
    }


@pytest.mark.long
@pytest.mark.parametrize("method", ["affine", "gmap"])
@pytest.mark.parametrize("level", LEVELS)
def test_no_level_hides_which_program_it_is(method, level, library):
    found = [
        nearest(
            fingerprint(proxy(name, 2 * kernels.load(name).small, 1, method=method, level=level)),
            library,
        )[0]
        for name in SMALL
    ]
    assert sum(a == b for a, b in zip(found, SMALL)) >= len(SMALL) - 1


def test_distance_is_in_units_of_spread():
    known = {
        "a": Fingerprint(np.array([0.0, 0.0, 7.0])),
        "b": Fingerprint(np.array([1000.0, 1.0, 7.0])),
    }
    # As far as half of the first feature's range, and nearer by the second; the third says nothing.
    assert nearest(Fingerprint(np.array([500.0, 0.9, 0.0])), known) == ["b", "a"]
    assert nearest(Fingerprint(np.array([500.0, 0.1, 0.0])), known) == ["a", "b"]
