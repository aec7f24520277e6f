"""Sizes and shapes of accesses; what a wavefront does with scalars and its pc; against NumPy."""

import numpy as np
import pytest

import lockstep
from gcn_twin.programs import KERNELS
from lockstep.errors import LockstepError

LANES, ROWS = 64, 100
lanes = np.arange(LANES)


@pytest.fixture(scope="module")
def words():
    return np.random.default_rng(65).integers(0, 1 << 32, 256, np.uint32)


@pytest.fixture(scope="module")
def rows(words):
    """Function from a file and a kernel to the rows that it writes."""

    def rows(file, kernel):
        with lockstep.Device(memory_bytes=1 << 26) as device:
            out = device.zeros((2 * ROWS, LANES), np.uint32)
            module = device.load_gcn(KERNELS / f"{file}.bin")
            module[kernel][LANES, LANES](device.array(words), out)
            return out.numpy()

    return rows


def check(found, expected):
    for k, (what, values) in enumerate(expected):
        values = np.broadcast_to(np.asarray(values), LANES).astype(np.uint32)
        assert np.array_equal(found[k], values), f"row {k}: {what}"
    assert not found[len(expected) : ROWS].any()


@pytest.mark.long
def test_sizes_and_shapes(rows, words):
    a, b = words[:LANES], words[LANES : 2 * LANES]
    raw, small = words.view(np.uint8), [lanes + k for k in (10, 20, 30, 0xF0)]
    small[3] = np.minimum(small[3], 255)  # the largest number of a byte
    packed = [small[0]]
    for k in (1, 2, 3):
        packed.append(packed[-1] | small[k] << 8 * k)
    pairs = [
        ("read_b64", "ab"), ("read2_b64", "baab"), ("read2st64_b64", "abba"),
        ("wrxchg2st64_b64", "baab"), ("what that left", "abba"),
        ("wrxchg2_b64", "abba"), ("what that left", "baab"), ("read2st64_b32", "ba"),
        ("wrxchg2st64_b32", "ba"), ("what that left", "ab"), ("wrxchg2_b32", "ba"),
        ("what that left", "ab"),
    ]  # fmt: skip
    expected = [(what, {"a": a, "b": b}[which]) for what, order in pairs for which in order]
    expected.append(("write_b16 and read_i16", a.astype(np.int16).astype(np.int32)))
    three = [words[lanes + k] for k in range(3)]
    expected += [(f"load_dwordx3, word {k}", three[k]) for k in range(3)]
    expected += [(f"store_dwordx3, word {k}", word) for k, word in enumerate([*three, 0])]
    for count in (1, 2, 3):
        expected += [(f"load_format of {count}", raw[4 * lanes + k]) for k in range(count)]
    expected += [(f"store_format of {k + 1}", word) for k, word in enumerate(packed)]
    expected.append(("tbuffer_store_format_xyz", packed[2]))
    third = packed[2] & ~0xFF0000 | small[3] << 16
    expected.append(("tbuffer_store_format_x", third))
    check(rows("shapes", "shapes"), expected)


SAVES = {
    "and": lambda s, e: s & e,
    "or": lambda s, e: s | e,
    "xor": lambda s, e: s ^ e,
    "andn2": lambda s, e: s & ~e,
    "orn2": lambda s, e: s | ~e,
    "nand": lambda s, e: ~(s & e),
    "nor": lambda s, e: ~(s | e),
    "xnor": lambda s, e: ~(s ^ e),
}


@pytest.mark.long
def test_scalars_masks_and_branches(rows, words):
    found = rows("scalars", "scalars")
    expected, source, before = [], 0x3C, 0xF0
    for name, function in SAVES.items():
        mask = function(source, before) & (1 << LANES) - 1
        inside = np.array([mask >> lane & 1 for lane in range(LANES)])
        expected.append((f"lanes of {name}", np.where(inside, 7, 3)))
        expected.append((f"what {name} saved", before))
        expected.append((f"SCC of {name}", mask != 0))
    for condition in ("scc0", "scc1", "vccz", "vccnz", "execz", "execnz"):
        expected += [(f"{condition} holds", 1), (f"{condition} does not hold", 2)]
    expected.append(("branch", 1))
    places = [3, 4, 5, 8, 11, 16, 31, 5, 6, 9, 16, 32, 47]
    expected += [(f"scalar load of word {k}", words[k]) for k in places]
    expected += [(f"s_movrels_b64 of word {k}", words[k]) for k in (34, 35)]
    expected += [(f"s_movreld_b64 of word {k}", words[k]) for k in (32, 33)]
    expected.append(("the register that M0 counts from", 16))
    expected.append(("v_movrelsd", np.where((lanes > 1) & (lanes < 6), 14 + lanes, 18)))
    check(found[: len(expected)], expected)
    (passed,) = set(found[len(expected)].tolist())
    assert passed == 10  # instructions from one reading of the clock to the other


def test_a_trap_ends_the_launch():
    with lockstep.Device(memory_bytes=1 << 26) as device:
        module = device.load_gcn(KERNELS / "scalars.bin")
        with pytest.raises(LockstepError, match=r"trap; thread .* s_trap 0x1"):
            module["trap"][LANES, LANES]()
            device.synchronize()
