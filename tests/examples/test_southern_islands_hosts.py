"""What the hosts of ``examples/southern-islands`` share, without AMD's binaries."""

import sys
from pathlib import Path

import pytest

import lockstep

FOLDER = Path(__file__).parents[2] / "examples" / "southern-islands"


class Stub:
    """A device that has run something."""

    result = "its result"

    def __init__(self, gpu, timing):
        assert gpu == "HD7770" and timing

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def load_gcn(self, path):
        return path


@pytest.fixture
def host(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "host", raising=False)
    monkeypatch.setattr(lockstep, "Device", Stub)
    monkeypatch.setattr(lockstep, "summary", lambda result: f"summary of {result}")
    import host

    yield host
    sys.modules.pop("host", None)


def test_timing_prints_the_summary(host, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["host", "--binaries", "folder", "--timing"])
    host.main("What it does.", lambda *_: iter(()), "A.bin", 64, "columns")
    assert "summary of its result" in capsys.readouterr().out
