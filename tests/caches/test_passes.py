"""Which passes configurations take, and what their rows say."""

from pathlib import Path
from typing import get_args

import pytest

from lockstep import api
from lockstep.caches import CachePoint, Exploration, Sweep
from lockstep.cli.caches import command
from lockstep.errors import WorkloadError
from lockstep.gpus.choices import Replacement
from small_gpu import small

__all__ = ["small"]

GATHER = Path(__file__).parents[2] / "examples" / "gather.lst"


def explored(gpu, *points: CachePoint, l2: tuple[CachePoint, ...] = (), **options):
    made = Exploration(gpu, Sweep(points, l2), **options)
    made.explore(api.load(GATHER))
    return made.table()


def fifo(ways, first, count, now):
    best = 0
    for k in range(count):
        if ways[first + k].inserted < ways[first + best].inserted:
            best = k
    return best


def test_a_users_fifo_is_fifo_in_both_levels(small):
    gpu = small()
    names = ("fifo", "user", "lru")
    policies = {"l1_replacement": fifo, "l2_replacement": fifo}
    l1 = [CachePoint(4096, 4, sectored=True, replacement=name) for name in names]
    l2 = tuple(CachePoint(16384, 4, replacement=name) for name in names)
    table = explored(gpu, *l1, l2=l2, policies=policies)
    keys = ["l1_replacement", "l2_replacement"]
    mine = table.set_index(keys)[["l1_read_misses", "l2_read_misses"]]
    assert len(mine) == 9
    for name in names:
        assert mine.loc["fifo", name].tolist() == mine.loc["user", name].tolist()
        assert mine.loc[name, "fifo"].tolist() == mine.loc[name, "user"].tolist()


def test_points_of_other_replacements_stand_beside_those_of_one_pass(small):
    points = [
        CachePoint(ways << 10, ways, replacement=how)
        for how in ("lru", "random")
        for ways in (1, 2, 4)
    ]
    table = explored(small(), *points)
    assert sorted(zip(table.l1_replacement, table.l1_ways)) == sorted(
        (point.replacement, point.ways) for point in points
    )
    direct = table[table.l1_ways == 1].l1_read_misses
    assert direct.nunique() == 1, "one way leaves nothing to choose"


def test_a_point_for_a_policy_takes_that_policy(small):
    with pytest.raises(WorkloadError, match="takes a policy l1_replacement"):
        Exploration(small(), Sweep((CachePoint(4096, 4, replacement="user"),)))


def test_replacements_have_the_names_of_the_model():
    assert "lru, fifo, nru, random, user" in CachePoint(4096, 4, replacement="mru").problem
    for name in ("l1_replacement", "l2_replacement"):
        option = next(p for p in command.params if p.name == name)
        assert set(option.type.choices) == set(get_args(Replacement))
