"""Protocols: one set of names, whole sets of hooks, and what they make of a line, byte by byte."""

import importlib
import inspect
import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import get_args, get_type_hints
from unittest import mock

import pytest

from lockstep.gpus import spec
from lockstep.model.cache import protocols
from lockstep.model.cache.protocols import at_l1, at_l2, registry
from lockstep.model.cache.tags import HELD
from lockstep.model.records import records

pytestmark = pytest.mark.plain
LEVELS = {
    "l1": (registry.L1, registry.L1_HOOKS, at_l1, spec.L1),
    "l2": (registry.L2, registry.L2_HOOKS, at_l2, spec.L2),
}
SECTORS, BYTES = 4, 3


def module(name):
    return importlib.import_module(f"{protocols.__name__}.{name}")


@pytest.mark.parametrize("level", LEVELS)
def test_the_names_are_those_of_the_specification(level):
    names, _, _, group = LEVELS[level]
    (kind, *_) = get_args(get_type_hints(group, include_extras=True)["protocol"])
    assert tuple(names) == get_args(kind)
    assert list(names.values()) == list(range(len(names)))


@pytest.mark.parametrize("level", LEVELS)
def test_every_protocol_has_the_hooks_of_its_level_and_so_has_what_chooses(level):
    names, hooks, chooser, _ = LEVELS[level]
    for name in names:
        found = {n for n, f in inspect.getmembers(module(name), callable) if hasattr(f, "__doc__")}
        public = {n for n in found if not n.startswith("_")} - {"inline", "force_inline"}
        assert public == set(hooks), name
        for hook in hooks:
            ours = inspect.signature(getattr(module(name), hook))
            chosen = inspect.signature(getattr(chooser, hook))
            assert list(chosen.parameters) == ["protocol", *ours.parameters], (name, hook)


def test_every_file_is_a_protocol_or_what_holds_them_together():
    files = {path.stem for path in Path(protocols.__file__).parent.glob("*.py")}
    assert files == {"__init__", "registry", "at_l1", "at_l2", *registry.L1, *registry.L2}


@pytest.mark.parametrize("level", LEVELS)
def test_each_number_chooses_its_protocol(level, monkeypatch):
    """A hook that is the first protocol's may be called there."""
    names, hooks, chooser, _ = LEVELS[level]
    first = module(next(iter(names)))
    for name, hook in itertools.product(names, hooks):
        shared = getattr(module(name), hook) is getattr(first, hook)
        parameters = inspect.signature(getattr(chooser, hook)).parameters
        chosen = mock.Mock()
        with monkeypatch.context() as patch:
            patch.setattr(first if shared else module(name), hook, chosen)
            getattr(chooser, hook)(names[name], *[None] * (len(parameters) - 1))
        assert chosen.called, (name, hook)


def fresh():
    return records(1, HELD)[0]


@pytest.mark.parametrize("name", registry.L1)
def test_an_l1_reads_what_came_from_below_and_owes_nothing(name):
    protocol, way = module(name), fresh()
    protocol.fill(way, 0b0011)
    protocol.fill(way, 0b0100)
    assert protocol.readable(way) == 0b0111
    assert not protocol.atomic(way, 0b0001) and not protocol.probe(way, 0b0001)
    for local in range(2):
        protocol.write(way, 0b1001, 0b0001, local)
    assert protocol.readable(way) & 0b1000 == 0, "what is written is known below"
    assert (way.dirty, way.partial) == (0, 0)


@pytest.mark.parametrize(
    "name, local, stays",
    [("write_through", 0, True), ("write_through", 1, True), ("write_evict", 0, False),
     ("write_evict", 1, True)],
)  # fmt: skip
def test_whether_a_line_stays_that_is_written(name, local, stays):
    protocol, way = module(name), fresh()
    protocol.fill(way, 0b0011)
    assert protocol.write(way, 0b0010, 0b0010, local) == stays
    assert protocol.readable(way) == 0b0011


class Memory:
    """A line, byte by byte: which write each byte of memory, of the cache and of the truth has."""

    def __init__(self):
        self.below, self.truth = self._line(0), self._line(0)
        self.cached = self._line(None)

    @staticmethod
    def _line(value):
        return [[value] * BYTES for _ in range(SECTORS)]

    def write(self, sector, count, value):
        for byte in range(count):
            self.cached[sector][byte] = self.truth[sector][byte] = value

    def fill(self, sector):
        for byte in range(BYTES):
            if self.cached[sector][byte] is None:
                self.cached[sector][byte] = self.below[sector][byte]

    def write_back(self, sector):
        for byte in range(BYTES):
            if self.cached[sector][byte] is not None:
                self.below[sector][byte] = self.cached[sector][byte]


@pytest.mark.parametrize("name", registry.L2)
@pytest.mark.parametrize("seed", range(20))
def test_an_l2_loses_no_byte_and_reads_none_that_it_has_not(name, seed):
    """Random writes, updates, fetches, fills and evictions of one line."""
    rng, protocol, way, memory = random.Random(seed), module(name), fresh(), Memory()
    for value in range(1, 200):
        sector = rng.randrange(SECTORS)
        bit, what = 1 << sector, rng.randrange(6)
        if what < 2:
            wanted = protocol.wanted(way, bit)
            assert wanted in (0, bit)
            way.pending |= wanted
            count = rng.randint(1, BYTES)
            memory.write(sector, count, value)
            protocol.write(way, bit, bit if count == BYTES else 0)
        elif what == 2 and protocol.readable(way) & bit:
            memory.write(sector, 1, value)
            protocol.atomic(way, bit)
        elif what == 3 and not (way.valid | way.pending) & bit:
            way.pending |= bit
        elif what == 4 and way.pending & bit:
            written = any(byte is not None for byte in memory.cached[sector])
            partial = written and not way.valid & bit
            memory.fill(sector)
            assert bool(protocol.fill(way, bit)) == partial
        elif what == 5 and not way.pending:
            for k in range(SECTORS):
                if protocol.owed(way) >> k & 1:
                    memory.write_back(k)
                    protocol.paid(way, 1 << k)
            assert protocol.owed(way) == 0 and memory.below == memory.truth
            memory.cached, way = memory._line(None), fresh()
        for k in range(SECTORS):
            if protocol.readable(way) >> k & 1:
                assert memory.cached[k] == memory.truth[k]
            if memory.below[k] != memory.truth[k]:
                assert protocol.owed(way) >> k & 1
    held = SimpleNamespace(**{n: int(way[n]) for n in HELD.names})
    assert held.valid & held.partial == 0


@pytest.mark.parametrize("name", registry.L2)
def test_a_probe_takes_the_sectors_of_a_copy(name):
    protocol, way = module(name), fresh()
    protocol.fill(way, 0b0111)
    protocol.probe(way, 0b0010)
    assert protocol.readable(way) == 0b0101


@pytest.mark.parametrize(
    "name, wanted, hit", [("write_validate", 0, 0b0001), ("write_fetch", 0b1110, 0b0001)]
)
def test_what_a_write_fetches_and_what_it_finds(name, wanted, hit):
    protocol, way = module(name), fresh()
    protocol.fill(way, 0b0001)
    assert (protocol.wanted(way, 0b1111), protocol.written(way)) == (wanted, hit)
    way.pending |= 0b0010
    protocol.write(way, 0b0010, 0)
    assert protocol.written(way) == (0b0011 if name == "write_validate" else 0b0001)
