"""Points from TOML: combinations, order, paths, and what is refused."""

from pathlib import Path

import pytest

from lockstep.campaigns import SweepPoint, read_points
from lockstep.errors import InputError, LockstepError

BASE = 'workloads = ["saxpy"]\ngpus = ["QV100"]\n'


@pytest.fixture
def read(tmp_path):
    """Function from a text to its points."""

    def read(text):
        path = tmp_path / "points.toml"
        path.write_text(text, encoding="utf-8")
        return read_points(path)

    return read


def test_points_are_all_combinations_seeds_innermost(read):
    points = read(
        'gpus = ["QV100", "A100"]\nseeds = [3, 4]\n'
        'workloads = ["vecadd", {name = "saxpy", size = [10, 20]}]\n'
        '[changes]\n"sm.count" = [4, 8]\nlaunch.overhead = 100\n'
        '[[zip]]\n"l2.sets" = [48, 96]\n"l2.ways" = [16, 8]\n'
    )
    expected = [
        SweepPoint(
            workload,
            gpu,
            {"l2.sets": sets, "l2.ways": ways, "sm.count": count, "launch.overhead": 100},
            seed,
            size,
        )
        for workload, size in (("vecadd", None), ("saxpy", 10), ("saxpy", 20))
        for gpu in ("QV100", "A100")
        for sets, ways in ((48, 16), (96, 8))
        for count in (4, 8)
        for seed in (3, 4)
    ]
    assert points == expected
    assert points[0].facts == {
        "workload": "vecadd", "size": 1 << 20, "gpu": "QV100", "l2.sets": 48, "l2.ways": 16,
        "sm.count": 4, "launch.overhead": 100, "seed": 3, "timing": "full",
    } | {"size": points[0].facts["size"]}  # fmt: skip


def test_rules_inside_launches_vary_faster_than_timings(read):
    points = read(BASE + 'timing = ["full", "sample:2"]\ninside = ["", "windows:speed_up=8"]\n')
    assert [(point.timing, point.inside) for point in points] == [
        ("full", ""), ("full", "windows:speed_up=8"),
        ("sample:2", ""), ("sample:2", "windows:speed_up=8"),
    ]  # fmt: skip
    assert "inside" not in points[0].facts
    assert points[1].facts["inside"] == "windows:speed_up=8"


def test_paths_are_relative_to_the_file(read, tmp_path):
    (tmp_path / "mine.toml").touch()
    points = read(
        'gpus = ["mine.toml", "qv100"]\nworkloads = ["traces/a.lst", {command = ["./app", "./b"]}]'
    )
    assert [(p.workload, p.gpu, p.arguments) for p in points] == [
        (f"{tmp_path}/traces/a.lst", f"{tmp_path}/mine.toml", ()),
        (f"{tmp_path}/traces/a.lst", "qv100", ()),
        (f"{tmp_path}/app", f"{tmp_path}/mine.toml", ("./b",)),
        (f"{tmp_path}/app", "qv100", ("./b",)),
    ]
    assert [p.kind for p in points] == ["trace"] * 2 + ["program"] * 2


@pytest.mark.parametrize(
    ("folder", "name", "found"),
    [
        (".", "./k1", "./k1"),
        (".", "k1", "./k1"),
        ("a/b", "../k1", "a/k1"),
        ("a", "./b//k1", "a/b/k1"),
    ],
)
def test_a_path_is_named_in_one_way(tmp_path, monkeypatch, folder, name, found):
    """A program without a folder in its name would be sought elsewhere."""
    monkeypatch.chdir(tmp_path)
    file = Path(folder) / "sweep.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'gpus = ["QV100"]\nworkloads = [{{command = ["{name}"]}}]')
    assert [p.workload for p in read_points(file)] == [found]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "missing required field `workloads`"),
        (BASE + "gpu = 3", "unknown field `gpu`; did you mean gpus"),
        (BASE + "chnages = {}", "unknown field `chnages`; did you mean changes"),
        (BASE + "seeds = 3", "Expected `array`, got `int` - at `$.seeds`"),
        (BASE + "seeds = []", "seeds is empty: there are no points"),
        (BASE + "seeds = [-1]", "seed -1: expected at least 0"),
        ('workloads = []\ngpus = ["QV100"]', "workloads is empty"),
        (BASE + "timing = []", "timing is empty: there are no points"),
        (BASE + "inside = []", "inside is empty: there are no points"),
        (BASE + "[[zip]]", "a [[zip]] is empty: there are no points"),
        ('gpus = ["QV100"]\nworkloads = [{name = "saxpy", size = []}]',
         "size of saxpy is empty: there are no points"),
        (BASE + "[changes]\na = []", "a has no values"),
        (BASE + "[changes]\na = [[1]]", "a: [1] is no number and no text"),
        (BASE + "[changes]\na = 1\n[[zip]]\na = [1]", "a is changed twice"),
        (BASE + "[changes]\nsm" + ".sm" * 20 + " = 1", "no name of a change is so deep"),
        (BASE + "[changes]\nsm" + ".sm" * 40 + " = 1", "a key of more than 32 parts"),
        (BASE + "[changes]\n" + "'s m' . " * 30_000 + "a = 1", "a key of more than 32 parts"),
        (BASE + "[[zip]]\na = [1, 2]\nb = [1]", "different lengths: a 2, b 1"),
        (BASE + "timing = 'sample:x'", "toml: timing = 'sample:x': expected e.g. sample:error=1%"),
        (BASE + "timing = 'bogus'", "toml: timing = 'bogus'; expected full, sample:error=1%"),
        (BASE + "timing = 'plan'", "toml: timing = 'plan'; expected full, sample:error=1%"),
        (BASE + "timing = 'none'", "toml: timing = 'none': a sweep simulates; expected full"),
        (BASE + "inside = 'halves'", "toml: inside = 'halves'; expected one of: windows"),
        ('gpus = ["QV100"]\n[[workloads]]\nsize = 3', "either a name or a command"),
        ('gpus = ["QV100"]\nworkloads = [{command = ["a"], size = 3}]', "size is for built-in"),
        (BASE + "[changes]\na = " + str(list(range(1001))) + "\nb = " + str(list(range(200))),
         "has 200,200 points; expected at most 200,000"),
        (BASE + "x = [", "points.toml, the end: Invalid value"),
        (BASE + "\0", "points.toml, line 3: "),
        (BASE + "x = " + "[" * 5000, "not a sweep file"),
    ],
)  # fmt: skip
def test_what_makes_no_points_is_refused(read, text, problem):
    with pytest.raises(LockstepError) as error:
        read(text)
    assert problem in str(error.value)


def test_a_file_must_be_there(tmp_path):
    with pytest.raises(InputError, match=r"none.toml: No such file"):
        read_points(tmp_path / "none.toml")
