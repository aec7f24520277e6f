"""Streams: each instruction whose record has a width leaves one address record, others none.

A stream has no marks: an instruction with one too many or too few would give all that follow it the
addresses of others.
"""

from collections import Counter
from pathlib import Path

import pytest

import lockstep
from cubin_files import FOLDER, unpack
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.dry import DryBuilder
from lockstep.execution.programs import kept, translation
from lockstep.execution.programs.program import Recording
from lockstep.isa.instruction import WARP_SIZE
from ptx_twin import machine_code, stack_programs, wmma_programs
from ptx_twin.cases import bundles
from ptx_twin.generator import HEADER, kernel_ptx
from ptx_twin.programs import PROGRAMS

RECORDINGS = (Recording.EVERYTHING, Recording.AT_ISSUE, Recording.ACCESSES)
SOUTHERN_ISLANDS = sorted(
    (Path(__file__).parents[3] / "examples" / "southern-islands" / "kernels").glob("*.bin")
)
BINARIES = sorted(
    path for path in FOLDER.glob("*.zst") if path.stem not in ("triton", "triton_hopper")
)


class Compared(Exception):
    """Ends a translation: (instructions that were compared, those that differ)."""


@pytest.fixture(autouse=True)
def compare(monkeypatch):
    """Translations lift onto nothing, and compare what would be recorded."""

    def program(self):
        compared, wrong, module = 0, set(), self._module()
        for block in self.blocks:
            known = self.lanes == WARP_SIZE  # wavefronts' code looks at what was emitted
            builder = DryBuilder(self.lanes) if known else LaneBuilder(module, f"b{block.number}")
            stream = self._emit(builder, block).stream
            items = stream.items if stream is not None else []
            told = Counter(item.instruction for item in items if not item.guarded)
            for number, instruction in self.instructions(block):
                op, space, width = self.access(number, instruction)
                seen = translation._concerns_caches(op, space, width)
                asked = Recording.EVERYTHING in self.recording or seen
                compared += width > 0
                if told[number] != (width > 0 and asked):
                    wrong.add((str(instruction), width, told[number]))
        raise Compared(compared, wrong)

    monkeypatch.setattr(translation.Translation, "program", program)
    monkeypatch.setattr(kept, "program", lambda key, make: make())


def compared(module):
    """How many instructions with addresses were compared; none may differ."""
    count = 0
    for kernel in module.entries:
        for recording in RECORDINGS:
            with pytest.raises(Compared) as found:
                module[kernel].translate(recording)
            count += found.value.args[0]
            assert not found.value.args[1]
    return count


@pytest.fixture
def device():
    with lockstep.Device("H100") as device:
        yield device


def test_ptx_of_every_case(device):
    texts = (kernel_ptx(bundle.cases, f"k{n}") for n, bundle in enumerate(bundles()))
    assert compared(device.load_ptx(HEADER + "".join(texts))) > 500


@pytest.mark.parametrize(
    "program", (*PROGRAMS, *wmma_programs.PROGRAMS, *stack_programs.PROGRAMS), ids=lambda p: p.name
)
def test_ptx_of_programs(device, program):
    assert compared(device.load_ptx(program.ptx)) > 0


@pytest.mark.long
@pytest.mark.parametrize("architecture", machine_code.ARCHITECTURES)
def test_machine_code_of_every_case(device, architecture):
    cubin, _ = machine_code.unpack(architecture)
    assert compared(device.load_cubin(cubin)) > 500


@pytest.mark.long
@pytest.mark.parametrize("path", BINARIES, ids=lambda path: path.stem)
def test_machine_code_of_kernels(device, path):
    for name, code in unpack(path).items():
        module = device.load_ptx(code.decode()) if name == "ptx" else device.load_cubin(code)
        assert compared(module) > 0


@pytest.mark.parametrize("path", SOUTHERN_ISLANDS, ids=lambda path: path.stem)
def test_machine_code_of_southern_islands(device, path):
    assert compared(device.load_gcn(path.read_bytes())) > 0
