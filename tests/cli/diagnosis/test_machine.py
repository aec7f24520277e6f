import os

import pytest

from lockstep.cli import diagnosis
from lockstep.cli.diagnosis import Severity, machine
from lockstep.frontend.cuda import build


def named(symptoms):
    return {s.name: s for s in symptoms}


def test_the_processor_is_what_llvm_takes_it_for():
    from llvmlite import binding

    found = named(machine.machine())["processor"]
    assert found.facts["cpu"] == binding.get_host_cpu_name()
    features = binding.get_host_cpu_features()
    assert set(found.facts["features"]) == {name for name, has in features.items() if has}


def test_the_cores_that_may_be_used_are_counted(monkeypatch):
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 64)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    found = named(machine.machine())["cores"]
    assert (found.found, found.facts["usable"]) == ("2 of 64 may be used", 2)


@pytest.mark.parametrize(("gib", "severity"), [(1, Severity.NOTE), (2, Severity.GOOD)])
def test_little_memory_is_noted(monkeypatch, gib, severity):
    monkeypatch.setattr(machine, "memory_bytes", lambda: gib << 30)
    found = named(machine.machine())["memory"]
    assert (found.severity, found.facts["bytes"]) == (severity, gib << 30)


def test_tools_are_found_on_the_path_and_in_a_toolkit(tmp_path, monkeypatch):
    from lockstep.device import cuda

    for place, name in (("path", "nvcc"), ("toolkit/bin", "ptxas")):
        program = tmp_path / place / name
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(cuda, "roots", lambda: (tmp_path / "toolkit",))
    found = named(machine.tools())
    assert found["nvcc"].facts["path"] == str(tmp_path / "path" / "nvcc")
    assert found["ptxas"].facts["path"] == str(tmp_path / "toolkit" / "bin" / "ptxas")
    assert (found["cuobjdump"].severity, found["cuobjdump"].facts["path"]) == ("note", None)
    assert found["C compiler"].severity is Severity.NOTE
    assert found["C compiler"].advice == build.NO_COMPILER


def test_what_does_not_load_is_a_problem_and_no_traceback(monkeypatch):
    def broken():
        raise ImportError("no module named llvmlite")

    monkeypatch.setattr(machine, "machine", broken)
    [found] = diagnosis.look("machine")
    assert found.severity is Severity.PROBLEM
    assert found.found == "cannot be looked at: no module named llvmlite"


def test_every_section_looks_at_something():
    assert os.environ.get("PATH")  # it is looked at
    for section in ("packages", "machine", "tools", "extras"):
        found = diagnosis.look(section)
        assert len(found) > 3, section
        assert not any(s.found.startswith("cannot be looked at") for s in found)
