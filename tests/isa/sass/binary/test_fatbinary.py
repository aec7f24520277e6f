import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from lockstep.errors import InputError
from lockstep.isa.sass.binary import (
    Image,
    best_image,
    images_of,
    objects_of,
    read_cubin,
    read_images,
)

HERE = Path("x.fatbin")


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("scale_zstd.fatbin", {("cubin", 75), ("cubin", 80), ("ptx", 75)}),
        ("scale_lz4.fatbin", {("cubin", 86), ("ptx", 89)}),
        ("scale.o", {("cubin", 80)}),
        ("scale_sm70.cubin", {("cubin", 70)}),
        ("scale_sm90.cubin", {("cubin", 90)}),
    ],
)
def test_images_are_found_and_expanded(fixtures, name, contents):
    images = read_images(fixtures / name)
    assert {(i.kind, i.architecture) for i in images} == contents
    for image in images:
        if image.kind == "ptx":
            assert b".visible .entry _Z5scaleIfEvPT_sd(" in image.data
            assert f".target sm_{image.architecture}".encode() in image.data
        else:
            assert read_cubin(image.data, HERE).architecture == image.architecture


def test_containers_are_told_apart(fixtures):
    first = (fixtures / "scale_zstd.fatbin").read_bytes()
    found = objects_of(first + bytes(8) + (fixtures / "scale_lz4.fatbin").read_bytes(), HERE)
    kinds = [{(i.kind, i.architecture) for i in images} for images in found]
    assert kinds == [{("cubin", 75), ("cubin", 80), ("ptx", 75)}, {("cubin", 86), ("ptx", 89)}]


IMAGES = [
    Image("cubin", 75, b""),
    Image("cubin", 80, b""),
    Image("cubin", 86, b""),
    Image("ptx", 80, b""),
]


@pytest.mark.parametrize(
    ("architecture", "chosen"),
    [
        (75, ("cubin", 75)),
        (80, ("cubin", 80)),
        (86, ("cubin", 86)),
        (89, ("cubin", 86)),  # code of an earlier GPU of the same major version
        (90, ("ptx", 80)),  # only PTX runs on a later one
    ],
)
def test_the_best_image_is_what_the_driver_would_load(architecture, chosen):
    best = best_image(IMAGES, architecture)
    assert (best.kind, best.architecture) == chosen


def test_there_may_be_nothing_to_run():
    assert best_image(IMAGES, 70) is None


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="neither a cubin nor a fat binary"):
        images_of(b"#!/bin/sh\n", HERE)
    with pytest.raises(InputError, match="cannot read"):
        read_images(tmp_path / "nothing")


def test_a_program_without_gpu_code_is_told_so(fixtures):
    renamed = (fixtures / "scale.o").read_bytes().replace(b".nv_fatbin", b".no_fatbin")
    with pytest.raises(InputError, match="no code for GPUs"):
        images_of(renamed, HERE)


def test_what_a_program_was_linked_from_is_not_its_code(fixtures, tmp_path):
    cc = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if cc is None:
        pytest.skip("needs a C compiler, and there is none")
    inputs, linked = fixtures / "scale_lz4.fatbin", fixtures / "scale_zstd.fatbin"
    text = ""
    for section, file in (("__nv_relfatbin", inputs), (".nv_fatbin", linked)):
        text += f'.section {section}, "a"\n.balign 8\n.incbin "{file}"\n'
        (tmp_path / "code.s").write_text(text)
        subprocess.run([cc, "-c", "code.s", "-o", "code.o"], cwd=tmp_path, check=True)
        assert read_images(tmp_path / "code.o") == read_images(file)


def test_a_truncated_fat_binary_is_refused(fixtures):
    data = (fixtures / "scale_zstd.fatbin").read_bytes()
    for end in range(5, len(data), 311):
        with pytest.raises(InputError):
            images_of(data[:end], HERE)


@pytest.mark.parametrize("name", ["scale_zstd.fatbin", "scale_lz4.fatbin"])
def test_hostile_expansions_are_bounded(fixtures, name):
    data = bytearray((fixtures / name).read_bytes())
    place = 16
    while place + 64 <= len(data):
        header, size = struct.unpack_from("<4xIQ", data, place)
        if data[place + 41] & 0xA0:  # compressed
            struct.pack_into("<Q", data, place + 56, 1 << 50)
        place += header + size
    with pytest.raises(InputError, match="expands to"):
        images_of(bytes(data), HERE)


@pytest.mark.parametrize("name", ["scale_zstd.fatbin", "scale_lz4.fatbin", "scale.o"])
def test_damaged_fat_binaries_are_refused_or_read(fixtures, name):
    data = (fixtures / name).read_bytes()
    chance = random.Random(name)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 3))):
            damaged[chance.randrange(len(data))] = chance.randrange(256)
        try:
            for image in images_of(bytes(damaged), HERE):
                if image.kind == "cubin":
                    read_cubin(image.data, HERE)
        except InputError as error:
            assert "x.fatbin" in str(error)


def test_a_compressed_section_is_refused(fixtures):
    """What it expands to may be of any size."""
    data = bytearray((fixtures / "scale.o").read_bytes())
    (table,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
    for header in range(table, table + count * 64, 64):
        (flags,) = struct.unpack_from("<Q", data, header + 8)
        struct.pack_into("<Q", data, header + 8, flags | 1 << 11)
    with pytest.raises(InputError, match=r"x\.fatbin: damaged program: .*compressed"):
        images_of(bytes(data), HERE)
