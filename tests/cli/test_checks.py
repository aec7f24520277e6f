"""``lockstep run --check``: what is printed, what is written, and how it ends."""

import json
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "checks" / "neighbours.ptx"
SHAPE = ("--grid", "2", "--block", "64")
ARGUMENTS = ("--arg", "100", "--arg", "f4[100]", "--arg", "zeros:f4[100]")


@pytest.fixture
def check(call):
    """Function from options to a run of the example."""

    def check(*options):
        plain = ("--timing", "none", "--quiet") if "--timing" not in options else ()
        return call("run", EXAMPLE, *SHAPE, *ARGUMENTS, *plain, *options)

    return check


@pytest.mark.parametrize(
    ("options", "kinds", "last"),
    [
        (["memory"], {"illegal_address"}, "check memory: 1 finding"),
        (["memory", "--check", "init"], {"illegal_address", "unwritten_read"},
         "check memory, init: 2 findings"),
        (["all"], {"illegal_address", "unwritten_read", "write_after_read", "read_after_write"},
         "check memory, init, races: 4 findings"),
    ],
)  # fmt: skip
def test_findings_are_printed_and_written(check, tmp_path, options, kinds, last):
    done = check("--check", *options, "--json", "r.json")
    assert done.exit_code == 3, done.output
    *lines, end = done.stderr.splitlines()
    assert end == f"lockstep: {last}" and all("neighbours.cu:" in line for line in lines)
    document = json.loads((tmp_path / "r.json").read_text())
    assert {finding["kind"] for finding in document["findings"]} == kinds
    assert len(document["findings"]) == len(lines)


def test_what_was_found_before_a_launch_failed_is_printed(check):
    done = check("--check", "races")
    assert done.exit_code == 2 and "lockstep: check races: 2 findings" in done.stderr
    assert "invalid global write" in done.stderr.splitlines()[-1]


def test_a_timed_run_is_checked_too(check, tmp_path):
    small = ("--timing", "full", "--set", "sm.count=2")
    done = check("--check", "memory,races", *small, "--json", "r.json")
    assert done.exit_code == 3 and "3 findings" in done.stderr
    assert len(json.loads((tmp_path / "r.json").read_text())["findings"]) == 3


def test_the_limit_bounds_what_is_printed(check):
    done = check("--check", "all", "--check-limit", "1")
    assert done.stderr.splitlines()[1:] == [
        "lockstep: 3 more findings (--check-limit)",
        "lockstep: check memory, init, races: 4 findings",
    ]


def test_a_program_without_mistakes_ends_as_without_checks(call):
    done = call("run", "reduce_shared", "--size", "1000", "--timing", "none", "--check", "all")
    assert done.exit_code == 0 and "Results are right" in done.stdout
    assert done.stderr.splitlines()[-1] == "lockstep: check memory, init, races: no findings"


def test_an_unknown_check_is_refused(call):
    done = call("run", "saxpy", "--check", "memory,rases")
    assert done.exit_code == 2
    assert "no check 'rases': expected memory, init, races, all" in done.stderr
