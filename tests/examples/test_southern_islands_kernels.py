"""The kernels of ``examples/southern-islands/kernels``: bytes are what their text says."""

import shutil
from pathlib import Path

import pytest

import cal_files

FOLDER = Path(__file__).parents[2] / "examples" / "southern-islands" / "kernels"
SOURCES = sorted(FOLDER.glob("*.s"))
needs_assembler = pytest.mark.skipif(
    shutil.which(cal_files.ASSEMBLER[0]) is None, reason="needs llvm-mc, LLVM's assembler"
)


def test_each_source_has_its_binary_and_no_binary_is_without_a_source():
    assert SOURCES
    assert [path.with_suffix(".bin") for path in SOURCES] == sorted(FOLDER.glob("*.bin"))


@needs_assembler
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_binary_is_its_source_assembled(source):
    made = cal_files.from_source(source.read_text())
    fresh = "out of date: run scripts/southern_islands_kernels.py"
    assert source.with_suffix(".bin").read_bytes() == made, fresh


@needs_assembler
def test_another_instruction_is_another_binary():
    text = SOURCES[0].read_text()
    changed = text.replace("s_endpgm", "s_nop 0\n  s_endpgm")
    assert cal_files.from_source(changed) != cal_files.from_source(text)
