"""How the programs of a study run."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep import api
from lockstep.errors import LockstepError
from lockstep.kernels import Check, opencl
from lockstep.studies import find
from lockstep.studies.programs import BuiltinPrograms, OpenclPrograms, of_study

KERNELS = Path(__file__).parents[2] / "examples" / "southern-islands" / "kernels"


@pytest.fixture
def adding(monkeypatch):
    """A host of a kernel that comes with lockstep; the sizes that it was run with."""
    sizes = []

    def launch(device, module, rng, size):
        sizes.append(size)
        a, b = rng.random((2, size), dtype=np.float32)
        out = device.zeros(size)
        module["vector_add"][size, 64](device.array(a), device.array(b), out, size)
        yield Check("sum", out, lambda: a + b)

    host = opencl.OpenclHost(Path(__file__), "vector_add.bin", launch)
    monkeypatch.setattr(opencl, "load", lambda name: host)
    return sizes


def test_an_opencl_program_runs_with_the_binaries_of_a_folder(adding):
    programs = pickle.loads(pickle.dumps(OpenclPrograms(KERNELS)))
    with lockstep.Device("CANDEL", timing=True) as device:
        programs.run(device, "adding", 256)
        assert device.result.run.kernels[0].name == "vector_add"
    assert adding == [256]


def test_the_text_of_an_opencl_program_is_that_of_its_binary(adding, tmp_path):
    gpu = api.gpu("CANDEL")
    (tmp_path / "vector_add.bin").write_bytes((KERNELS / "vector_add.bin").read_bytes())
    here, there = (OpenclPrograms(folder).text("adding", gpu) for folder in (KERNELS, tmp_path))
    assert here == there
    (tmp_path / "vector_add.bin").write_bytes(b"another one")
    assert OpenclPrograms(tmp_path).text("adding", gpu) != here


def test_machine_code_is_only_for_gpus_that_have_some():
    ptx = BuiltinPrograms(False).text("saxpy", api.gpu("QV100"))
    assert isinstance(ptx, str) and ".entry" in ptx
    assert BuiltinPrograms(True).text("saxpy", api.gpu("QV100")) == ptx


def test_a_study_of_opencl_programs_needs_their_binaries():
    study = find("mshr-entries")
    with pytest.raises(LockstepError, match=r"mshr-entries runs OpenCL kernels .* --binaries"):
        of_study(study, None)
    assert of_study(study, KERNELS) == OpenclPrograms(KERNELS)
    assert of_study(find("coalescer"), None) == BuiltinPrograms(find("coalescer").machine_code)
