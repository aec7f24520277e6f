"""A GPU at random, measured in simulation by a part of the suite, is found again."""

import pytest

from lockstep.gpus import fields

NAMES = (
    "lat.lds32",
    "lat.mufu_ex2",
    "lat.redux_add",
    "lat.match_any",
    "branch.taken",
    "sync.bar_sync",
)
DIRECT = (
    "sm.units.sfu.operations.SFU",
    "sm.units.reduction.operations.REDUX",
    "sm.units.reduction.operations.MATCH",
    "shared.latency",
    "shared.pass_latency",
    "sm.barrier_interval",
)
FITTED = ("sm.barrier_latency", "sm.front_end.redirect")


@pytest.mark.long
@pytest.mark.parametrize("seed", [1001])
def test_a_gpu_is_found_again(load_script, repository, seed):
    script = load_script(repository / "scripts" / "tune_random.py")
    gpu = script.random_gpu(seed)
    _, got, kinds = script.found_again(gpu, script.rows_for(NAMES))
    truth = fields.flatten(gpu)
    assert {path: got[path] for path in DIRECT} == {path: truth[path] for path in DIRECT}
    assert all(kinds[path] == "direct" for path in DIRECT)
    assert all(kinds[path] == "fitted" for path in FITTED)
    for path in FITTED:
        assert got[path] == pytest.approx(truth[path], rel=script.CLOSE)
