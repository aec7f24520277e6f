"""Every PTX instruction and type against the naive twin, on random operands and edges."""

import numpy as np
import pytest

from ptx_twin.cases import bundles, differences, operand_bytes, results_of, twin_results
from ptx_twin.generator import SCRATCH


def device_results(device, module, bundle):
    source = device.array(np.frombuffer(operand_bytes(bundle.rows), np.uint8))
    target = device.array(np.zeros(bundle.result_bytes, np.uint8))
    work = device.array(np.zeros(SCRATCH * len(bundle.rows), np.uint8))
    module["k"][1, len(bundle.rows)](source, target, work)
    return results_of(bundle, target.numpy().tobytes())


@pytest.mark.long
@pytest.mark.parametrize("bundle", bundles(), ids=lambda bundle: bundle.name)
def test_instructions_do_what_the_twin_does(device, bundle):
    module = device.load_ptx(bundle.ptx)
    got = device_results(device, module, bundle)
    wrong = list(differences(bundle, got, twin_results(bundle, module.tree)))
    assert not wrong, "\n".join(wrong)
