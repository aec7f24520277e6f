"""The check of types: errors are counted by part, and no part may have more than it is allowed."""

import tomllib

import pytest

REPORT = """\
src/lockstep/model/core/bind.py:191: error: Incompatible types in assignment  [assignment]
src/lockstep/model/cache/l2.py:290: error: Argument 1 has incompatible type  [arg-type]
src/lockstep/model/cache/l2.py:290: note: a remark
src/lockstep/api.py:12: error: Name "x" is not defined  [name-defined]
Found 3 errors in 3 files (checked 593 source files)
"""


@pytest.fixture(scope="module")
def check(load_script, repository):
    return load_script(repository / "scripts" / "type_budget.py")


def test_errors_are_counted_by_part(check):
    counts = {part: len(lines) for part, lines in check.by_part(REPORT).items()}
    assert counts == {"model": 2, "api": 1}


def test_an_error_of_no_part_counts(check):
    line = "pyproject.toml: error: something\n"
    assert check.by_part(line) == {"": [line.strip()]}
    assert check.judge(check.by_part(line), {})[0][-1] == "elsewhere: 1 errors; 0 are allowed"


@pytest.mark.parametrize(
    "budget, wrong, lower",
    [
        ({"model": 2, "api": 1}, 0, 0),
        ({"model": 1, "api": 1}, 1, 0),
        ({"model": 3, "api": 1}, 0, 1),
        ({"model": 2}, 1, 0),
        ({"model": 2, "api": 1, "isa": 1}, 0, 1),
    ],
)
def test_a_part_may_have_what_it_is_allowed_and_no_more(check, budget, wrong, lower):
    problems, hints = check.judge(check.by_part(REPORT), budget)
    assert sum("are allowed" in line for line in problems) == wrong
    assert len(hints) == lower


def test_what_is_wrong_is_shown(check):
    problems, _ = check.judge(check.by_part(REPORT), {"model": 1, "api": 1})
    assert problems == [*REPORT.splitlines()[:2], "model: 2 errors; 1 are allowed"]


def test_budgets_are_those_of_parts_that_exist(repository):
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    source = repository / "src" / "lockstep"
    for part, allowed in settings["tool"]["type-budget"].items():
        assert (source / part).is_dir() or (source / f"{part}.py").is_file(), part
        assert allowed > 0, part
