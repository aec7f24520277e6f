"""Blocks that are collected: as if each were read alone, whatever room there is."""

import numpy as np
import pytest

from lockstep.errors import InputError
from lockstep.frontend.accelsim import collecting

LOAD = "0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x1000 4 0"
UNEVEN = (
    "0020 ffffffff 1 R2 LDG.E 1 R4 4 2 0x1000 " + " ".join(str(8 + k % 3) for k in range(31)) + " 0"
)
NOP = "0030 ffffffff 0 NOP 0 0 0"
GRID = {"grid": (6, 1, 1), "block": (64, 1, 1)}


def blocks(count=6):
    """Blocks of different sizes: that of number n has n rounds in its second warp."""
    return {(n, 0, 0): [[NOP], [LOAD, NOP, UNEVEN] * n + [NOP]] for n in reversed(range(count))}


def known(ctas):
    """All that is in CTAs, as plain values."""
    arrays = "warps", "runs", "addresses", "pool"
    return [(cta.index, *(getattr(cta, name).tolist() for name in arrays)) for cta in ctas]


@pytest.mark.parametrize(("most", "room"), [(1, 0), (2, 3), (3, 12), (256, 1 << 14)])
def test_room_does_not_matter(trace, build, monkeypatch, most, room):
    text = build.header(**GRID) + build.body(blocks())
    expected = known(trace(text).ctas())
    assert [index for index, *_ in expected] == list(blocks())
    assert {len(runs) for _, _, runs, *_ in expected} != {len(expected[0][2])}
    monkeypatch.setattr(collecting, "BLOCKS", most)
    monkeypatch.setattr(collecting, "RECORDS", room)
    assert known(trace(text).ctas()) == expected


def test_what_one_block_has_is_not_what_others_have(trace, build):
    ctas = list(trace(build.header(**GRID) + build.body(blocks())).ctas())
    before = known(ctas[1:])
    for array in (ctas[0].warps, ctas[0].runs, ctas[0].addresses, ctas[0].pool):
        array.view(np.uint8)[...] = 255
    assert known(ctas[1:]) == before


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("thread block = 1,0,0", "thread block = 9,0,0", "outside the grid"),
        ("thread block = 1,0,0", "thread block = 2,0,0", "2,0,0 is given twice"),
        ("thread block = 0,0,0\n\nwarp = 0\ninsts = 1\n" + NOP, "x", "found 'x'"),
    ],
)
def test_blocks_before_a_mistake_are_served_first(trace, build, old, new, expected):
    text = build.header(**GRID) + build.body(blocks())
    assert text.count(old) == 1
    served = []
    with pytest.raises(InputError, match=expected):
        served.extend(cta.index for cta in trace(text.replace(old, new)).ctas())
    before = text[: text.index(old)].count("thread block = ")
    assert served == list(blocks())[:before]
