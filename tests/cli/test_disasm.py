import re
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "isa/sass/binary/fixtures"
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
