"""Other names of metrics."""

from lockstep.correlation import nsight
from lockstep.metrics import aliases, document, registry
from lockstep.model.counters import Stall

NAMES = {metric.name for metric in registry.REGISTRY}


def test_an_alias_is_of_a_metric_and_is_none_itself():
    for alias in (*aliases.NSIGHT, *aliases.GPGPUSIM):
        assert alias.metric in NAMES, alias
        assert alias.name not in NAMES, alias


def test_a_name_means_one_metric():
    for known in (aliases.NSIGHT, aliases.GPGPUSIM):
        assert len({alias.name for alias in known}) == len(known)


def test_what_only_is_near_is_not_compared():
    assert nsight.SAME["smsp__inst_executed.sum"] == "sm__inst_executed.sum"
    assert "l1tex__t_sector_hit_rate.pct" not in nsight.SAME
    assert all("{" not in metric for metric in nsight.SAME.values())


def test_every_state_is_told():
    assert list(aliases.STATES) == list(Stall)
    page = document.page()
    for reason in Stall:
        assert f"| `{reason.name.lower()}` | {aliases.STATES[reason].meaning} |" in page
