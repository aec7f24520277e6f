"""Thread blocks and warps: what a section may look like, and what is refused."""

import numpy as np
import pytest

from lockstep.errors import InputError

NOP = "0010 ffffffff 0 NOP 0 0 0"
TWO_WARPS = {"grid": (2, 1, 1), "block": (64, 1, 1)}
GOOD = {(0, 0, 0): [[NOP], [NOP, NOP]], (1, 0, 0): [[NOP, NOP, NOP], []]}


def counts(kernel):
    return [(cta.index, cta.warps["warp_instructions"].tolist()) for cta in kernel.ctas()]


def test_blocks_come_in_file_order(trace, build):
    swapped = dict(reversed(GOOD.items()))
    kernel = trace(build.header(**TWO_WARPS) + build.body(swapped))
    assert counts(kernel) == [((1, 0, 0), [3, 0]), ((0, 0, 0), [1, 2])]


def test_warps_may_come_in_any_order(trace, build):
    text = build.header(**TWO_WARPS) + build.body(GOOD)
    first = text.replace("warp = 0\ninsts = 1\n" + NOP, "warp = 9")
    first = first.replace(
        "warp = 1\ninsts = 2", "warp = 0\ninsts = 1\n" + NOP + "\nwarp = 1\ninsts = 2", 1
    )
    assert counts(trace(first.replace("warp = 9\n\n", "")))[0] == ((0, 0, 0), [1, 2])


def test_blank_lines_and_the_last_newline_do_not_matter(trace, build):
    text = build.header(**TWO_WARPS) + build.body(GOOD)
    assert counts(trace(text.replace("\n", "\n\n \t\n").rstrip())) == counts(trace(text))


def test_cluster_lines_of_version_6(trace, build):
    line = NOP + " 0 NoVal"
    cluster = "cluster id = 0,0,0\ncluster cta = 1,0,0\ncluster rank = 1\n"
    text = build.header("6") + build.body({(0, 0, 0): [[line]]}, cluster)
    assert counts(trace(text)) == [((0, 0, 0), [1])]
    with pytest.raises(InputError, match="line 20: expected cluster coordinates"):
        counts(trace(text.replace("id = 0,0,0", "id = 0,0")))
    with pytest.raises(InputError, match="expected an instruction or the next part"):
        counts(trace(text.replace("cluster rank", "cluster tank")))


def test_a_pc_that_begins_with_c_is_no_cluster_line(trace, build):
    line = "c000 ffffffff 0 NOP 0 0 0"
    assert counts(trace(build.header() + build.body({(0, 0, 0): [[line]]}))) == [((0, 0, 0), [1])]


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("thread block = 1,0,0", "thread block = 2,0,0", 34, "lies outside the grid (2, 1, 1)"),
        ("thread block = 1,0,0", "thread block = 0,0,0", 45, "0,0,0 is given twice"),
        ("thread block = 1,0,0", "thread block = 1,0", 34, "coordinates x,y,z"),
        ("thread block = 1,0,0", "thread block = -1,0,0", 34, "outside the grid"),
        ("thread block = 1,0,0", "thread block = 1,0,99999999999999999999", 34, "coordinates"),
        ("thread block = 1,0,0", "", 36, "expected an instruction or the next part"),
        ("warp = 1\ninsts = 2", "warp = 2\ninsts = 2", 25, "a warp from 0 to 1, found 2"),
        ("warp = 1\ninsts = 2", "warp = 0\ninsts = 2", 25, "warp 0 was already given"),
        ("warp = 1\ninsts = 2", "warp = x\ninsts = 2", 25, "expected a warp number"),
        ("insts = 2", "insts = 3", 30, "expected 3 instructions in warp 1 of thread block 0,0,0"),
        ("insts = 2", "insts = 1", 28, "expected 1 instructions in warp 1"),
        ("insts = 2", "insts = 999999999999", 30, "found 2"),
        ("insts = 2", "insts = -2", 26, "expected a number of instructions"),
        ("insts = 2", "inst = 2", 26, "expected an instruction or the next part"),
        ("insts = 2\n", "", 26, "expected an instruction or the next part"),
        ("#BEGIN_TB", "#BEGIN_T", 17, "found '#BEGIN_T'"),
        ("#END_TB", "", 32, "expected an instruction or the next part"),
        ("\nwarp = 1\ninsts = 2\n" + NOP + "\n" + NOP + "\n", "", 25, "lacks warp 1 of its 2"),
    ],
)
def test_malformed_sections(trace, build, old, new, line, expected):
    text = build.header(**TWO_WARPS) + build.body(GOOD)
    assert text.count(old) >= 1
    with pytest.raises(InputError) as caught:
        counts(trace(text.replace(old, new, 1)))
    assert expected in caught.value.message
    assert caught.value.where == f"line {line}"


@pytest.mark.parametrize("lost", range(1, 28))
def test_every_missing_end_is_noticed(trace, build, lost):
    lines = (build.header(**TWO_WARPS) + build.body(GOOD)).rstrip().split("\n")
    with pytest.raises(InputError, match=r"truncated|expected|lacks"):
        counts(trace("\n".join(lines[:-lost]) + "\n"))


def test_a_truncated_file_says_what_lacks(trace, build):
    one = {(0, 0, 0): GOOD[0, 0, 0]}
    with pytest.raises(InputError, match=r"expected 2 thread blocks \(grid \(2, 1, 1\)\), found 1"):
        counts(trace(build.header(**TWO_WARPS) + build.body(one)))


def test_huge_grids_cost_nothing(trace, build):
    kernel = trace(build.header(grid=(2**31 - 1, 65535, 65535)) + build.body({(0, 0, 0): [[NOP]]}))
    with pytest.raises(InputError, match="found 1"):
        counts(kernel)


def test_output_arrays_grow(trace, build):
    spread = " ".join(str(17 * k * k) for k in range(31))
    access = f"0010 ffffffff 1 R0 LDG.E 1 R2 4 2 0x100 {spread} 0"
    lines = [access, "0020 0000000f 0 NOP 0 0 0"] * 1500
    (cta,) = trace(build.header() + build.body({(0, 0, 0): [lines]})).ctas()
    assert len(cta.runs) == 3000 and len(cta.addresses) == 1500 and len(cta.pool) == 48000
    assert np.array_equal(cta.addresses["pool"], 32 * np.arange(1500))


def test_lines_longer_than_the_buffer_are_refused(trace, build):
    text = build.header() + build.body({(0, 0, 0): [[NOP + " " * (1 << 22)]]})
    with pytest.raises(InputError, match=r"line \d+: expected lines of at most 4194304 bytes"):
        counts(trace(text))


def test_blocks_that_straddle_the_buffer(trace, build):
    blocks = {(x, 0, 0): [[NOP] * 900] for x in range(250)}  # 5.8 MB
    kernel = trace(build.header(grid=(250, 1, 1)) + build.body(blocks))
    assert counts(kernel) == [((x, 0, 0), [900]) for x in range(250)]
