"""Every built-in kernel, run on a device, gives what NumPy gives."""

import pytest

import lockstep
from lockstep.kernels import load, names

ODD_SIZES = (1, 2, 33)


def device_for(kernel, **options):
    gpus = {"sm_70": "QV100", "sm_80": "A100", "sm_90": "H100"}
    return lockstep.Device(gpus[kernel.arch], timing=False, **options)


def test_where_there_are_no_clusters_blocks_are_alone():
    with lockstep.Device("A100") as device:
        for check in load("histogram_cluster").run(device, 300):
            check.verify()


@pytest.mark.long
@pytest.mark.parametrize("name", names())
def test_results_are_those_of_numpy_and_no_check_finds_anything(name):
    kernel = load(name)
    with device_for(kernel, check="all") as device:
        for check in kernel.run(device, kernel.small):
            check.verify()
        assert [str(finding) for finding in device.findings] == []


@pytest.mark.long
@pytest.mark.parametrize("name", names())
def test_any_size_works(name):
    kernel = load(name)
    with device_for(kernel) as device:
        for size in ODD_SIZES:
            for check in kernel.run(device, size, seed=size):
                check.verify()
