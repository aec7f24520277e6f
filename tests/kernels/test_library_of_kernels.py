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
    with pytest.raises(WorkloadError, match=r"no built-in kernel 'saxpi'; did you mean saxpy"):
        load("saxpi")


@pytest.mark.parametrize("name", names())
def test_the_host_program_is_for_the_same_kernel(name):
    program = load(name).program.read_text()
    assert f'#include "{name}.cu"' in program
    assert "return finish();" in program


def test_the_readme_lists_the_kernels(repository):
    lines = [f"| `{name}` | {load(name).summary[:-1]} | {load(name).unit} |" for name in names()]
    table = "\n".join(
        ["| kernel | what it does | `--size` counts |", "| --- | --- | --- |", *lines]
    )
    text = (repository / "examples" / "kernels" / "README.md").read_text(encoding="utf-8")
    listed = text.partition("<!-- kernels: begin -->")[2].partition("<!-- kernels: end -->")[0]
    assert listed.strip() == table
