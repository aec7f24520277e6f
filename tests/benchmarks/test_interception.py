"""The benchmark of interception runs, where the replacement libraries can be built."""

import shutil
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "interception.py"


def test_it_prints_its_table(load_script, monkeypatch, capsys):
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler, and there is none")
    arguments = ["--launches", "10", "--megabytes", "1", "--repeat", "1"]
    monkeypatch.setattr("sys.argv", ["interception.py", *arguments])
    load_script(SCRIPT).main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [row[-1] for row in rows[2:]] == ["µs"] * 3 + ["GB/s"] * 3
    assert all(float(row[-2]) > 0 for row in rows[2:4])
