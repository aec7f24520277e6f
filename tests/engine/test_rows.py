"""Whose rows are whose: every array of a machine, and arrays put together from parts."""

import numpy as np
import pytest

from lockstep.engine.groups import MODULES, PARTITIONS, SMS
from lockstep.engine.machine import Machine
from lockstep.engine.part import owners as owners_of_shards
from lockstep.engine.rows import _ALIKE, ShardRows, rows_of


@pytest.fixture(scope="module")
def machine(small):
    machine = Machine(small(sm__count=5, dram__channels=3), 1, {})
    machine.close()
    return machine


def owners(machine):
    return {
        path: (array, rows_of(path, array, machine.gpu)) for path, array in machine.arrays().items()
    }


def test_every_array_has_rows_of_all_shards_or_of_none(machine):
    shards = {SMS: 5, PARTITIONS: 3}
    for path, (array, rows) in owners(machine).items():
        if rows:
            assert array.shape[rows.axis] == shards[rows.group] * rows.each, path


def test_what_all_machines_have_alike(machine):
    alike = {path for path, (_, rows) in owners(machine).items() if rows is None}
    assert {f"sm.{name}" for name in _ALIKE} <= alike, "no name of an array that is gone"
    stays = ("dispatcher.", "sm.slices.", "memory.slices.", "memory.sets.", "sm.l1.hash.")
    stays += ("sm.l1.prefetch.", "memory.l2.prefetch.")  # a place each, as nobody prefetches
    stays += ("modules.", "links.between.")  # of one module
    stays += ("links.forwards.", "links.answers.")  # of no protocol
    others = {p for p in alike if not p.startswith(stays) and ".rules." not in p}
    others -= {f"sm.{name}" for name in _ALIKE}
    ends = {path.rpartition(".")[2] for path in others}
    assert ends == {"spec", "shape", "history", "ways", "epochs", "firsts"}, others
    assert not any(".control." in path for path in alike)


def test_what_modules_have_has_rows(small):
    changes = {"sm__count": 8, "dram__channels": 4, "modules__count": 4}
    machine = Machine(small(**changes, modules__pages="first_touch"), 1, {})
    machine.close()
    found = owners(machine)
    shards = {SMS: 8, PARTITIONS: 4, MODULES: 4}
    for path, (array, rows) in found.items():
        if rows:
            assert array.shape[rows.axis] == shards[rows.group] * rows.each, path
    between = {path: rows for path, (_, rows) in found.items() if path.startswith("links.between")}
    assert {rows.group for rows in between.values() if rows} == {SMS, PARTITIONS, MODULES}
    assert found["modules.counters"][1] == ShardRows(MODULES, 0, 1)
    assert found["dispatcher.pages.homes"][1] is None, "all machines have the same"
    assert not [path for path in found if ".gate." in path or path.startswith("sm.slices")]


def test_what_prefetchers_know_has_rows(small):
    ahead = {"l1__prefetcher": "stride", "l2__prefetcher": "stream"}
    machine = Machine(small(sm__count=5, dram__channels=3, **ahead), 1, {})
    machine.close()
    found = {path: rows for path, (_, rows) in owners(machine).items() if ".prefetch." in path}
    assert {rows.group for rows in found.values() if rows} == {SMS, PARTITIONS}
    kept = {path.rpartition(".")[2] for path, rows in found.items() if rows}
    assert kept >= {"lines", "marks", "queues", "tables"}


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("each", [1, 4])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_each_part_gives_its_rows(axis, each, size):
    for group, shards in ((SMS, 5), (PARTITIONS, 3)):
        owner, shape = owners_of_shards("a GPU", [5, 3], size)[group], [2, 2]
        shape[axis] = shards * each
        cuts = [np.flatnonzero(owner == k) for k in range(size)]
        arrays = [np.full(shape, k) for k in range(size)]
        rows = ShardRows(group, axis, each)
        pieces = [rows.of(array, cut) for array, cut in zip(arrays, cuts)]
        joined = rows.join([p.reshape(-1).view(np.uint8) for p in pieces], cuts, arrays[0])
        assert joined.shape == tuple(shape)
        assert (np.moveaxis(joined, axis, 1) == np.repeat(owner, each)).all()
