"""Forty random CUDA programs; ``scripts/random_cuda.py`` runs as many as one likes."""

import shutil

import numpy as np
import pytest

from cuda_twin.build import Built, Data
from cuda_twin.comparison import compare, difference
from cuda_twin.generator import program
from cuda_twin.statements import LARGE, MEDIUM, SMALL

PROGRAMS = 40
BATCH = 10  # programs that one process translates
FORMS = (("ptx_75", "sm_75"), ("ptx_80", "sm_80"), ("sm_86",), ("sm_90",))  # of each batch
SEEDS = range(40, 40 + PROGRAMS)  # which have everything


def test_programs_are_the_same_for_the_same_seed():
    assert program(7, LARGE) == program(7, LARGE) != program(8, LARGE)


def test_programs_have_all_that_the_generator_knows():
    text = "".join(program(seed, SMALL).text for seed in SEEDS)
    words = ["__shfl_sync", "across(", "upwards(", "downwards(", "among(", "__ballot_sync"]
    words += ["__any_sync", "__all_sync", "__match_any_sync", "__match_all_sync", "__syncwarp"]
    words += [f"__reduce_{name}_sync" for name in ("add", "min", "max", "and", "or", "xor")]
    words += ["__syncthreads_", "recursive0(", "functions[(", "->area(", "switch ("]
    words += ["goto ", "case 8:", "records[", "cell.", "atomicInc(", "copied(", "tile_", "wide_"]
    words += ["if (!__any_sync(", "blockIdx.x", "half_", "__v", "prmt", "_rd(", "g0 = "]
    words += ["continue;", "break;", "return;", "local[(", "atomicAdd(", "raise(", "dynamic["]
    words += ["count_at(", "count_of(", "meet("]
    assert [word for word in words if word not in text] == []


def test_results_are_compared_bit_for_bit():
    one = Data(np.zeros((2, 3), np.uint64), np.zeros(4, np.uint32), np.zeros(2, np.uint64))
    assert difference(one, one) == ""
    other = one._replace(out=one.out + np.eye(2, 3, dtype=np.uint64))
    assert difference(one, other) == "out[0, 0] = 0x1, not 0x0 (2 differ)"


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc, and there is none")
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=pytest.mark.xdist_group(f"cuda_twin {first}"))
        for first in range(0, PROGRAMS, BATCH)
    ],
)
def test_machine_code_and_ptx_compute_what_cpp_computes(tmp_path, first):
    programs = [program(seed, SMALL) for seed in SEEDS[first : first + BATCH]]
    assert list(compare(Built(programs, tmp_path, forms=FORMS[first // BATCH]))) == []


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc, and there is none")
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(98005, id="lanes take turns while a uniform register holds who votes"),
        pytest.param(110152, id="lanes leave a region for a barrier without a BREAK"),
    ],
)
def test_programs_that_went_wrong_once(tmp_path, seed):
    assert list(compare(Built([program(seed, MEDIUM)], tmp_path))) == []


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc, and there is none")
def test_checks_find_no_mistakes_where_there_are_none(tmp_path):
    built = Built([program(seed, SMALL) for seed in range(200, 210)], tmp_path)
    assert list(compare(built, check="all")) == []
