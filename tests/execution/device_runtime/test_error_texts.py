"""Errors of device code have the names and texts that the host's have."""

import re

from lockstep.execution.device_runtime.call import CudaError
from lockstep.execution.device_runtime.error_texts import ERRORS


def test_texts_are_those_of_the_host(repository):
    table = repository / "src/lockstep/frontend/cuda/shim/error_table.c"
    rows = re.findall(r'\{(\d+), "(\w+)", "\w+",\s+"([^"]+)"\}', table.read_text())
    told = {int(number): (name, text) for number, name, text in rows}
    assert set(ERRORS) == set(CudaError)
    assert {number: told[number] for number in ERRORS} == ERRORS
