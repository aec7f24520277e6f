"""Damaged traces give an InputError or a result that the naive twin agrees with."""

import lzma
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.errors import InputError
from lockstep.frontend.accelsim import load

ROOT = Path(__file__).parents[3]
MODES = [({"NUMBA_BOUNDSCHECK": "1"}, 40), ({"NUMBA_DISABLE_JIT": "1"}, 1)]


@pytest.mark.long
@pytest.mark.parametrize(("environment", "count"), MODES, ids=["bounds checks", "no jit"])
def test_the_modes_agree(damage, environment, count):
    command = [sys.executable, str(Path(__file__).with_name("damage.py")), str(count)]
    variables = {**os.environ, **environment, "PYTHONPATH": str(ROOT / "src")}
    run = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == damage.digest(count)


def agrees(naive, path, text):
    """Whether the twin reads the same, where it reads anything at all."""
    try:
        (kernel,) = load(path).kernels
        served = naive.expand(kernel)
    except InputError:
        return True
    return served == naive.comparable(naive.read(text))


@pytest.fixture(scope="session")
def files(real_traces):
    """Small real traces, as bytes."""
    names = ["vectoradd-sm61/kernel-1.traceg", "matmul-sm61/kernel-1.traceg"]
    found = [(real_traces / name).read_bytes() for name in names]
    packed = (real_traces / "bfs-sm80" / "kernel-1.traceg.xz").read_bytes()
    return [*found, lzma.decompress(packed)]


@pytest.mark.parametrize("which", range(3))
def test_real_traces_with_random_damage(damage, naive, files, tmp_path, which):
    rng = random.Random(which)
    path = tmp_path / "kernel-1.traceg"
    for _ in range(40):
        data = damage.damaged(rng, files[which])
        path.write_bytes(data)
        assert agrees(naive, path, data.decode("utf-8", "replace"))


@pytest.mark.parametrize("tracer", ["1.2", "3", "5", "6"])
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_structured_damage(damage, naive, tmp_path, tracer, data):
    raw = data.draw(st.booleans())
    lines = damage.sample(tracer, raw).decode().split("\n")
    number = data.draw(st.integers(0, len(lines) - 1))
    kind = data.draw(st.sampled_from(["word", "drop", "copy", "swap", "line"]))
    if kind == "word":
        words = lines[number].split(" ")
        place = data.draw(st.integers(0, len(words) - 1))
        words[place] = data.draw(
            st.sampled_from([w.decode("latin1") for w in damage.WORDS])
            | st.integers(-(2**70), 2**70).map(str)
            | st.integers(0, 2**70).map(hex)
            | st.text(max_size=8)
        )
        lines[number] = " ".join(words)
    elif kind == "drop":
        del lines[number]
    elif kind == "copy":
        lines.insert(data.draw(st.integers(0, len(lines))), lines[number])
    elif kind == "swap":
        other = data.draw(st.integers(0, len(lines) - 1))
        lines[number], lines[other] = lines[other], lines[number]
    else:
        lines[number] = data.draw(st.text(max_size=60))
    text = "\n".join(lines)
    path = tmp_path / ("kernel-1.trace" + "g" * (not raw))
    path.write_bytes(text.encode("utf-8", "replace"))
    assert agrees(naive, path, text)


def test_damaged_xz_is_an_input_error(real_traces, tmp_path):
    data = (real_traces / "bfs-sm80" / "kernel-1.traceg.xz").read_bytes()
    rng = random.Random(1)
    for trial in range(60):
        damaged = bytearray(data)
        if trial % 3:
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        else:
            del damaged[rng.randrange(len(data)) :]
        path = tmp_path / "kernel-1.traceg.xz"
        path.write_bytes(damaged)
        with pytest.raises(InputError):
            for kernel in load(path).kernels:
                list(kernel.ctas())
