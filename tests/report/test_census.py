import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.isa.instruction import OpClass, blank
from lockstep.report.census import Census, census
from lockstep.workload import ADDRESS, RUN, WARP, Code, Cta, Kernel

TEXTS = ["FFMA.FTZ", "LDG.E", "FFMA", "FROB.X"]


def make_kernel(ctas):
    """A kernel of one-warp CTAs, each a list of (static, count, mask)."""
    code = blank(8)
    code["text"] = np.arange(8) % len(TEXTS)
    code["op"] = OpClass.FP32
    return Kernel(
        id=1, name="k", grid=(len(ctas), 1, 1), block=(32, 1, 1), registers=8, shared_bytes=0,
        code=Code(code, TEXTS), ctas=lambda: (make_cta(i, runs) for i, runs in enumerate(ctas)),
    )  # fmt: skip


def make_cta(index, runs):
    records = np.array(runs, RUN)
    issued = int(records["count"].sum())
    threads = sum(count * mask.bit_count() for _, count, mask in runs)
    warp = np.array([(0, len(runs), 0, 0, issued, threads)], WARP)
    return Cta((index, 0, 0), warp, records, np.zeros(0, ADDRESS), np.zeros(0, np.int64))


one_run = st.integers(0, 7).flatmap(
    lambda s: st.tuples(st.just(s), st.integers(0, 8 - s), st.integers(0, 2**32 - 1))
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(one_run, max_size=6), max_size=4))
def test_counts_agree_with_walking_every_instruction(ctas):
    counts = census(make_kernel(ctas))
    opcodes, issued, threads = {}, 0, 0
    for static, count, mask in (run for runs in ctas for run in runs):
        for i in range(static, static + count):
            opcode = TEXTS[i % len(TEXTS)].split(".")[0]
            opcodes[opcode] = opcodes.get(opcode, 0) + 1
            issued += 1
            threads += mask.bit_count()
    assert counts.ctas == len(ctas)
    assert counts.warp_instructions == issued
    assert counts.thread_instructions == threads
    assert {k: n for k, n in counts.opcodes.items() if n} == opcodes
    assert counts.unknown.total() == opcodes.get("FROB", 0)


def test_kernels_add_up():
    total = Census()
    for _ in range(2):
        total.add(census(make_kernel([[(0, 4, 1)]])))
    assert (total.ctas, total.warp_instructions) == (2, 8)
    assert total.opcodes["FFMA"] == 4
    assert total.unknown == {"FROB.X": 2}


@pytest.mark.parametrize("ctas", [[], [[]]])
def test_an_empty_kernel_has_no_opcodes(ctas):
    assert census(make_kernel(ctas)).warp_instructions == 0
