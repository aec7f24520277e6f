"""Rules on programs that were not written for them: with lines, on GPUs of both kinds."""

import numpy as np
import pytest

import lockstep
from lockstep import kernels
from lockstep.advice.advise import examined
from lockstep.gpus import library

LARGER = ("histogram_global",)  # its few bins are unevenly spread over many partitions only


@pytest.fixture(scope="module")
def found(small):
    """Function from a built-in program and its size to what is found, by rule."""

    def run(name, size):
        gpu = small(**{"sm.count": 80, "dram.channels": 32} if name in LARGER else {})
        with lockstep.Device(gpu, timing=True, source=True) as device:
            kernels.load(name).run(device, size)
            advice = examined(device.result)
        return {item.rule.name: item for item in advice.problems}

    return run


@pytest.mark.parametrize(
    ("name", "size", "rule", "line"),
    [
        ("transpose_naive", 128, "uncoalesced", "out[x * rows + y] = in[y * columns + x];"),
        ("histogram_global", 40_000, "atomics", "atomicAdd("),
        ("needle", 64, "bank_conflicts", "tile[i][t]"),
        ("string_search", 20_000, "divergence", "match && k < pattern_length"),
    ],
)
def test_a_problem_of_a_program_has_its_line(found, name, size, rule, line):
    spot = found(name, size)[rule].found.spot
    text = kernels.load(name).source.read_text(encoding="utf-8").splitlines()
    assert spot.file.endswith(f"{name}.cu") and line in text[spot.line - 1]


@pytest.mark.parametrize(
    ("name", "size"), [("transpose_coalesced", 256), ("saxpy", 100_000), ("blackscholes", 60_000)]
)
def test_tuned_programs_have_no_problem(found, name, size):
    assert found(name, size) == {}


def test_a_stream_at_the_limit_of_the_memory_has_no_problem(outcome):
    advice = examined(outcome("dram_bandwidth", False))
    assert advice.problems == () and advice.items[0].rule.name == "dram_bandwidth"


def test_a_product_of_matrices_in_tiles_has_no_problem(load_script, repository, small):
    make = load_script(repository / "examples" / "make_traces.py")
    result = lockstep.simulate(make.gemm(), small(), source=True)
    assert examined(result).problems == ()


def of_kernel(repository, name, size, *arguments):
    """What is found in one of the OpenCL kernels of the examples, on a GPU of compute units."""
    gpu = library.replace(library.gpu("HD7770"), **{"sm.count": 2, "cu.neighbours": (2,)})
    path = repository / "examples" / "southern-islands" / "kernels" / f"{name}.bin"
    with lockstep.Device(gpu, timing=True, source=True) as device:
        arrays = [device.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        device.load_gcn(path)[name][size, 64](*arrays)
        return examined(device.result)


def test_scalar_instructions_are_no_divergence(repository):
    ones = np.ones(1 << 14, np.uint32)
    same = of_kernel(repository, "collatz", len(ones), 27 * ones, 0 * ones)
    assert "divergence" not in [item.rule.name for item in same.items]
    apart = np.where(np.arange(len(ones)) % 16 == 0, 27, 1).astype(np.uint32)
    item = of_kernel(repository, "collatz", len(ones), apart, 0 * ones).items
    assert "divergence" in [each.rule.name for each in item]
