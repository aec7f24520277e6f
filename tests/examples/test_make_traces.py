"""The shipped example inputs are what their script makes, small, and readable."""

import importlib.util
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep.workload import MemoryCopy

EXAMPLES = Path(__file__).parents[2] / "examples"
LIMIT = 200_000  # bytes of one file


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_traces", EXAMPLES / "make_traces.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def content(workload):
    """What the model sees of a workload: geometry, code and the streams of some CTAs."""
    out = []
    for command in workload.commands:
        if isinstance(command, MemoryCopy):
            out.append((command.address, command.bytes))
            continue
        out.append((command.name, command.grid, command.block, command.shared_bytes))
        for cta in islice(command.ctas(), 0, None, 31):
            out.append((cta.index, cta.warps["warp_instructions"].tolist()))
            out.append(list(executed(command, cta)))
    return out


def executed(kernel, cta):
    """(pc, opcode, mask, address record with its pooled addresses) in the order of execution."""
    code = [(int(r["pc"]), int(r["text"]), r["width"] > 0) for r in kernel.code.instructions]
    addresses = iter(cta.addresses)
    for static, count, mask in cta.runs.tolist():
        for pc, text, addressed in code[static : static + count]:
            where = None
            if addressed and mask:
                record = next(addresses)
                rest = slice(record["pool"], record["pool"] + mask.bit_count())
                pooled = cta.pool[rest].tolist() if record["pool"] >= 0 else int(record["stride"])
                where = (int(record["first"]), pooled)
            yield pc, kernel.code.texts[text], mask, where


@pytest.mark.parametrize("name", ["vecadd", "ffma.lst", "gemm.lst", "gather.lst"])
def test_a_shipped_input_is_what_the_script_makes(script, name):
    assert content(lockstep.load(EXAMPLES / name)) == content(script.EXAMPLES[name]())


def test_all_shipped_inputs_are_small_and_come_from_the_script(script):
    files = [p for p in EXAMPLES.rglob("*") if p.suffix in (".lst", ".traceg", ".g")]
    assert {p.relative_to(EXAMPLES).parts[0] for p in files} == set(script.EXAMPLES)
    assert max(p.stat().st_size for p in files) < LIMIT


def test_the_script_writes_into_a_directory(script, tmp_path):
    script.main(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(script.EXAMPLES)


def test_the_tail_of_vecadd_is_masked_off(script):
    kernel = script.vecadd(2, 128).kernels[0]
    *_, last = kernel.ctas()
    stored = [len(x) for x in np.split(last.addresses, np.cumsum(last.warps["addresses"]))[:-1]]
    assert stored == [3, 3, 3, 0]
