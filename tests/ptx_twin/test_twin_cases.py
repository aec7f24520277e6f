"""The table of cases: complete, unambiguous, and PTX that NVIDIA's assembler takes."""

import shutil
import subprocess

import pytest

from lockstep.isa.ptx.parser import parse
from ptx_twin import stack_programs, wmma_programs
from ptx_twin.cases import all_cases, bundles
from ptx_twin.generator import HEADER, kernel_ptx, single_instruction_ptx
from ptx_twin.programs import PROGRAMS
from ptx_twin.values import edges, rows_of

ASSEMBLER = shutil.which("ptxas")


def assemble(text, folder):
    source = folder / "k.ptx"
    source.write_text(text)
    command = [ASSEMBLER, "-O0", "-arch=sm_90", str(source), "-o", str(folder / "k.cubin")]
    return subprocess.run(command, capture_output=True, text=True).stderr


@pytest.mark.skipif(not ASSEMBLER, reason="needs ptxas")
def test_the_assembler_takes_every_case(tmp_path):
    kernels = [kernel_ptx(bundle.cases, f"k{i}") for i, bundle in enumerate(bundles())]
    messages = assemble(HEADER + "".join(kernels), tmp_path).splitlines()
    assert [m for m in messages if "; info" not in m] == []


@pytest.mark.long
@pytest.mark.skipif(not ASSEMBLER, reason="needs ptxas")
@pytest.mark.parametrize(
    "program",
    (*PROGRAMS, *wmma_programs.PROGRAMS, *stack_programs.PROGRAMS),
    ids=lambda program: program.name,
)
def test_the_assembler_takes_every_program(program, tmp_path):
    assert "error" not in assemble(program.ptx, tmp_path)


def test_case_names_are_unique():
    names = [case.name for case in all_cases()]
    assert len(set(names)) == len(names)


@pytest.mark.long
def test_every_case_executes_its_instruction():
    for case in all_cases():
        instruction = case.name.split(" ")[0]
        if instruction.startswith(("ld.b", "ld.u", "ld.s", "ld.f", "isspacep")):
            continue  # named after the space that a generic address points to
        names = [i.name for i in parse(single_instruction_ptx(case)).functions["k"].instructions]
        assert instruction in names, case.name


def test_operands_hold_every_edge():
    case = next(case for case in all_cases() if case.name == "sqrt.rn.f32")
    assert set(edges("f32")) <= {row[0] for row in rows_of(case)}


def test_operands_are_the_same_every_time():
    case = all_cases()[0]
    assert rows_of(case) == rows_of(case)
