import itertools
import json

import numpy as np
import pytest

from lockstep.errors import InputError, LockstepError
from lockstep.report.compare import ALL, CYCLES, compare, is_significant


def make(*launches):
    """A document of ``--json``: (kernel, cycles, IPC) a launch."""
    return {
        "gpu": "G",
        "kernels": [
            {"title": name, "cycles": cycles, "metrics": {"sim__ipc": ipc}}
            for name, cycles, ipc in launches
        ],
    }


def row(found, kernel, metric):
    return next(r for r in found.rows if (r.kernel, r.metric) == (kernel, metric))


def test_cycles_are_sums_and_other_metrics_means_of_the_launches_of_a_name():
    first = make(("a", 100, 1.0), ("a", 300, 3.0), ("b", 50, None))
    second = make(("a", 100, 2.0), ("a", 100, 2.0), ("c", 7, 1.0))
    found = compare(first, second, labels=["old", "new"])
    assert row(found, "a", CYCLES).values == [400, 200]
    assert row(found, "a", CYCLES).changes == [-50]
    assert row(found, "a", "sim__ipc").values == [2, 2]
    assert row(found, ALL, CYCLES).values == [450, 207]
    gone, new = row(found, "b", CYCLES), row(found, "c", CYCLES)
    assert gone.values[0] == 50 and np.isnan(gone.values[1]) and np.isnan(gone.changes[0])
    assert np.isnan(new.values[0]) and new.values[1] == 7
    assert not [r for r in found.rows if r[:2] == ("b", "sim__ipc")], "no run has a value"
    shown = str(found).splitlines()
    assert len(shown) == 1 + len(found.rows) and "old" in shown[0]
    assert "..." not in str(found), "all columns are there"
    assert list(found.frame.columns)[:4] == ["kernel", "metric", "old", "new"]


def test_what_runs_do_not_have_in_common_is_said():
    whole, fewer = make(("a", 100, 1.0), ("a", 300, 3.0)), make(("a", 100, 1.0))
    fewer["kernels"][0]["complete"] = False
    assert compare(whole, whole).remarks == ()
    found = compare(whole, fewer, labels=["all", "some"])
    assert found.remarks == (
        "some: 1 launches ran in part, and have the cycles of that part",
        "sums are of different numbers of launches: 2 in all, 1 in some",
    )
    assert found.to_dict()["note"].endswith("launches: 2 in all, 1 in some.")


def test_results_and_their_files_compare_alike(synthetic, tmp_path):
    results = [synthetic.make_result(seed=s, kernels=3) for s in (1, 2)]
    for number, result in enumerate(results):
        result.to_json(tmp_path / f"{number}.json")
    files = compare(tmp_path / "0.json", tmp_path / "1.json")
    assert files.runs == ["0", "1"]
    direct = compare(*results)
    assert len(set(direct.runs)) == 2, "two of one name get numbers"
    assert [r[:2] for r in files.rows] == [r[:2] for r in direct.rows]
    for a, b in zip(files.rows, direct.rows):
        assert a.values == pytest.approx(b.values, nan_ok=True)


def test_a_run_does_not_differ_from_itself(synthetic):
    result = synthetic.make_result(kernels=9)
    found = compare(result, result, result)
    assert all(set(r.changes) <= {0.0} for r in found.rows if r.values[0] == r.values[0] != 0)
    assert not any(True in r.significant for r in found.rows)


def naive(differences):
    """Of all signs, how many make a sum as far from zero, counted one by one."""
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences)))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    return sum(s >= abs(sum(differences)) - 1e-9 for s in sums) / len(sums) <= 0.05


@pytest.mark.parametrize("seed", range(20))
def test_significance_is_what_counting_all_signs_says(seed):
    rng = np.random.default_rng(seed)
    differences = rng.normal(rng.choice([0.0, 0.8]), 1, rng.integers(6, 10))
    assert is_significant(differences) == naive(differences.tolist())


def test_five_launches_are_too_few_and_six_are_enough():
    assert is_significant([1.0] * 5) is None
    assert is_significant([1.0] * 6) is True
    assert is_significant([1.0, -1.0] * 50) is False
    assert is_significant([1.0] * 50) is True


HUGE = '{"kernels": [{"title": "a", "metrics": {}, "cycles": 1%s}]}' % ("0" * 400)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"kernels": [{"title": "a"}]}', "null", "[" * 5000, HUGE]
)
def test_files_that_are_none_are_refused_by_name(tmp_path, content):
    path, right = tmp_path / "x.json", tmp_path / "right.json"
    path.write_text(content)
    right.write_text(json.dumps(make(("a", 1, 1.0))))
    with pytest.raises(InputError, match=r"x\.json.*--json"):
        compare(right, path)


def test_a_system_of_gpus_is_refused_by_name(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"system": "DGX", "gpus": [make(("k", 1, 1.0))]}))
    with pytest.raises(InputError, match="of a system of GPUs: runs of one GPU are compared"):
        compare(path, make())


def test_what_cannot_be_compared_is_said():
    one = make(("a", 1, 1.0))
    with pytest.raises(LockstepError, match="at least two"):
        compare(one)
    with pytest.raises(LockstepError, match="no run has the metric nothing"):
        compare(one, one, metrics=["nothing"])
    with pytest.raises(LockstepError, match="1 labels for 2 runs"):
        compare(one, one, labels=["a"])
