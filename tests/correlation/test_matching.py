from dataclasses import replace

import pytest

from correlation.samples import launch
from lockstep.correlation.matching import match, nearest
from lockstep.correlation.results import Ours
from lockstep.errors import LockstepError


def run(*names, program="app", numbers=None, **more):
    numbers = numbers or range(1, len(names) + 1)
    return [launch(name, 100.0 * n, n, program, **more) for n, name in zip(numbers, names)]


def results(*names, **more):
    return Ours(more.get("program", "app"), run(*names, **more), "here")


def numbers(found):
    return [(pair.hardware.number, pair.ours.number) for pair in found.pairs]


def test_launches_of_a_name_are_paired_in_their_order():
    found = match(run("a(int)", "b", "a(int)", "c"), [results("b", "_Z1ai", "a", "a")])
    assert numbers(found) == [(1, 2), (2, 1), (3, 3)]
    assert found.remarks == ["app: only measured: c (1)", "app: only simulated: a (1)"]
    assert (found.hardware, found.ours) == (4, 4)
    assert found.hardware_cycles == 1000


def test_instances_of_a_template_are_told_apart():
    found = match(run("void k<int>(int)", "void k<float>(float)"), [results("k<float>", "k<int>")])
    assert numbers(found) == [(1, 2), (2, 1)]


def test_a_name_without_arguments_of_its_template_stands_for_all():
    found = match(run("k", "k"), [results("k<float>", "k<int>")])
    assert numbers(found) == [(1, 1), (2, 2)]


def test_launches_of_other_sizes_are_not_compared():
    hardware = run("a", "a", grid=(2, 1, 1))
    ours = [Ours("app", [launch("a", grid=(2, 1, 1)), launch("a", 1, 2, grid=(3, 1, 1))], "here")]
    found = match(hardware, ours)
    assert numbers(found) == [(1, 1)]
    (remark,) = found.remarks
    assert "launch 2 of a has grid (2, 1, 1)" in remark and "(3, 1, 1)" in remark


def test_launches_that_ran_in_part_are_not_compared():
    """They keep their turn: the second launch of a name is still the second one."""
    whole, part = launch("a", number=1), replace(launch("a", number=2), complete=False)
    found = match(run("a", "a"), [Ours("app", [whole, part], "here")])
    assert numbers(found) == [(1, 1)]
    assert found.remarks == ["app: simulated in part, and not compared: a (1)"]
    with pytest.raises(LockstepError, match="app: simulated in part, and not compared: all launc"):
        match([launch("", 700, 0)], [Ours("app", [whole, part], "here")])


def test_the_total_of_a_program_is_not_compared_with_that_of_a_sample():
    total, some = [launch("", 700, 0)], Ours("app", run("a", "b"), "here")
    assert numbers(match(total, [some])) == [(0, 0)]
    with pytest.raises(LockstepError, match="simulated in part, and not compared"):
        match(total, [some._replace(sampled=True)])
    assert numbers(match(run("a"), [some._replace(sampled=True)])) == [(1, 1)]


def test_of_a_run_of_some_launches_the_numbers_count():
    found = match(run("a", "b", "a", "b", "a"), [results("a", "b", "c", numbers=[3, 4, 5])])
    assert numbers(found) == [(3, 3), (4, 4)]


def test_of_a_run_of_some_launches_the_instance_of_a_template_counts():
    hardware = run("k<int>", "k<float>", "k<int>")
    found = match(hardware, [results("k<int>", "k<int>", numbers=[2, 3])])
    assert numbers(found) == [(3, 3)]


def test_where_some_launches_were_measured_their_numbers_count():
    """If all have the names that these launches have here; else, as is said, the order."""
    found = match(run("a", "b", numbers=[3, 4]), [results("a", "b", "a", "b")])
    assert numbers(found) == [(3, 3), (4, 4)]
    found = match(run("a", "b", numbers=[3, 4]), [results("a", "a", "b", "b")])
    assert numbers(found) == [(3, 1), (4, 3)]
    assert "app: not all launches were measured" in found.remarks[0]
    found = match(run("", "", numbers=[2, 4]), [results("a", "a", "b", "b")])
    assert numbers(found) == [(2, 2), (4, 4)]


def test_two_runs_of_a_program_are_refused():
    one, other = results("a"), results("a", "b")
    with pytest.raises(LockstepError, match="app: launch 1 is in here and in there; give one run"):
        match(run("a", "b"), [one, other._replace(origin="there")])
    with pytest.raises(LockstepError, match="app: launch 1 is in here"):
        match(run("a", program=""), [one, other])


def test_parts_of_a_run_are_one_run():
    parts = [results("a"), results("b", "a", numbers=[2, 3])]
    assert numbers(match(run("a", "b", "a"), parts)) == [(1, 1), (2, 2), (3, 3)]


def test_without_names_of_kernels_the_order_counts():
    found = match(run("", "", ""), [results("a", "b")])
    assert numbers(found) == [(1, 1), (2, 2)]


def test_a_measured_program_is_the_sum_of_its_launches():
    hardware = [launch("", 700, 0)]
    (pair,) = match(hardware, [results("a", "b", "c")]).pairs
    assert pair.ours.cycles == 600


def test_programs_are_matched_by_name():
    hardware = run("k", program="x") + run("k", program="y") + run("k", program="z")
    found = match(hardware, [results("k", program="y"), results("k", program="w")])
    assert [pair.hardware.program for pair in found.pairs] == ["y"]
    assert found.remarks[0].startswith("w: not measured; measured are x, y, z")
    assert found.remarks[1] == "measured, but in no result: x, z"


def test_results_of_a_single_program_are_its_launches_one_after_the_other():
    hardware = run("a", "b", "a", program="")
    found = match(hardware, [results("a", "b", program="one"), results("a", program="two")])
    assert [pair.ours.program for pair in found.pairs] == ["one", "one", "two"]


def test_several_runs_of_a_program_are_refused_with_what_tells_them_apart():
    hardware = [launch("k", section=(("size", size), ("pass", "A"))) for size in ("s", "l")]
    with pytest.raises(LockstepError, match=r"another size \(l, s\): --where size=l"):
        match(hardware, [results("k")])
    with pytest.raises(LockstepError, match="2 rows, and no column tells them apart"):
        match([launch("", 1, 0), launch("", 2, 0)], [results("k")])


def test_nothing_in_common_is_an_error_that_names_both():
    with pytest.raises(LockstepError, match=r"only measured: a \(1\).*only simulated: b \(1\)"):
        match(run("a"), [results("b")])


def test_hints():
    assert nearest("dram__sector_read.sum", ["dram__sectors_read.sum"]).startswith("; did you mean")
    assert nearest("x", ["dram__sectors_read.sum"]) == ""
