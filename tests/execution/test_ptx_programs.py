"""Whole PTX programs: known results, and random ones against the naive twin, bit for bit."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.isa.ptx.parser import parse
from ptx_twin import stack_programs, wmma_programs
from ptx_twin.interpreter import run
from ptx_twin.memory import Memory
from ptx_twin.numbers import mask
from ptx_twin.programs import PROGRAMS
from ptx_twin.random_ptx import FLOATS, ROW, THREADS, WORDS, programs

CTAS = 2
COUNTERS = 64  # bytes that all threads add to
FLOAT_COLUMNS = slice(WORDS, WORDS + FLOATS)  # of a row's words


def kernel_of(device, text):
    """The kernel; no program has an instruction that is refused."""
    return device.load_ptx(text)["k"]


@pytest.mark.long
@pytest.mark.parametrize(
    "program",
    (*PROGRAMS, *wmma_programs.PROGRAMS, *stack_programs.PROGRAMS),
    ids=lambda program: program.name,
)
def test_programs_give_the_known_words(device, program):
    expected = np.array(program.expected(), np.uint32)
    out = device.array(np.zeros_like(expected))
    kernel_of(device, program.ptx)[program.grid, program.block, program.shared_bytes](out)
    np.testing.assert_array_equal(out.numpy(), expected)


def twin_rows(text, content):
    """Rows of words, and the counters, as the twin leaves them."""
    memory = Memory(1 << 36)
    source = memory.allocate(content)
    target, work = memory.allocate(len(content)), memory.allocate(COUNTERS)
    run(parse(text), "k", CTAS, THREADS, [source, target, work], memory)
    return words(memory.bytes_at(target, len(content))), words(memory.bytes_at(work, COUNTERS))


def device_rows(device, text, content):
    kernel = kernel_of(device, text)
    source = device.array(np.frombuffer(content, np.uint8))
    target = device.array(np.zeros(len(content), np.uint8))
    work = device.array(np.zeros(COUNTERS, np.uint8))
    kernel[CTAS, THREADS](source, target, work)
    return words(target.numpy().tobytes()), words(work.numpy().tobytes())


def words(content):
    return np.frombuffer(content, np.uint32).copy()


def with_one_nan(rows):
    """NaNs of the floating-point registers made alike: PTX leaves their payload open."""
    floats = rows.reshape(-1, ROW // 4)[:, FLOAT_COLUMNS]
    floats[(floats & mask(31)) > 0x7F800000] = mask(31)
    return rows


@pytest.mark.long
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(text=programs(), seed=st.integers(0, mask(32)))
def test_random_programs_do_what_the_twin_does(device, text, seed):
    content = random.Random(seed).randbytes(ROW * THREADS * CTAS)
    got, counted = device_rows(device, text, content)
    expected, totals = twin_rows(text, content)
    np.testing.assert_array_equal(with_one_nan(got), with_one_nan(expected))
    np.testing.assert_array_equal(counted, totals)
