"""Kernels with planted mistakes, compiled by nvcc: the same findings in PTX and machine code."""

import re
from pathlib import Path

import numpy as np
import pytest

import lockstep

FOLDER = Path(__file__).parent / "checks"
SOURCE = (FOLDER / "planted.cu").read_text()
NAMES = re.findall(r"^KERNEL (\w+)", SOURCE, re.MULTILINE)
CODES = ("planted.ptx", "planted.sm_80.cubin", "planted.sm_90.cubin")
FOUND = {
    "race_sums": {("write_after_read", "x[ME] = block_sum", "float sum = block_sum")},
    "race_histogram": {("write_after_read", "atomicAdd(&bins[x", "x[ME] = bins")},
    "race_flag": {("read_after_write", "through_flag<false>", "through_flag<false>")},
    "race_half": {("read_after_write", "x[ME] = tile[127", "tile[ME] = x[ME]")},
    "race_paths": {("write_after_read", "word = ME", "x[ME] = word")},
    "race_same_word": {("write_after_write", "words[ME / 2] =", "words[ME / 2] =")},
    "race_copy": {
        ("write_after_read", "copy_word(&tile", "x[ME] = tile[(ME + 40)"),
        ("read_after_write", "x[ME] = tile[(ME + 40)", "copy_word(&tile"),
    },
    "memory_past": {("illegal_address", "x[ME + 1] = ME", "")},
    "memory_before": {("illegal_address", "x[ME] = x[(int)ME - 1]", "")},
    "memory_misaligned": {("misaligned", "*(int *)((char *)x", "")},
    "memory_shared": {("shared_out_of_bounds", "room[ME] = x[ME]", "")},
    "memory_vector": {("illegal_address", "int4 four", "")},
    "init_shared": {("unwritten_read", "x[ME] = tile[ME]", "")},
    "init_bytes": {("unwritten_read", "((int *)tile)[ME]", "")},
    "init_next": {("unwritten_read", "x[ME + 128]", "")},
}
CHECKS = {"race": "races", "memory": "memory", "init": "init", "right": "all"}


def line(place):
    """The line of the kernel from which a place comes, however deep it was inlined."""
    own = [number for file, number in place.sources if Path(file).name == "planted.cu"]
    return SOURCE.splitlines()[own[-1] - 1]


def findings(code, name):
    with lockstep.Device("H100", check=CHECKS[name.partition("_")[0]]) as device:
        load = device.load_ptx if code.endswith(".ptx") else device.load_cubin
        x = device.empty(256 if name == "init_next" else 128, np.int32)
        x[:128].copy_from(np.arange(128))
        load(FOLDER / code)[name][1, 128, 256 if name == "memory_shared" else 0](x)
        return list(device.findings)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("code", CODES)
def test_what_is_planted_is_found_and_nothing_else(code, name):
    expected, found = sorted(FOUND.get(name, ())), findings(code, name)
    texts = [(f.kind, line(f.place), line(f.other_place) if f.other_place else "") for f in found]
    assert len(texts) == len(expected), [str(f) for f in found]
    for (kind, *lines), (wanted, *parts) in zip(sorted(texts), expected):
        assert kind == wanted
        assert all(part in text for part, text in zip(parts, lines)), lines


def test_every_planted_mistake_is_expected():
    assert set(FOUND) == {name for name in NAMES if not name.startswith("right_")}
