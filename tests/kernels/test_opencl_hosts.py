"""Hosts of OpenCL programs: found by name, and told where their binaries are."""

from pathlib import Path

import pytest

from lockstep.errors import InputError, WorkloadError
from lockstep.kernels import opencl

FOLDER = Path(__file__).parents[2] / "examples" / "southern-islands"


def test_each_file_but_what_they_share_is_a_host():
    assert {*opencl.names(), "host"} == {file.stem for file in FOLDER.glob("*.py")}
    assert len(opencl.names()) == 12


@pytest.mark.parametrize("name", opencl.names())
def test_a_host_names_its_binary_and_what_launches(name):
    host = opencl.load(name)
    assert host.path.read_bytes() == (FOLDER / f"{name}.py").read_bytes()
    assert host.binary.endswith("_Kernels.bin")
    assert callable(host.launch)


def test_an_unknown_host_is_refused_with_the_nearest():
    with pytest.raises(WorkloadError, match=r"'reductio'; did you mean reduction\?"):
        opencl.load("reductio")


def test_a_binary_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"Reduction_Kernels\.bin: .*AMD's APP SDK 2\.5"):
        opencl.load("reduction").binary_in(tmp_path)
