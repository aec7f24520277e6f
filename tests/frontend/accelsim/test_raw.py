"""Raw traces: lines in any order, grouped by block and warp."""

import random

import pytest

from lockstep.errors import InputError
from lockstep.frontend.accelsim import raw

GRID = {"grid": (3, 2, 2), "block": (16, 4, 1)}
PLACES = [(x, y, z) for z in range(2) for y in range(2) for x in range(3)]


def stream(place, warp, lines=12):
    """What one warp executes: its own pcs and addresses, so that a mix-up shows."""
    x, y, z = place
    base = 0x1000 * (x + 3 * (y + 2 * z)) + 0x100 * warp
    for k in range(lines):
        yield f"{16 * k:04x} ffffffff 1 R0 LDG.E 1 R2 4 1 {base + k:#x} {4 + warp} 0"


def shuffled(prefix="", seed=1, lines=12):
    """The lines of all warps in a random arrival order that keeps each warp's own."""
    rng = random.Random(seed)
    warps = [(p, w, list(stream(p, w, lines))) for p in PLACES for w in range(2)]
    text = []
    while warps:
        place, warp, rest = rng.choice(warps)
        text.append("{} {} {} {} ".format(*place, warp) + prefix + rest.pop(0) + "\n")
        if not rest:
            warps.remove((place, warp, rest))
    return "".join(text)


@pytest.mark.parametrize("seed", range(3))
def test_lines_are_grouped_by_block_and_warp(trace, build, naive, seed):
    text = build.header("5", **GRID) + shuffled(seed=seed)
    kernel = trace(text, "kernel-1.trace")
    served = naive.expand(kernel)
    assert list(served) == PLACES  # increasing, x fastest
    assert served == naive.comparable(naive.read(text))
    assert served == naive.expand(kernel)  # a second pass is the same


@pytest.mark.parametrize("prefix", ["", "0 0 0 0 0 0 0 "], ids=["plain", "cluster"])
def test_version_6_with_and_without_cluster(trace, build, naive, prefix):
    text = build.header("6", **GRID) + shuffled(prefix).replace(" 0\n", " 0 0 NoVal\n")
    assert naive.expand(trace(text, "kernel-1.trace")) == naive.comparable(naive.read(text))


@pytest.mark.parametrize("tracer", ["1.2", "3"])
def test_old_versions(trace, build, naive, tracer):
    text = build.header(tracer, **GRID) + shuffled().replace(" 0\n", "\n")
    assert naive.expand(trace(text, "kernel-1.trace")) == naive.comparable(naive.read(text))


def test_groups_that_are_too_large_are_split_again(trace, build, naive, monkeypatch):
    monkeypatch.setattr(raw, "GROUPS", 2)
    monkeypatch.setattr(raw, "GROUP_BYTES", 3000)
    monkeypatch.setattr(raw, "WINDOW", 1000)
    monkeypatch.setattr(raw, "_SPOOL", 100)
    text = build.header("5", **GRID) + shuffled(lines=20)
    assert naive.expand(trace(text, "kernel-1.trace")) == naive.comparable(naive.read(text))


def one_block(*lines):
    return "".join(f"0 0 0 0 {line}\n" for line in lines)


SHARED = "0010 ffffffff 0 LDGSTS.E 2 R1 R2 4 1 0x10 4 0"
GLOBAL = "0010 ffffffff 0 LDGSTS.E 2 R1 R2 4 1 0x7f0010 4 0"
BARRIER = "0020 ffffffff 0 ARRIVES.LDGSTSBAR.64 1 R1 0 0"


def test_of_two_ldgsts_lines_the_global_one_counts(trace, build, naive):
    text = build.header() + one_block(SHARED, GLOBAL, BARRIER, SHARED, GLOBAL)
    ((lines,),) = (warps.values() for warps in naive.expand(trace(text, "k.trace")).values())
    assert [line[2].split(".")[0] for line in lines] == ["LDGSTS", "ARRIVES", "LDGSTS"]
    assert lines[0][3][0] == lines[2][3][0] == 0x7F0010


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ([SHARED, GLOBAL, SHARED], "line 19"),
        ([SHARED, BARRIER, GLOBAL], "line 18"),
        ([SHARED, GLOBAL.replace("0010", "0030", 1)], "line 18"),
    ],
)
def test_half_an_ldgsts_is_refused(trace, build, lines, where):
    with pytest.raises(InputError, match="LDGSTS") as caught:
        list(trace(build.header() + one_block(*lines), "k.trace").ctas())
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("3 0 0 0 0010 ffffffff 0 NOP 0 0 0", "outside the grid (3, 2, 2)"),
        ("0 0 -1 0 0010 ffffffff 0 NOP 0 0 0", "outside the grid"),
        ("0 0 0 2 0010 ffffffff 0 NOP 0 0 0", "expected a warp from 0 to 1, found 2"),
        ("0 0 ffffffff 0 NOP 0 0 0", "expected 'x y z warp' before the pc"),
        ("#BEGIN_TB", "expected 'x y z warp' before the pc, found '#BEGIN_TB'"),
        ("0 0 0 0 0010 ffffffff 0 NOP 0 0", "expected an immediate"),
        ("0 0 0 0 001g ffffffff 0 NOP 0 0", "expected a pc of 1 to 8 hex digits, found '001g'"),
        ("0 0 0 0 0010 ffffffff 0 NOP 0 0 0" + " " * 300000, "expected lines of less than 262144"),
        ("0 0 0 0", "expected 'x y z warp' before the pc"),
    ],
)
def test_malformed_lines_are_named_by_their_place_in_the_file(trace, build, line, expected):
    text = build.header("5", **GRID) + shuffled()
    lines = text.split("\n")
    lines.insert(100, line)
    with pytest.raises(InputError) as caught:
        list(trace("\n".join(lines), "k.trace").ctas())
    assert expected in caught.value.message
    assert caught.value.where == "line 101"


def test_what_lacks_is_named(trace, build):
    lines = (build.header("5", **GRID) + shuffled()).split("\n")
    block = [line for line in lines if not line.startswith("2 1 0")]
    with pytest.raises(InputError, match=r"expected 12 thread blocks .* found 11"):
        list(trace("\n".join(block), "k.trace").ctas())
    warp = [line for line in lines if not line.startswith("2 1 0 1")]
    with pytest.raises(InputError, match="thread block 2,1,0 has no line of warp 1"):
        list(trace("\n".join(warp), "k.trace").ctas())
    with pytest.raises(InputError, match="truncated: its last line is not complete"):
        list(trace("\n".join(lines)[:-3], "k.trace").ctas())


def test_huge_grids_cost_nothing(trace, build):
    header = build.header(grid=(2**31 - 1, 65535, 65535))
    line = "2147483646 65534 65534 0 0010 ffffffff 0 EXIT 0 0 0\n"
    with pytest.raises(InputError, match="found 1"):
        list(trace(header + line, "k.trace").ctas())
