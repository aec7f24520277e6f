"""One DRAM channel alone, and what a log of its commands must obey."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.gpus import library
from lockstep.model.counters import PARTITION_COUNTERS
from lockstep.model.dram import build, controller, queue, scheduler, standard
from lockstep.model.dram.standard import Command, Scope
from lockstep.model.dram.state import NONE
from lockstep.model.memory import SLICE

LOG = 20000
ROW_BUS = {Command.ACT, Command.PRE, Command.REFab, Command.REFpb}
# The core runs at the clock of the DRAM, so that its cycles are ticks.
PLAIN = {
    "clock_mhz": 1000.0,
    "dram.clock_mhz": 1000.0,
    "dram.standard": "HBM2",
    "dram.channels": 1,
    "dram.timing": {},
    "dram.refresh": False,
    "l2.slices_per_channel": 1,
}


class Channel:
    """A channel that is given requests for banks and rows, and keeps a log of its commands."""

    def __init__(self, user=None, **changes):
        changes = {name.replace("__", "."): value for name, value in changes.items()}
        self.gpu = library.replace(library.gpu("QV100"), **PLAIN | changes)
        self.timing = standard.resolve(self.gpu.dram)
        self.p = SimpleNamespace(**self.timing.parameters)
        self.slice = as_records(np.zeros(1, SLICE))
        self.slice["return_head"] = self.slice["return_tail"] = NONE
        counters = as_records(np.zeros(1, PARTITION_COUNTERS))
        self.c = build.build(self.gpu, self.slice, counters, 0, user is not None, LOG)
        self.state, self.counters = self.c.channels[0], counters[0]
        self.pick = scheduler.compile_scheduler(user or scheduler.pick_none)
        self.data = []  # of reads: bank, row and cycle

    def add(self, bank, row, write=0, at=0):
        """Queue a request in a cycle; the channel has been run up to it."""
        controller.enqueue(self.c, 0, write, row << 8 | bank, at)

    def run(self, until):
        """Do what can be done up to a tick."""
        while self.state.next <= until:
            controller.step(self.c, self.pick, 0, self.state.next)
            self._take_data()

    def _take_data(self):
        here = self.slice[0]
        while here.return_head != NONE:
            index = int(here.return_head)
            slot = self.c.slots[index]
            self.data.append((int(slot.bank), int(slot.row), int(slot.ready)))
            here.return_head = slot.next
            queue.release(self.c.slots, self.state, index)

    def finish(self, limit=1_000_000):
        """Run until no request waits; the tick of the last command."""
        while self.state.waiting.any():
            assert self.state.next < limit, "the channel hangs"
            self.run(self.state.next)
        return self.log[-1].tick

    def drive(self, requests):
        """Serve (cycle, write, bank, row) in order, each waits for room; the last tick."""
        now = 0
        for cycle, write, bank, row in requests:
            now = max(now, cycle)
            self.run(now)
            while not controller.has_room(self.c, 0, write):
                now = int(self.state.next)
                self.run(now)
            self.add(bank, row, write, now)
        return self.finish()

    @property
    def log(self):
        """The commands given so far."""
        assert self.state.logged < LOG, "the log is full"
        return as_records(self.c.log[0, : self.state.logged])

    def ticks(self, command, bank=None):
        """When a command was given."""
        mine = self.log[self.log.command == command]
        return [int(e.tick) for e in mine if bank is None or e.bank == bank]

    def violations(self):
        """What the log does that the standard forbids."""
        return list(violations(self.log, self.timing, self.gpu.dram))


def violations(log, timing, dram):
    """A checker that knows nothing of how the model keeps time: all pairs, all constraints."""
    for constraint in timing.constraints:
        yield from pairs_too_close(log, constraint, dram.bank_groups)
    yield from impossible(log)
    buses = Counter((int(e.tick), dram.dual_command_bus and e.command in ROW_BUS) for e in log)
    yield from (f"two commands at {tick}" for (tick, _), n in buses.items() if n > 1)


def pairs_too_close(log, constraint, groups):
    """Pairs of commands that break one constraint."""
    earlier = log[log.command == constraint.earlier]
    later = log[log.command == constraint.later]
    for e in earlier:
        after = later[(later.tick > e.tick) & (later.tick < e.tick + constraint.clocks)]
        if constraint.scope == Scope.BANK:
            after = after[after.bank == e.bank]
        elif constraint.scope == Scope.GROUP:
            after = after[after.bank % groups == e.bank % groups]
        if len(after) >= constraint.window:
            yield f"{constraint} after {e}: {after[0]}"


def impossible(log):
    """Commands for which the bank is not in the right state."""
    rows = {}  # of open banks; None until its first column command tells
    for e in log:
        bank, command = int(e.bank), Command(int(e.command))
        covered = list(rows) if bank < 0 else [b for b in rows if b == bank]
        if command == Command.ACT:
            if covered:
                yield f"{e}: the bank is open"
            rows[bank] = None
        elif command == Command.PRE:
            if rows.pop(bank, -1) == -1:
                yield f"{e}: the bank is closed"
        elif command in (Command.REFab, Command.REFpb):
            if covered:
                yield f"{e}: {covered} are open"
        elif bank not in rows or rows[bank] not in (None, e.row):
            yield f"{e}: the open row is {rows.get(bank)}"
        else:
            rows[bank] = e.row


def random_traffic(seed, count, banks, rows, writes, spacing):
    """Requests with some locality: (cycle, write, bank, row)."""
    rng = np.random.default_rng(seed)
    return [
        (int(t), int(w), int(b), int(r))
        for t, w, b, r in zip(
            np.cumsum(rng.integers(0, spacing + 1, count)),
            rng.random(count) < writes,
            rng.integers(0, banks, count),
            rng.integers(0, rows, count),
        )
    ]


@pytest.fixture(scope="session")
def channel():
    """Maker of channels: keywords are changes to the GPU, ``user`` a scheduler."""
    return Channel


@pytest.fixture(scope="session")
def traffic():
    """Function that makes random requests."""
    return random_traffic


@pytest.fixture(scope="session")
def checker():
    """Function from a log, a timing and a DRAM to what is wrong with it."""
    return lambda *arguments: list(violations(*arguments))
