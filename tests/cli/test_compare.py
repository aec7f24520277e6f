import pandas
import pytest


@pytest.fixture
def files(synthetic, tmp_path):
    for seed, name in ((1, "old.json"), (2, "new.json")):
        synthetic.make_result(seed=seed, kernels=2).to_json(tmp_path / name)


def test_two_results_are_compared(call, files, tmp_path):
    done = call("compare", "old.json", "new.json", "-o", "c.csv", "--report", "c.html")
    assert done.exit_code == 0, done.output
    heading, *rows = done.stdout.splitlines()
    assert heading.split() == ["kernel", "metric", "old", "new", "change", "significant"]
    table = pandas.read_csv(tmp_path / "c.csv")
    assert len(table) == len(rows) > 2
    assert "Comparison on old, new" in (tmp_path / "c.html").read_text()


def test_only_the_metrics_that_were_asked_for_are_shown(call, files):
    done = call("compare", "old.json", "new.json", "--metric", "sim__ipc")
    rows = done.stdout.splitlines()[2:]  # below the heading and the sum of cycles
    assert len(rows) == 2 and all(" sim__ipc " in row for row in rows)


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["old.json"], "at least two runs"),
        (["old.json", "missing.json"], "missing.json"),
        (["old.json", "new.json", "--metric", "none"], "no run has the metric none"),
        (["old.json", "new.json", "-o", "c.txt"], "names no kind of table"),
        (["old.json", "new.json", "--report", "no/such/../../old.json/c"], "cannot write"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(call, files, arguments, complaint):
    done = call("compare", *arguments)
    assert done.exit_code == 2 and complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1
