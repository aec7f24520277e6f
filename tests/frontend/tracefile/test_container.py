"""The file: no byte of it can change or be missing without an error that says where."""

import struct
import zlib

import pytest
import zstandard

from lockstep.errors import InputError
from lockstep.frontend import tracefile
from lockstep.frontend.tracefile import container
from lockstep.frontend.tracefile.columns import pack_tables


def drain(path):
    """Read everything there is."""
    workload = tracefile.load(path)
    for kernel in workload.kernels:
        list(kernel.ctas())
    return workload


def refused(path):
    """The message with which a file is refused, without its path."""
    with pytest.raises(InputError) as caught:
        drain(path)
    assert str(caught.value).startswith(f"{path}")
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(path))


@pytest.fixture(params=[1 << 16, 16], ids=["kept in memory", "read again"])
def file(request, small, tmp_path, monkeypatch):
    """A small trace file, and one that counts as large."""
    monkeypatch.setattr(container, "KEPT", request.param)
    path = tmp_path / "small.lst"
    del small.commands[2:]
    tracefile.write(small, path)
    return path


def test_every_truncation_is_found(file):
    data = file.read_bytes()
    assert len(data) < 1000
    for n in range(len(data)):
        file.write_bytes(data[:n])
        assert refused(file).startswith(", byte ")


def test_every_flipped_bit_is_found(file):
    data = bytearray(file.read_bytes())
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        file.write_bytes(data)
        assert refused(file).startswith(", byte ")
        data[bit // 8] ^= 1 << bit % 8


def test_bytes_in_between_or_behind_are_found(file):
    data = file.read_bytes()
    for n in (0, 12, 20, len(data) - 24, len(data)):
        file.write_bytes(data[:n] + b"\0" + data[n:])
        refused(file)


def test_only_a_small_file_stays_in_memory(file):
    (kernel,) = tracefile.load(file).kernels
    size = file.stat().st_size
    file.unlink()
    if size <= container.KEPT:
        assert len(list(kernel.ctas())) == 3
    else:
        with pytest.raises(InputError, match="cannot be read: No such file"):
            list(kernel.ctas())


def test_an_unknown_major_version_is_refused_and_a_newer_minor_one_is_read(file):
    whole = container.File(str(file)).index()[0] + pack_tables([[[]] * 2, [[]] * 4, [[]] * 2, [[]]])
    for version in ((1, 9), (4, 0)):
        rewrite(file, version=version)
        stated = ".".join(map(str, version))
        message = f", byte 8: lockstep trace version {stated}; this program reads versions 2 and 3"
        assert refused(file) == message
    later = container.compress(whole + b"what is new")
    rewrite(file, version=(2, 9), raw_size=len(whole) + 11, index=later)
    assert drain(file).name == "small"


def test_other_files_are_told_what_was_expected(tmp_path):
    path = tmp_path / "kernel-1.traceg"
    path.write_text("-kernel name = vecadd\n" * 9)
    assert "expected a lockstep trace" in refused(path)
    assert refused(tmp_path / "nothing.lst") == ": cannot be read: No such file or directory"
    assert "cannot be read" in refused(tmp_path)


def rewrite(path, version=(2, 2), offset=None, raw_size=None, index=None):
    """Change a file so that its checksums still fit."""
    data = path.read_bytes()
    at, size, _, magic = container.FOOTER.unpack(data[-24:])
    head = container.HEADER.pack(container.MAGIC, *version)
    index = data[at:-24] if index is None else index
    at, place = (at, at) if offset is None else (at, offset)
    size = size if raw_size is None else raw_size
    crc = zlib.crc32(head + index + struct.pack("<QI", place, size))
    footer = container.FOOTER.pack(place, size, crc, magic)
    path.write_bytes(head + data[12:at] + index + footer)


@pytest.mark.parametrize("offset", [0, 11, 1 << 20, (1 << 64) - 1])
def test_an_index_outside_the_file_is_refused(offset, file):
    rewrite(file, offset=offset)
    assert "outside the file" in refused(file)


@pytest.mark.parametrize("raw_size", [0, 1, (1 << 30) + 1, (1 << 32) - 1])
def test_a_wrong_size_is_refused_before_unpacking(raw_size, file):
    rewrite(file, raw_size=raw_size)
    assert "expected a Zstandard frame of" in refused(file)


def bomb():
    """A frame that claims more bytes than any machine has."""
    return struct.pack("<IBBQ", zstandard.MAGIC_NUMBER & 0xFFFFFFFF, 0xC0, 0x50, 1 << 60)


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"no frame",
        bomb() + bytes(9),
        zstandard.ZstdCompressor(write_content_size=False).compress(bytes(99)),
        zstandard.ZstdCompressor().compress(bytes(99)) + b"more",
        zstandard.ZstdCompressor().compress(bytes(99))[:-1],
        zstandard.ZstdCompressor().compress(bytes(99)) * 2,
    ],
)
def test_anything_but_one_frame_of_the_stated_size_is_refused(index, file):
    rewrite(file, index=index, raw_size=99)
    assert "expected a Zstandard frame" in refused(file)
