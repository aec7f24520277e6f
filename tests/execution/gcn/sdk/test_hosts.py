"""The programs that have a host in ``examples/southern-islands``, at small sizes."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[4] / "examples" / "southern-islands"
SIZES = {
    "binary_search": 4096 * 256,
    "bitonic_sort": 1024,
    "dwt_haar_1d": 2048,
    "fast_walsh_transform": 1024,
    "floyd_warshall": 48,
    "matrix_transpose": 128,
    "mersenne_twister": 512,
    "quasi_random_sequence": 512,
    "recursive_gaussian": 256,
    "reduction": 8192,
    "scan_large_arrays": 131072,
    "simple_convolution": 32,
}


@pytest.fixture
def host(monkeypatch):
    """Function from a host's name to its module."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in ("host", *SIZES):
        sys.modules.pop(name, None)


def test_every_host_has_a_size():
    assert set(SIZES) | {"host"} == {path.stem for path in FOLDER.glob("*.py")}


@pytest.mark.parametrize("name", SIZES)
def test_a_host_finds_its_kernels_right(name, host, load):
    program = host(name)
    device, module = load(program.BINARY.removesuffix("_Kernels.bin"))
    checks = list(program.run(device, module, np.random.default_rng(7), SIZES[name]))
    assert checks
    for check in checks:
        check.verify()


@pytest.mark.parametrize("name", SIZES)
def test_a_host_says_what_is_missing_in_one_line(name, host, monkeypatch, capsys, tmp_path):
    program = host(name)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--binaries", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        host("host").main(program.__doc__, program.run, program.BINARY, 1, "items")
    assert ended.value.code == 1
    message = f"{name}.py: {tmp_path / program.BINARY}: cannot read: No such file or directory\n"
    assert capsys.readouterr().err == message


def test_more_numbers_of_a_twister_are_right(host, load):
    """Eight vectors a seed, each made of those before: registers that M0 indexes."""
    program = host("mersenne_twister")
    program.FACTOR = 8
    device, module = load("MersenneTwister")
    for check in program.run(device, module, np.random.default_rng(8), 256):
        check.verify()
