"""The benchmark of execution runs; whether its limits hold depends on the machine."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "execution.py"


@pytest.fixture(scope="module")
def execution(load_script):
    return load_script(SCRIPT)


@pytest.mark.parametrize(
    "part", ["speed", "machine-code", "translation", "loading", "launch", "timing"]
)
def test_a_part_prints_its_table(execution, monkeypatch, capsys, part):
    monkeypatch.setattr(execution, "SPEEDS", [(execution.ONE_EACH, 1, 1000, 1000)])
    monkeypatch.setattr(execution, "TIMED", {"vecadd": 1000})
    monkeypatch.setattr(execution.kernels, "names", lambda: ("vecadd",))
    monkeypatch.setattr(execution, "RATIO", 100.0)
    monkeypatch.setattr(execution, "MACHINE_CODE", 0.01)
    monkeypatch.setattr(execution, "LAUNCH_SECONDS", 1.0)
    monkeypatch.setattr(execution, "CHECK_SECONDS", 10.0)
    monkeypatch.setattr("sys.argv", ["execution.py", "--quick", "--repeat", "1", "--only", part])
    assert execution.main() == 0
    title, *_, last = [line for line in capsys.readouterr().out.splitlines() if line]
    assert title == f"### {part.capitalize()}"
    saxpy = "| saxpy, one element a thread | 1,000 |"
    expected = {"speed": saxpy, "machine-code": saxpy, "launch": "A launch takes"}
    expected["loading"] = "A module of 978 instructions is parsed in"
    assert last.startswith(expected.get(part, "| vecadd |"))


def test_a_missed_limit_is_exit_code_1(execution, monkeypatch, capsys):
    monkeypatch.setattr(execution, "LAUNCH_SECONDS", 0.0)
    monkeypatch.setattr(
        "sys.argv", ["execution.py", "--quick", "--repeat", "1", "--only", "launch"]
    )
    assert execution.main() == 1
