"""Kernel binaries: what is read of them, and how damage is refused."""

import os
import random
import struct
from collections import Counter
from pathlib import Path

import pytest

from cal_files import DICTIONARY, NOTE, Source, binary, read_source
from lockstep.errors import InputError
from lockstep.isa.gcn.container import read, read_file
from lockstep.isa.gcn.metadata import KernelArgument, Sampler
from lockstep.isa.gcn.notes import UserElement

BINARIES = os.environ.get("LOCKSTEP_SDK_BINARIES")
END = struct.pack("<I", 0xBF810000)
METADATA = """\
;kernel:first
;pointer:out:float:1:1:0:uav:11:4:RW:0:0
;pointer:block:u32:1:1:16:hl:1:16:RW:0:0
;pointer:table:float:1:1:32:hc:12:16:RO:0:0
;value:n:u32:2:1:48
;value:s:struct:112:1:64
;image:picture:2D:RO:3:1:176
;sampler:unknown_22:0:1:22
;sampler:given:1:0:0
;memory:hwlocal:1024
;cws:16:8:1
;reflection:0:float*
;reflection:3:uint2
;user:23:0:2:2
;user:2:1:8:4
;groups:xz
;items:2
;vgprs:84
;sgprs:40
;kernel:second
;data:2:3f800000 40000000
"""


def small():
    kernels, data = read_source(METADATA)
    return binary([(kernel, END * (k + 1)) for k, kernel in enumerate(kernels)], data)


def test_kernels_and_constants_are_found():
    found = read(small(), "k.bin")
    assert list(found.kernels) == ["first", "second"]
    assert [kernel.code for kernel in found.kernels.values()] == [END, END * 2]
    assert found.constants == {2: struct.pack("<2f", 1, 2)}


def test_what_the_hardware_is_set_to():
    kernel = read(small(), "k.bin").kernels["first"]
    assert (kernel.vgprs, kernel.sgprs, kernel.float_mode) == (84, 40, 0xC0)
    assert (kernel.user_sgprs, kernel.group_ids, kernel.item_ids) == (12, (True, False, True), 2)
    assert (kernel.lds_bytes, kernel.required_size) == (1024, (16, 8, 1))
    assert kernel.user_elements == (UserElement(23, 0, 2, 2), UserElement(2, 1, 8, 4))
    assert kernel.constant_buffers == {2: 16, 1: 96, 0: 240}
    assert kernel.uavs == (11,)
    other = read(small(), "k.bin").kernels["second"]
    assert (other.user_elements, other.lds_bytes, other.required_size) == ((), 0, None)


def test_arguments():
    kernel = read(small(), "k.bin").kernels["first"]
    assert kernel.arguments == (
        KernelArgument("pointer", "out", "float", 1, 0, "uav", 11, 4, "RW", "float*"),
        KernelArgument("pointer", "block", "u32", 1, 16, "hl", 1, 16, "RW"),
        KernelArgument("pointer", "table", "float", 1, 32, "hc", 12, 16, "RO"),
        KernelArgument("value", "n", "u32", 2, 48, declared="uint2"),
        KernelArgument("value", "s", "struct", 112, 64),
        KernelArgument("image", "picture", "2D", 1, 176, "", 3, 0, "RO"),
        KernelArgument("sampler", "given", "", number=1),
    )
    assert kernel.samplers == (Sampler("unknown_22", 0, 22),)
    assert [a.bytes for a in kernel.arguments] == [0, 0, 0, 8, 112, 0, 0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (";value:n:u32:1:1", "expected 6 parts between colons, but there are 5"),
        (";value:n:u32:one:1:0", "expected a number, not 'one'"),
        (";value:n:u32:1:1:4294967296", "4294967296 has more than 32 bits"),
        (";value:n:u32:1:1:٣", "expected a number, not"),
        (";pointer:p:u32:1:1:0:here:1:4:RW:0:0", "expected one of uav, hl, hc, c, not 'here'"),
        (";pointer:p:u32:1:1:0:uav:1:4:XX:0:0", "expected one of RW, RO, WO, not 'XX'"),
        (";reflection:0:uint", "there are 0 arguments"),
        (";cws:1:2", "expected 4 parts"),
    ],
)
def test_metadata_that_says_nothing_is_told_with_its_place(line, message):
    data = binary([(Source("k", metadata=[line]), END)])
    with pytest.raises(InputError, match="the metadata") as refused:
        read(data, "k.bin")
    assert message in str(refused.value)
    place = int(refused.value.where.removeprefix("byte "))
    assert data[place:].startswith(line.encode())


