"""Every PTX instruction and type against the naive twin, on random operands and edges."""

import numpy as np
import pytest

import lockstep
from lockstep.frontend.exec.program import Recording
from lockstep.frontend.exec.ptx.coverage import REFUSED
from ptx_twin.cases import bundles, differences, operand_bytes, results_of, twin_results
from ptx_twin.generator import SCRATCH


@pytest.fixture(scope="module")
def device():
    return lockstep.Device("QV100", timing=False)


def supported(device, bundle):
    """A bundle less the cases that are refused, its module, and why they were."""
    refused = []
    while bundle.cases:
        module = device.load_ptx(bundle.ptx)
        try:
            module["k"].executor(Recording.NOTHING)
        except lockstep.InputError as error:
            case = bundle.at_line(int(error.where.split()[1].rstrip(",")))
            if case is None:
                raise
            refused.append(error.message)
            bundle = bundle.without(case)
        else:
            return bundle, module, refused
    return bundle, None, refused


def device_results(device, module, bundle):
    source = device.array(np.frombuffer(operand_bytes(bundle.rows), np.uint8))
    target = device.array(np.zeros(bundle.result_bytes, np.uint8))
    work = device.array(np.zeros(SCRATCH * len(bundle.rows), np.uint8))
    module["k"][1, len(bundle.rows)](source, target, work)
    return results_of(bundle, target.numpy().tobytes())


@pytest.mark.parametrize("bundle", bundles(), ids=lambda bundle: bundle.name)
def test_instructions_do_what_the_twin_does(device, bundle):
    bundle, module, refused = supported(device, bundle)
    if bundle.cases:
        got = device_results(device, module, bundle)
        wrong = list(differences(bundle, got, twin_results(bundle, module.tree)))
        assert not wrong, "\n".join(wrong)
    unknown = set(refused) - {f"instruction {name} is not supported" for name in REFUSED}
    assert not unknown, "; ".join(sorted(unknown))
