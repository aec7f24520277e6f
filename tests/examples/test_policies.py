"""The example policies run, are short, change the result, and choose what they say."""

import re
from pathlib import Path

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.model.cache.prefetch import table
from lockstep.model.cache.tags import WAY
from lockstep.model.core.state import CANDIDATE
from lockstep.model.dram.state import REQUEST

POLICIES = Path(__file__).parents[2] / "examples" / "policies"
RUNS = {
    "scheduler": 2,
    "replacement": 3,
    "prefetcher": 3,
    "slice_hash": 2,
    "dram_scheduler": 2,
}


def records(dtype, **columns):
    table = as_records(np.zeros(max(map(len, columns.values())), dtype))
    for name, values in columns.items():
        table[name] = values
    return table


def test_there_is_an_example_of_each_policy_and_no_other():
    assert {p.stem for p in POLICIES.glob("*.py")} == set(RUNS)


@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_an_example_prints_the_cycles_with_and_without(load_script, capsys, name):
    load_script(POLICIES / f"{name}.py").main()
    cycles = re.findall(r"^.+: +([\d,]+) cycles$", capsys.readouterr().out, re.MULTILINE)
    assert len(cycles) == RUNS[name]
    assert len(set(cycles)) == len(cycles), "a policy without effect shows nothing"


@pytest.mark.parametrize("name", RUNS)
def test_an_example_is_short(name):
    assert len((POLICIES / f"{name}.py").read_text().splitlines()) <= 40


def test_the_scheduler_takes_the_ready_warp_that_is_furthest_behind(load_script):
    pick = load_script(POLICIES / "scheduler.py").furthest_behind
    warps = records(CANDIDATE, ready=[1, 1, 0, 1, 1], issued=[0, 9, 1, 5, 5])
    assert pick(warps, 1, 4, -1, 100) == 2
    assert pick(records(CANDIDATE, ready=[0, 0]), 0, 2, -1, 100) == -1


def test_replacement_spares_what_was_used_again_and_what_is_on_its_way(load_script):
    victim = load_script(POLICIES / "replacement.py").unused_first
    ways = records(WAY, inserted=[0, 1, 2, 3, 4], used=[0, 9, 2, 3, 7], pending=[0, 0, 1, 0, 0])
    assert victim(ways, 1, 4, 10) == 2
    assert victim(as_records(ways[[1, 2, 4]]), 0, 3, 10) == 2
    assert victim(records(WAY, pending=[1, 1]), 0, 2, 10) == -1


def test_the_prefetcher_of_an_l1_follows_a_load_of_a_warp(load_script):
    ask = load_script(POLICIES / "prefetcher.py").by_stride
    state, out = table.build(1, 1, 1)[0], records(table.OUT, line=[0] * table.MOST)
    for line, warp, asks in (
        (10, 1, 0),
        (14, 1, 0),
        (18, 1, 1),
        (18, 2, 0),
        (21, 1, 0),
        (24, 1, 1),
    ):
        assert ask(5, line, warp, table.MISS, state, out) == asks
    assert out[0].line == 27
    assert not state["degree"][1:].any() and state[0].key == 0


def test_the_prefetcher_of_an_l2_asks_behind_misses_and_first_uses(load_script):
    ask = load_script(POLICIES / "prefetcher.py").next_line
    state, out = table.build(1, 1, 1)[0], records(table.OUT, line=[0] * table.MOST)
    met = (table.MISS, table.HIT, table.FIRST_USE)
    assert [ask(line, hit, state, out) for line, hit in enumerate(met)] == [1, 0, 1]
    assert out[0].line == 3


def test_the_slice_hash_deals_blocks_in_turn(load_script):
    script = load_script(POLICIES / "slice_hash.py")
    blocks = range(0, 12 * script.BLOCK, script.BLOCK)
    assert [script.interleaved(b, 4) for b in blocks] == [0, 1, 2, 3] * 3


def test_the_dram_scheduler_takes_the_oldest_that_may_go_on(load_script):
    pick = load_script(POLICIES / "dram_scheduler.py").oldest_ready
    queue = records(REQUEST, ready=[0, 50, 20, 10], row=[1, 1, 2, 3], open_row=[0, 0, 0, 3])
    assert pick(queue, 1, 3, 20) == 1
    assert pick(queue, 1, 3, 9) == -1
