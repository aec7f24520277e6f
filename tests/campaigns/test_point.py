"""Digests of points: what counts, and what does not."""

import pytest

from lockstep.campaigns import SweepPoint
from lockstep.errors import InputError, LockstepError, SpecError


def test_what_counts_is_in_the_digest():
    points = [
        SweepPoint("saxpy", "QV100"),
        SweepPoint("saxpy", "QV100", seed=1),
        SweepPoint("saxpy", "QV100", size=7),
        SweepPoint("vecadd", "QV100"),
        SweepPoint("saxpy", "A100"),
        SweepPoint("saxpy", "QV100", {"sm.count": 4}),
        SweepPoint("saxpy", "QV100", timing="sample:2"),
        SweepPoint("saxpy", "QV100", inside="windows"),
    ]
    assert len({point.digest for point in points}) == len(points)


def test_what_means_the_same_has_one_digest():
    size = SweepPoint("saxpy", "QV100").facts["size"]
    points = [
        SweepPoint("saxpy", "QV100"),
        SweepPoint("saxpy", "qv100", size=size),
        SweepPoint("saxpy", "QV100", {"sm.count": 80}),
        SweepPoint("saxpy", "QV100", [("sm.count", "80")]),
    ]
    assert len({point.digest for point in points}) == 1


def test_a_traces_place_does_not_count(tmp_path, trace):
    copy = tmp_path / "copy.lst"
    copy.write_bytes(trace.read_bytes())
    first, second = (SweepPoint(str(path), "QV100").digest for path in (trace, copy))
    assert first == second


def test_a_programs_content_and_arguments_count(tmp_path):
    script = tmp_path / "app"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert SweepPoint(str(script), "QV100").kind == "program"
    digests = {SweepPoint(str(script), "QV100", arguments=a).digest for a in ((), ("1",), ("2",))}
    script.write_text("#!/bin/sh\n\n")
    digests.add(SweepPoint(str(script), "QV100").digest)
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("point", "error", "problem"),
    [
        (SweepPoint("saxpi", "QV100"), InputError, "saxpi: is neither a built-in program nor a"),
        (SweepPoint("saxpy", "QV10"), SpecError, "no GPU is named 'QV10'"),
        (SweepPoint("saxpy", "QV100", {"sm.cout": 3}), SpecError, "sm.cout"),
        (SweepPoint("x.lst", "QV100", size=3), LockstepError, "size is for built-in programs"),
        (SweepPoint("app", "QV100", arguments=("1",)), InputError, "app: cannot read"),
        (SweepPoint("saxpy", "QV100", timing="plan:p"), InputError, "p: cannot read"),
    ],
)
def test_a_point_of_what_is_not_there_has_no_digest(point, error, problem):
    with pytest.raises(error, match=problem):
        _ = point.digest
