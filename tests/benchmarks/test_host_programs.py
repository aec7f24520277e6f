"""The script that runs the host programs of the built-in kernels from their machine code."""

import shutil
from pathlib import Path

import pytest

from lockstep.isa.sass.binary import images_of

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "host_programs.py"


@pytest.fixture(scope="module")
def script(load_script):
    return load_script(SCRIPT)


def test_a_committed_cubin_takes_the_place_of_a_programs_code(script, tmp_path):
    """A stand-in for a program: two fat binaries between other bytes."""
    fat = script._CONTAINER.pack(script.MAGIC, 1, script._CONTAINER.size, 20000) + bytes(20000)
    small = script._CONTAINER.pack(script.MAGIC, 1, script._CONTAINER.size, 0)
    program = tmp_path / "saxpy"
    program.write_bytes(b"head" + small + b"middle" + fat + b"tail")
    content = script.with_cubin(program, 70).read_bytes()
    assert len(content) == program.stat().st_size
    assert content.startswith(b"head" + small + b"middle") and content.endswith(b"\0tail")
    (image,) = images_of(content[content.index(small) + len(small) + 6 :], program)
    assert (image.kind, image.architecture) == ("cubin", 70)


def test_a_cubin_that_does_not_fit_is_refused(script, tmp_path):
    program = tmp_path / "saxpy"
    program.write_bytes(script._CONTAINER.pack(script.MAGIC, 1, script._CONTAINER.size, 0))
    with pytest.raises(script.LockstepError, match="saxpy: no room for a cubin of"):
        script.with_cubin(program, 70)


@pytest.mark.long
def test_the_table(script, capfd):
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    assert script.main(["gemm_mma", "--arch", "70", "80"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "| program | sm_70 | sm_80 |",
        "| --- | --- | --- |",
        "| gemm_mma | needs a newer GPU | sass |",
        "",
        "from machine code: 1 of 2",
    ]
    assert script.main(["vecadd", "--arch", "70"]) == 0
    assert "| vecadd | sass |" in capfd.readouterr().out
