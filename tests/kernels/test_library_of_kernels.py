"""The built-in kernels as a library: every folder is whole, and names are found."""

import re

import pytest

from lockstep.errors import WorkloadError
from lockstep.kernels import load, names


@pytest.mark.parametrize("name", names())
def test_a_kernel_is_whole(name):
    kernel = load(name)
    assert kernel.name == name
    assert kernel.summary.endswith(".")
    assert kernel.small < kernel.size
    ptx, source = kernel.ptx.read_text(), kernel.source.read_text()
    assert f".target {kernel.arch}\n" in ptx
    assert ".loc" in ptx
    entries = re.findall(r"\.entry (\w+)\(", ptx)
    assert entries
    for entry in entries:
        assert entry.startswith(name), "every kernel of a program begins with its name"
        assert entry in source


@pytest.mark.parametrize("name", names())
def test_ptx_does_not_tell_where_it_was_compiled(name):
    files = re.findall(r'\.file\s+\d+\s+"([^"]*)"', load(name).ptx.read_text())
    assert f"{name}.cu" in files
    assert not any("/" in file for file in files)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(WorkloadError, match=r"no built-in kernel 'saxpi'; there is saxpy"):
        load("saxpi")
