"""Live points in trace files: what the L2 holds before each kernel, and what they stand for."""

import dataclasses

import numpy as np
import pytest

from lockstep.errors import InputError, WorkloadError
from lockstep.frontend import accelsim, tracefile
from lockstep.frontend.tracefile import container, index, points
from lockstep.frontend.tracefile.columns import Malformed, pack_tables
from lockstep.workload.warm import L2_RUN, LAUNCHED, WarmSet

LAUNCHES = np.array([(0, 7), (5, 1), (0, 1 << 40)], LAUNCHED)
RUNS = [[(1 << 40, 3, 0b1111, 0), (7, 1, 0b0110, 0b0100)], []]


@pytest.fixture
def live(small):
    """The kernels of ``small`` as live points."""
    contents = [_warm(runs, n) for n, runs in zip((2, 3), RUNS)]
    commands = [c for pair in zip(contents, small.kernels) for c in pair]
    return dataclasses.replace(small, commands=commands, points='{"is": "told"}')


def _warm(runs, launches=3):
    return WarmSet(np.array(runs, L2_RUN), LAUNCHES[:launches])


def _decoded(payload, minor=3, major=2):
    return index.decode(payload, 12, (major, minor), lambda kernel, chunks: chunks)[0]


def test_live_points_survive(live, content, naive, tmp_path):
    path = tmp_path / "points.lst"
    tracefile.write(live, path)
    loaded = tracefile.load(path)
    assert content(loaded) == naive.read(path) == content(live)
    assert [c.runs.tolist() for c in loaded.commands[::2]] == RUNS
    assert [len(c.launches) for c in loaded.commands[::2]] == [2, 3]
    assert loaded.points == live.points
    assert path.read_bytes()[8:12] == b"\x02\x00\x03\x00"


def test_the_version_is_the_oldest_that_can_hold_it(live, small):
    assert index.version(small) == container.VERSION
    assert index.version(live) == (2, 3)
    small.kernels[0].warp_size = 64
    assert index.version(small) == container.WIDE
    assert index.version(live) == (3, 1)
    payload = index.encode(live, [[], []])
    assert _decoded(payload, 1, 3).points == live.points
    with pytest.raises(Malformed, match="bytes too many"):
        _decoded(payload, 0, 3)


def test_whoever_knows_no_live_points_reads_the_kernels(live):
    payload = index.encode(live, [[], []])
    with_copies = dataclasses.replace(live, commands=live.kernels, points="")
    assert payload.startswith(index.encode(with_copies, [[], []])), "what is new is behind"


def test_a_content_without_a_kernel_is_refused(live, small):
    for commands in (live.commands[:3], live.commands[1:], [*live.commands, small.commands[0]]):
        with pytest.raises(WorkloadError, match="before each kernel"):
            index.check(dataclasses.replace(live, commands=commands))
    with pytest.raises(WorkloadError, match="with live points alone"):
        index.check(dataclasses.replace(live, points=""))


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ((1 << 55, 1, 15, 0), "number of a line"),
        ((-(1 << 55) - 1, 1, 15, 0), "number of a line"),
        ((0, 0, 15, 0), "lines of a run"),
        ((0, points.MOST_LINES + 1, 15, 0), "lines of a run"),
        ((0, 1, 0, 0), "lines without a sector"),
        ((0, 1, -1, 0), "valid sectors"),
        ((0, 1, 16, 0), "valid sectors"),
        ((0, 1, 15, 16), "dirty sectors"),
        ((0, 1, 0, -1), "dirty sectors"),
    ],
)
def test_impossible_lines_are_refused_by_both_sides(live, run, message):
    live.commands[2] = _warm([(5, 1, 1, 1), run])
    with pytest.raises(WorkloadError, match=message):
        index.check(live)
    with pytest.raises(Malformed, match=message):
        _decoded(index.encode(live, [[], []]))


def test_a_sector_may_be_dirty_that_is_not_there_in_whole(live):
    runs = [(5, 1, 7, 8), (9, 2, 0, 1)]
    live.commands[2] = _warm(runs)
    index.check(live)
    assert _decoded(index.encode(live, [[], []])).commands[2].runs.tolist() == runs


def test_more_lines_than_any_l2_has_are_refused(live):
    half = points.MOST_LINES // 2
    live.commands[2] = _warm([(0, half, 1, 1), (half, half, 1, 1)])
    assert _decoded(index.encode(live, [[], []])).commands[2].runs["lines"].sum() == 2 * half
    live.commands[2] = _warm([(0, half, 1, 1), (half, half + 1, 1, 1)])
    with pytest.raises(Malformed, match=f"more than {points.MOST_LINES} lines"):
        _decoded(index.encode(live, [[], []]))


GOOD = {
    "sets": [[2, 0], [0, 1]],
    "runs": [[0, 1], [1, 1], [1, 1], [0, 0]],
    "launches": [[3, 3], [1, 2]],
    "documents": [[1]],
}


@pytest.mark.parametrize(
    ("change", "behind", "message"),
    [
        ({"sets": [[2], [0]]}, b"x", "belong to a kernel"),
        ({"sets": [[2, 1], [0, 1]]}, b"x", "belong to a kernel"),
        ({"sets": [[3, -1], [0, 1]]}, b"x", "belong to a kernel"),
        ({"sets": [[2, 0], [0, 2]]}, b"x", "launches before a kernel"),
        ({"sets": [[2, 0], [-1, 1]]}, b"x", "launches before a kernel"),
        ({"launches": [[], []]}, b"x", "launches before a kernel"),
        ({"launches": [[3, 3], [1, 0]]}, b"x", "a launch without CTAs"),
        ({"documents": [[]]}, b"", "a document"),
        ({"documents": [[0]]}, b"", "a document"),
        ({"documents": [[2]]}, b"x", "a document"),
        ({}, b"\xff", "UTF-8"),
        ({}, b"xx", "1 bytes too many"),
    ],
)
def test_tables_that_do_not_fit_are_refused(small, change, behind, message):
    plain = dataclasses.replace(small, commands=small.kernels)
    payload = index.encode(plain, [[], []])
    assert _decoded(payload + pack_tables(list(GOOD.values())) + b"x").points == "x"
    with pytest.raises(Malformed, match=message):
        _decoded(payload + pack_tables(list((GOOD | change).values())) + behind)


def test_launches_of_different_programs_are_refused(live):
    live.commands[0] = WarmSet(live.commands[0].runs, LAUNCHES[1:])
    with pytest.raises(WorkloadError, match="differ from those of another one"):
        index.check(live)
    live.commands[0] = WarmSet(live.commands[0].runs, LAUNCHES[:0])
    with pytest.raises(WorkloadError, match="is not among its launches"):
        index.check(live)


def test_copies_among_live_points_are_refused(small):
    tail = pack_tables(list(GOOD.values())) + b"x"
    with pytest.raises(Malformed, match="no copies"):
        _decoded(index.encode(small, [[], []]) + tail)


def test_every_damaged_byte_is_found(live, tmp_path):
    path = tmp_path / "points.lst"
    tracefile.write(live, path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(InputError):
            list(map(list, (k.ctas() for k in tracefile.load(path).kernels)))


def test_accel_sim_has_no_live_points(live, tmp_path):
    with pytest.raises(WorkloadError, match="live points"):
        accelsim.write(live, tmp_path)
