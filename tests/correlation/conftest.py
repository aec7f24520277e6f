import json

import pytest

from correlation.samples import LOADS
from lockstep.correlation.launches import CYCLES


@pytest.fixture
def file(tmp_path):
    """Function from a text to a file with it."""

    def write(text, name="hardware.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def result_file(tmp_path):
    """Function from kernels, as (name, cycles, sectors of loads), to a file of ``--json``."""

    def write(*kernels, name="app.json", first=1, **more):
        entries = [
            {"id": n, "name": k, "cycles": c, "metrics": {CYCLES: c, LOADS: loads, "sim__x": None}}
            for n, (k, c, loads) in enumerate(kernels, first)
        ]
        path = tmp_path / name
        path.write_text(json.dumps({"kernels": [entry | more for entry in entries]}))
        return path

    return write
