import re
import shutil
from pathlib import Path

import pytest

from cal_files import assemble
from lockstep.isa.gcn.container import read_file

FIXTURES = Path(__file__).parents[1] / "isa/sass/binary/fixtures"
KERNELS = Path(__file__).parents[2] / "examples/southern-islands/kernels"
LINE = re.compile(r"  [0-9a-f]{4,} B[0-5-]{6}:R[0-5-]:W[0-5-]:[Y-]:S\d\d  (@!?U?P\S+ )?[A-Z]")


def test_a_listing_has_addresses_control_bits_and_instructions(call):
    done = call("disasm", FIXTURES / "scale_sm70.cubin", "--kernel", "scale<float>")
    assert done.exit_code == 0
    first, title, needs, *code = done.stdout.splitlines()
    assert first.startswith("cubin sm_70, ")
    assert title == "kernel void scale<float>(float*, short, double)"
    assert "256 B shared" in needs
    assert "parameters 8 + 2 + 8 B at c[0x0][0x160]" in needs
    assert all(LINE.match(line) for line in code)
    assert any("LDG.E.SYS" in line for line in code)


def test_encodings_are_printed_on_demand(call):
    done = call("disasm", FIXTURES / "scale_sm90.cubin", "--kernel", "plain", "--words")
    assert re.search(r" EXIT +[0-9a-f]{32}$", done.stdout, re.MULTILINE)


def test_an_architecture_is_chosen(call):
    done = call("disasm", FIXTURES / "scale_zstd.fatbin", "--arch", "sm_80", "--list")
    assert done.stdout.splitlines()[0].startswith("cubin sm_80")
    assert "sm_75" not in done.stdout
    everything = call("disasm", FIXTURES / "scale_zstd.fatbin", "--list").stdout
    assert "ptx sm_75" in everything
    assert "instructions" in everything


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arch", "sm_61"], "no code for sm_61; there is sm_90"),
        (["--arch", "Hopper"], "no architecture; expected for example sm_80"),
        (["--kernel", "absent"], "no function is named 'absent'; --list says what there is"),
    ],
)
def test_bad_arguments_are_one_line(call, arguments, message):
    done = call("disasm", FIXTURES / "scale_sm90.cubin", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_file_without_code_is_bad_input(call):
    done = call("disasm", FIXTURES / "scale.cu")
    assert done.exit_code == 2
    assert "neither a cubin nor a fat binary" in done.stderr


def test_a_kernel_of_amd_is_assembly_text(call):
    done = call("disasm", KERNELS / "vector_add.bin")
    assert done.exit_code == 0
    title, *lines = done.stdout.splitlines()
    assert title == "; kernel vector_add"
    comments = [line for line in lines if line.startswith(";")]
    code = [line for line in lines if line.startswith("\t")]
    assert len(comments) == 2 and "5 VGPRs, 34 SGPRs, 0 B LDS" in comments[0]
    assert code[-1].split() == ["s_endpgm", ";", code[-1].split()[-1]]
    (label,) = [line for line in lines if line.endswith(":")]
    assert any(f"s_cbranch_execz {label[:-1]} " in line for line in code)


def test_encodings_of_amd_are_printed_on_demand(call):
    done = call("disasm", KERNELS / "vector_add.bin", "--words", "--arch", "tahiti")
    assert re.search(r"\ts_endpgm +; [0-9a-f]{4}: bf810000$", done.stdout, re.MULTILINE)
    listed = call("disasm", KERNELS / "vector_add.bin", "--list").stdout
    assert re.fullmatch(r"kernel vector_add, \d+ bytes\n", listed)


@pytest.mark.skipif(not shutil.which("llvm-mc"), reason="needs llvm-mc (apt install llvm)")
@pytest.mark.parametrize("name", sorted(path.stem for path in KERNELS.glob("*.bin")))
def test_what_is_printed_of_amd_is_assembled_again(call, name):
    text = call("disasm", KERNELS / f"{name}.bin").stdout
    kernels = read_file(KERNELS / f"{name}.bin").kernels.values()
    assert assemble(text) == b"".join(kernel.code for kernel in kernels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arch", "sm_80"], "no code for sm_80; there is tahiti"),
        (["--kernel", "absent"], "no function is named 'absent'; --list says what there is"),
    ],
)
def test_bad_arguments_for_amd_are_one_line(call, arguments, message):
    done = call("disasm", KERNELS / "vector_add.bin", *arguments)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


def test_a_word_of_amd_that_is_no_instruction_is_told_with_its_place(call, tmp_path):
    data = (KERNELS / "vector_add.bin").read_bytes()
    (code,) = (kernel.code for kernel in read_file(KERNELS / "vector_add.bin").kernels.values())
    place = data.index(code)
    damaged = data[: place + 4] + b"\xff\xff\xff\xff" + data[place + 8 :]
    (tmp_path / "k.bin").write_bytes(damaged)
    done = call("disasm", "k.bin")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "k.bin, kernel vector_add: byte 0x4 of the code: 0xffffffff begins no" in done.stderr
