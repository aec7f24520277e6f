"""Whole processes over a cache that is damaged, or that they may not write."""

import os
import shutil
import subprocess
import sys

import pytest

from lockstep._jit import DISABLED
from lockstep.store import entry, places

PROGRAM = """
import sys
import lockstep
k = lockstep.KernelBuilder("tiny", grid=3, block=64)
with k.loop(2):
    k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000, 4))
    k("STG.E [R2], R4", address=k.coalesced(0x7F0000010000, 4))
k("EXIT")
gpu = lockstep.gpu("QV100", ["sm.count=2", "dram.channels=2"])
print(lockstep.simulate(k.workload(), gpu).hash, "numba" in sys.modules)
"""
CHEAP = (
    "model.sm.scheduler.first_ready",
    "model.partition.settle",
    "model.core.between.settle_all",
)
OBEY = """
import ctypes
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
ctypes.CDLL(None).capget(header, sets)
sets[0] &= ~2
sets[1] &= ~2
assert ctypes.CDLL(None).capset(header, sets) == 0
"""
"""Root, too, may write only what the modes allow: it gives up CAP_DAC_OVERRIDE."""
pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is kept")


def run(folder, program=PROGRAM):
    """Hash, whether Numba was needed, and the lines on stderr."""
    environment = os.environ | {"LOCKSTEP_CACHE_DIR": str(folder), "XDG_CACHE_HOME": "/proc"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found, numba = done.stdout.split()
    return found, numba == "True", done.stderr.splitlines()


@pytest.fixture
def filled(tmp_path):
    """A copy of a cache that has all that the program needs."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, timeout=600)
    folder = tmp_path / "filled"
    shutil.copytree(places.writable().path / "model", folder / "model")
    return folder


def entry_of(folder, function):
    """The file that has a function's machine code: the newest, if several versions are kept."""
    found = []
    for file in (folder / "model").iterdir():
        name, content = entry.unpack(file.read_bytes())
        if name.startswith(f"model/lockstep.{function} ") and content:
            found.append(file)
    return max(found, key=lambda file: file.stat().st_mtime)


@pytest.mark.long
def test_a_damaged_model_is_compiled_again_where_it_is_damaged(filled):
    expected = run(filled)
    assert not expected[1] and not expected[2]
    files = [entry_of(filled, function) for function in CHEAP]
    for file, damage in zip(
        files,
        (
            lambda data: b"",
            lambda data: data[: len(data) // 2],
            lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
        ),
    ):
        file.write_bytes(damage(file.read_bytes()))
    found, numba, lines = run(filled)
    assert found == expected[0] and numba
    assert len(lines) == len(files)
    for file in files:
        assert [line for line in lines if f"{file} is damaged and made again: " in line]
    assert run(filled) == expected


def test_a_read_only_cache_is_used(filled):
    expected = run(filled)
    for path in (filled, *filled.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(filled.rglob("*"))
    try:
        found, numba, lines = run(filled, program=OBEY + PROGRAM)
    finally:
        for path in (filled, *filled.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert (found, numba) == expected[:2]
    assert sorted(filled.rglob("*")) == before
    assert len(lines) == 1 and "the cache /proc/lockstep is not used" in lines[0], (
        "none of one's own"
    )
