"""What was misspelt is answered with what there is, wherever something has a name."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["simualte"], "'simulate'"),
        (["cache", "biuld"], "'build'"),
        (["proxy", "mkae"], "'make'"),
        (["gpus", "QV10"], "did you mean QV100"),
        (["gpus", "QV100", "--set", "sm.cuont=4"], "did you mean sm.count"),
        (["gpus", "QV100", "--set", "sm.scheduler.policy=gtoo"], "did you mean gto"),
        (["run", "saxpi"], "did you mean saxpy"),
        (["run", "saxpy", "--gpu", "H10"], "did you mean H100"),
        (["metrics", "dram__byts.sum"], "did you mean dram__bytes"),
        (["microbench", "--only", "lat.fmaa"], "did you mean lat."),
        (["simulate", "x", "--thraeds", "2"], "--threads"),
        (["run", "saxpy", "--policy", "schedular=f.py:g"], "did you mean scheduler"),
        (["study", "dram-schedulin"], "did you mean dram-scheduling"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_nearest_name_is_said(call, arguments, meant):
    done = call(*arguments)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1 and meant in done.stderr


@pytest.mark.parametrize("group", ["cache", "proxy"])
def test_a_name_that_is_near_nothing_is_refused_alone(call, group):
    done = call(group, "zzz")
    assert done.exit_code == 2
    assert "zzz" in done.stderr and "did you mean" not in done.stderr
