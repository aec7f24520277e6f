"""The benchmark of sampling inside launches: every method on one launch, and its tables."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "sampling_inside.py"


@pytest.fixture(scope="module")
def benchmark(load_script):
    return load_script(SCRIPT)


@pytest.fixture(scope="module")
def measured(benchmark, tmp_path_factory):
    """vecadd on four SMs: 12 waves."""
    return benchmark.measure(
        "vecadd", 100_000, (4, 2), tmp_path_factory.mktemp("traces"), list(benchmark.WAYS)
    )


@pytest.mark.long
def test_every_method_gives_an_estimate_of_every_long_launch(benchmark, measured):
    cases, seconds = measured
    (case,) = cases
    assert case.gpu == "4 SMs" and case.waves == pytest.approx(100_000 / 256 / 32, abs=0.1)
    assert len(case.outcomes) == 13 and set(seconds) == {"", *case.outcomes}
    for name, outcome in case.outcomes.items():
        assert 0 < outcome.simulated <= case.truth
        assert outcome.estimated >= outcome.simulated * 0.999
        if outcome.simulated == case.truth:
            assert benchmark.error(case, name) == pytest.approx(0)
    cut = case.outcomes[benchmark.DEFAULT]
    assert cut.simulated < case.truth


def test_the_tables_have_each_method_and_each_launch(benchmark, measured, capsys):
    cases, seconds = measured
    benchmark.report(cases, [seconds])
    printed = capsys.readouterr().out
    assert printed.startswith("### Launches of 10 to 30 waves")
    for name in cases[0].outcomes:
        assert printed.count(f"| {name} | ") == 3, "short, all, and seconds"
    (row,) = [line for line in printed.splitlines() if line.startswith("| vecadd 100,000")]
    up = cases[0].truth / cases[0].outcomes[benchmark.DEFAULT].simulated
    assert row.endswith(f"| {benchmark.error(cases[0], benchmark.DEFAULT):+.2%} | {up:.2f} |")


def test_shorter_launches_are_no_cases(benchmark, tmp_path):
    cases, _ = benchmark.measure("vecadd", 20_000, (4, 2), tmp_path, ["pkp"])
    assert cases == []
