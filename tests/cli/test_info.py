import pytest


def test_info_says_what_is_in_a_trace(call, trace):
    done = call("info", trace)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("tiny: 2 kernels, 0 copies")
    assert lines[1] == "112 warp instructions, 3,584 thread instructions"
    assert any(line.split()[:4] == ["1", "first", "4", "64"] for line in lines)
    opcodes = {line.split()[0]: line.split()[1] for line in lines if "█" in line}
    assert opcodes == {"LDG": "48", "FFMA": "48", "EXIT": "16"}


def test_a_missing_trace_is_bad_input(call):
    done = call("info", "nothing")
    assert done.exit_code == 2
    assert done.stderr.startswith("lockstep: nothing: ")


@pytest.mark.parametrize("command", [["info"], ["simulate"], ["convert", "out.lst"]])
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("app", b"\x7fELF\x02\x01\x01\0", "no trace but a binary: `lockstep run` executes"),
        ("kernel.cu", b"int main() {}", "no trace but the text of a program: `lockstep run`"),
        ("text", b"hello", "expected at least one kernel"),
        ("empty/", b"", "expected kernelslist.g or one trace file in the directory, found 0"),
    ],
)
def test_what_is_no_trace_is_told_in_one_line(call, tmp_path, command, name, content, message):
    if name.endswith("/"):
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(content)
    done = call(command[0], name, *command[1:])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr and name.rstrip("/") in done.stderr


def test_info_says_what_a_kernel_of_amd_needs(call, repository):
    done = call("info", repository / "examples/southern-islands/kernels/vector_add.bin")
    assert done.exit_code == 0
    first, *lines = done.stdout.splitlines()
    assert first == "vector_add.bin: 1 kernel for Southern Islands, 2.25 kB"
    assert lines[0].startswith("kernel vector_add: ") and lines[0].endswith(" B of code")
    assert "5 VGPRs, 34 SGPRs, 0 B LDS, work-groups of any size" in lines[1]
    assert "  argument 3: uint n, at byte 48 of constant buffer 1" in lines
    assert any("__global float* a, UAV 10, offset at byte 0" in line for line in lines)
    assert "  s[2:3]: table of UAVs" in lines
    assert "  s[4:7]: descriptor of constant buffer 0" in lines
    assert "  constant buffers: 0 of 240 B, 1 of 64 B" in lines
    assert "  UAVs: 10, 11, 12" in lines


def test_a_damaged_kernel_of_amd_is_bad_input(call, repository, tmp_path):
    data = (repository / "examples/southern-islands/kernels/vector_add.bin").read_bytes()
    (tmp_path / "k.bin").write_bytes(data[:-100])
    for command in ("info", "disasm"):
        done = call(command, "k.bin")
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert "k.bin, byte 32: the section table has" in done.stderr
        assert "truncated?" in done.stderr