def test_a_file_of_another_machine_is_refused():
    data = bytearray(small())
    data[18:20] = (190).to_bytes(2, "little")
    with pytest.raises(InputError, match=r"byte 18: machine 0xbe; .* have 0x3fd"):
        read(bytes(data), "k.bin")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (struct.pack("<2I", 26, 4), struct.pack("<2I", 27, 4), "no code for Tahiti"),
        (struct.pack("<I", DICTIONARY), bytes(4), "no code for Tahiti"),
        (b"ATI CAL\0", b"ATI CAN\0", "expected a note of ATI CAL"),
        (struct.pack("<2I", 0x80001041, 84), struct.pack("<2I", 0x80001041, 257), "at most 256"),
        (struct.pack("<2I", 0x80001042, 40), struct.pack("<2I", 0x80001042, 105), "and 104 are"),
        (struct.pack("<2I", 0x80001000, 2), struct.pack("<2I", 0x80001000, 17), "at most 16"),
        (b"__OpenCL_first_metadata", b"__OpenCL_fjrst_metadata", "first has no metadata"),
        (b"__OpenCL_", b"__OpenGL_", "there is no kernel in it"),
        (b".strtab", b".strtob", "there is no section .strtab"),
    ],
)
def test_what_is_missing_or_too_much_is_told(old, new, message):
    data = small()
    assert old in data
    with pytest.raises(InputError) as refused:
        read(data.replace(old, new), "k.bin")
    assert message in str(refused.value)


def test_limits_are_pinned_from_below():
    data = small()
    for old, new in ((84, 256), (40, 104)):
        address = 0x80001041 if old == 84 else 0x80001042
        data = data.replace(struct.pack("<2I", address, old), struct.pack("<2I", address, new))
    kernel = read(data, "k.bin").kernels["first"]
    assert (kernel.vgprs, kernel.sgprs) == (256, 104)


def test_every_prefix_is_refused_with_its_place():
    data = small()
    for size in range(len(data)):
        with pytest.raises(InputError) as refused:
            read(data[:size], "k.bin")
        assert str(refused.value).startswith("k.bin, byte ")
        assert "\n" not in str(refused.value)


def test_random_damage_is_read_or_refused():
    chance, data, told = random.Random(11), small(), Counter()
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 2, 5))):
            damaged[chance.randrange(len(damaged))] = chance.choice((0, 1, 4, 127, 255))
        try:
            read(bytes(damaged), "k.bin")
            told["read"] += 1
        except InputError as refused:
            assert str(refused).startswith("k.bin")
            told["refused"] += 1
    assert min(told.values()) > 300


def test_symbols_that_overlap_do_not_multiply_the_file():
    """Ten thousand constant buffers, all of which are the same bytes of a large section."""
    data = {number: b"" for number in range(2, 10_000)} | {1: bytes(100_000)}
    whole = bytearray(binary([(Source("k"), END)], data))
    for start in range(0, len(whole) - 16):
        size, kind = struct.unpack_from("<IB", whole, start + 8)
        if size == 0 and kind == 1 and whole[start + 14 : start + 16] == b"\4\0":
            struct.pack_into("<2I", whole, start + 4, 0, 100_000)
    with pytest.raises(InputError, match="they overlap"):
        read(bytes(whole), "k.bin")


def test_many_segments_are_not_each_read_to_their_end():
    """Only the first segment of notes and the first dictionary count."""
    data = small()
    inner = data.index(b"\x7fELF", 4)
    (start,) = struct.unpack_from("<I", data, inner + 28)
    kinds = [struct.unpack_from("<I", data, inner + start + 32 * k)[0] for k in range(3)]
    assert kinds[:2] == [DICTIONARY, NOTE]
    changed = bytearray(data)
    changed[inner + start + 64 : inner + start + 96] = data[inner + start + 32 : inner + start + 64]
    assert read(bytes(changed), "k.bin") == read(data, "k.bin")


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_file(tmp_path / "k.bin")


@pytest.mark.skipif(not BINARIES, reason="LOCKSTEP_SDK_BINARIES names no folder of binaries")
def test_the_binaries_of_the_sdk():
    files = {file.name: read_file(file) for file in sorted(Path(BINARIES).glob("*_Kernels.bin"))}
    kernels = [kernel for found in files.values() for kernel in found.kernels.values()]
    assert (len(files), len(kernels)) == (31, 54)
    assert {kernel.float_mode for kernel in kernels} == {0xC0}
    assert (min(k.vgprs for k in kernels), max(k.vgprs for k in kernels)) == (3, 176)
    assert (min(k.sgprs for k in kernels), max(k.sgprs for k in kernels)) == (14, 76)
    assert sum(k.required_size is not None for k in kernels) == 1
    assert sum(len(k.samplers) for k in kernels) == 5
    assert sum(any(a.kind == "image" for a in k.arguments) for k in kernels) == 5
    transpose = files["MatrixTranspose_Kernels.bin"].kernels["matrixTranspose"]
    assert [(a.name, a.space, a.offset) for a in transpose.arguments][:3] == [
        ("output", "uav", 0), ("input", "uav", 16), ("block", "hl", 32),
    ]  # fmt: skip
