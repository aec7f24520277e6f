"""The list of kernels and copies."""

import pytest

from lockstep.errors import InputError
from lockstep.frontend.accelsim.kernelslist import ListedLaunch, read_list
from lockstep.workload import MemoryCopy


@pytest.fixture
def listed(tmp_path):
    """Write a list beside two traces and read it."""
    (tmp_path / "kernel-1.traceg").touch()
    (tmp_path / "kernel-2-ctx_0x55.traceg.xz").touch()

    def read(text):
        (tmp_path / "kernelslist.g").write_bytes(text.encode())
        return read_list(tmp_path / "kernelslist.g")

    return read


def test_copies_and_kernels_in_order(listed, tmp_path):
    commands = listed(
        "MemcpyHtoD,0x00007fc841500000,32768\nkernel-1.traceg\r\n\nMemcpyDtoH,0x10,4\n"
        "cudaMalloc,0x10,4\nMemcpyHtoD,ffffffffffffffff,1\nkernel-2-ctx_0x55.traceg.xz"
    )
    assert commands == [
        MemoryCopy(0x7FC841500000, 32768),
        ListedLaunch(tmp_path / "kernel-1.traceg", 2),
        MemoryCopy(-1, 1),
        ListedLaunch(tmp_path / "kernel-2-ctx_0x55.traceg.xz", 7),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kernel-9.traceg", "there is no file 'kernel-9.traceg' beside the list"),
        ("kernel\0", "there is no file"),
        ("MemcpyHtoD,0x10", "expected 'MemcpyHtoD,0x<address>,<bytes>'"),
        ("MemcpyHtoD,0xg,4", "expected 'MemcpyHtoD"),
        ("MemcpyHtoD,0x10,99999999999999999", "expected 'MemcpyHtoD"),
        ("MemcpyHtoD,0x10,-4", "expected 'MemcpyHtoD"),
        ("MemcpyHtoE,0x10,4", "expected a CUDA call"),
        ("lernel-1.traceg", "expected a CUDA call or a trace file whose name starts"),
        ("0x10", "expected a CUDA call"),
    ],
)
def test_bad_lines(listed, line, expected):
    with pytest.raises(InputError) as caught:
        listed("kernel-1.traceg\n" + line + "\n")
    assert caught.value.where == "line 2"
    assert expected in caught.value.message


def test_a_list_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_list(tmp_path / "kernelslist.g")
