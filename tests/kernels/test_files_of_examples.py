"""Files of the examples: found in a checkout and in an installed package, and loaded by a name."""

import pytest

from lockstep.errors import WorkloadError
from lockstep.kernels import files


def test_a_folder_of_the_examples_is_found():
    assert (files.home("kernels") / "saxpy" / "saxpy.py").is_file()


def test_a_folder_that_an_installation_lacks_is_named():
    with pytest.raises(WorkloadError, match="lacks its examples/nothing"):
        files.home("nothing")


def test_a_file_is_a_module_of_the_name_that_is_given(tmp_path):
    (tmp_path / "host.py").write_text("NAME = __name__\n")
    assert files.module(tmp_path / "host.py", "lockstep_a_host").NAME == "lockstep_a_host"
