"""``--policy`` of the commands that simulate."""

import json

import pytest

FILE = """
LAST = 0
def oldest(warps, first, count, last, now):
    for i in range(count):
        if warps[first + i].ready:
            return i
    return -1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def test_a_policy_of_a_file_decides_and_is_recorded(call, trace, file, tmp_path):
    options = ("--gpu", "QV100", "--quiet", "--policy", f"scheduler={file}:oldest")
    done = call("simulate", trace, *options, "--out", "out")
    assert done.exit_code == 0, done.output
    policies = json.loads((tmp_path / "out" / "manifest.json").read_text())["policies"]
    assert list(policies) == ["scheduler"]
    assert (
        policies["scheduler"]["name"] == "oldest"
        and "warps[first" in policies["scheduler"]["source"]
    )


def test_policies_work_for_programs_that_are_executed(call, file, tmp_path):
    options = ("--quiet", "--policy", f"scheduler={file}:oldest", "--out", "out")
    done = call("run", "saxpy", "--size", "1000", *options)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["policies"]


@pytest.mark.parametrize(
    ("value", "content", "message"),
    [
        ("scheduler", FILE, "'scheduler'; expected NAME=FILE.py:FUNCTION"),
        ("schedular={}:oldest", FILE, "there is no policy 'schedular'; there are scheduler, "),
        ("scheduler={}:youngest", FILE, "mine.py: has no function youngest"),
        ("scheduler={}:oldest", "def oldest(:", "mine.py, line 1: is no Python: "),
        ("scheduler={}:oldest", "\n1 / 0", "mine.py, line 2: ZeroDivisionError: division by zero"),
        ("scheduler={}:LAST", FILE, "a policy is a plain Python function; found int"),
        ("scheduler={}.not:oldest", FILE, "mine.py.not: no such file"),
    ],
)
def test_what_cannot_be_used_is_one_line(call, trace, file, value, content, message):
    file.write_text(content)
    done = call("simulate", trace, "--gpu", "QV100", "--policy", value.format(file))
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
    assert message in done.stderr


def test_a_policy_is_given_once_and_needs_timing(call, trace, file):
    policy = ("--policy", f"scheduler={file}:oldest")
    done = call("simulate", trace, *policy, *policy)
    assert done.exit_code == 2 and "scheduler is given 2 times" in done.stderr
    done = call("run", "saxpy", "--timing", "none", *policy)
    assert done.exit_code == 2 and "need --timing" in done.stderr
