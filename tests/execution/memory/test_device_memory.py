"""Device memory: allocations that do not overlap, and what is said of others."""

import gc
import itertools
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.execution.checks import shadow
from lockstep.execution.checks.kinds import Check
from lockstep.execution.memory.device_memory import ALIGNMENT, DeviceMemory, DeviceMemoryError

CAPACITY = 1 << 20


@pytest.fixture
def memory():
    memory = DeviceMemory(CAPACITY)
    yield memory
    memory.close()


def test_limits_of_the_system_are_one_line():
    kinds = {resource.RLIMIT_AS: False, resource.RLIMIT_FSIZE: True}
    for kind, shared in kinds.items():
        limits = resource.getrlimit(kind)
        resource.setrlimit(kind, (1 << 38, limits[1]))
        try:
            with pytest.raises(
                DeviceMemoryError, match=r"cannot reserve .* bytes .*: ask for less"
            ):
                DeviceMemory(1 << 39, shared)
        finally:
            resource.setrlimit(kind, limits)


def test_addresses_are_those_of_the_first_device_again(memory):
    first = memory.base
    memory.close()
    again = DeviceMemory(CAPACITY)
    assert again.base == first
    other = DeviceMemory(CAPACITY)
    assert abs(other.base - first) >= CAPACITY
    again.close()
    other.close()


class Counted(int):
    """An address that counts how often it is compared."""

    asked = 0

    def _ask(self, answer):
        Counted.asked += 1
        return answer

    def __eq__(self, other):
        return self._ask(int(self) == int(other))

    def __lt__(self, other):
        return self._ask(int(self) < int(other))

    def __gt__(self, other):
        return self._ask(int(self) > int(other))

    __hash__ = int.__hash__


def test_a_free_looks_at_few_allocations(memory):
    addresses = [memory.allocate(64) for _ in range(1000)]
    Counted.asked = 0
    memory.free(Counted(addresses[-1]))
    assert len(memory) == 999 and 0 < Counted.asked < 100


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_what_cannot_be_reserved_for_a_check_leaves_nothing(monkeypatch):
    monkeypatch.setattr(shadow, "map_at", lambda address, size: False)
    with pytest.raises(LockstepError, match="for --check init"):
        DeviceMemory(CAPACITY, checks=Check.INIT)
    gc.collect()  # nothing is raised while it goes


def test_a_view_shares_the_bytes(memory):
    address = memory.allocate(64)
    memory.view(address, 64)[:] = np.arange(64)
    assert list(memory.view(address + 10, 3)) == [10, 11, 12]


@pytest.mark.parametrize("offset, size", [(-1, 4), (60, 5), (64, 1), (0, 65)])
def test_a_view_is_inside_one_allocation(memory, offset, size):
    memory.allocate(64)
    address = memory.allocate(64)
    memory.allocate(64)
    with pytest.raises(DeviceMemoryError, match=f"{size} bytes at"):
        memory.view(address + offset, size)


def test_the_nearest_allocation_is_none_that_nobody_asked_for(memory):
    asked = memory.allocate(64)
    hidden = memory.allocate(64, hidden=True)
    assert memory.nearest(hidden + 100) == (asked, 64)
    memory.free(hidden)
    again = memory.allocate(64)
    assert again == hidden and memory.nearest(hidden + 100) == (hidden, 64)


def test_all_of_the_memory_can_be_given_out_and_not_more(memory):
    addresses = [memory.allocate(CAPACITY // 4) for _ in range(4)]
    with pytest.raises(DeviceMemoryError, match=rf"exhausted: 1 bytes .* {CAPACITY} of {CAPACITY}"):
        memory.allocate(1)
    memory.free(addresses[1])
    with pytest.raises(DeviceMemoryError, match="exhausted"):
        memory.allocate(CAPACITY // 4 + 1)
    assert memory.allocate(CAPACITY // 4) == addresses[1]


def test_neighbours_that_are_free_become_one(memory):
    addresses = [memory.allocate(CAPACITY // 4) for _ in range(4)]
    for k in (2, 0, 1):
        memory.free(addresses[k])
    assert memory.allocate(CAPACITY // 4 * 3) == addresses[0]


def test_freeing_what_was_not_given_out_is_an_error(memory):
    address = memory.allocate(64)
    memory.free(address)
    for wrong in (address, address + 16, 0):
        with pytest.raises(DeviceMemoryError, match="not allocated"):
            memory.free(wrong)


def test_negative_sizes_are_refused(memory):
    with pytest.raises(DeviceMemoryError, match="cannot allocate -1"):
        memory.allocate(-1)


def test_allocations_are_apart_sorted_and_found(memory):
    """All examples in one memory: to reserve a range beside others means to collect garbage."""
    given(st.data())(lambda data: allocate_and_free(memory, data))()


def allocate_and_free(memory, data):
    for address in [int(r["address"]) for r in memory.table[: len(memory)]]:
        memory.free(address)  # of the example before
    sizes, live = st.integers(0, 5000), {}
    for _ in range(data.draw(st.integers(1, 30))):
        if live and data.draw(st.booleans()):
            address = data.draw(st.sampled_from(sorted(live)))
            memory.free(address)
            del live[address]
            continue
        size, alignment = data.draw(sizes), data.draw(st.sampled_from([1, 256, 4096]))
        address = memory.allocate(size, max(alignment, ALIGNMENT))
        assert address % max(alignment, ALIGNMENT) == 0
        assert address not in live
        live[address] = size
    rows = [(int(r["address"]), int(r["bytes"])) for r in memory.table[: len(memory)]]
    assert rows == sorted(live.items())
    assert memory.used == sum(live.values())
    for (start, size), (after, _) in itertools.pairwise(rows):
        assert start + size <= after
    place = memory.base + data.draw(st.integers(-10, CAPACITY))
    inside = [(s, n) for s, n in rows if s <= place < s + n]
    assert memory.find(place) == (inside[0] if inside else None)
    distances = [max(s - place, place - s - n + 1, 0) for s, n in rows]
    nearest = memory.nearest(place)
    if rows:
        start, size = nearest
        assert max(start - place, place - start - size + 1, 0) == min(distances)
    else:
        assert nearest is None


def test_memory_that_nobody_uses_does_not_move_that_of_others():
    """Cycles depend on addresses, and must not depend on when Python collects."""
    first = DeviceMemory(1 << 20)
    base = first.base
    gc.disable()
    try:
        first.itself = first
        del first
        with_garbage = DeviceMemory(1 << 20)
    finally:
        gc.enable()
    assert with_garbage.base == base
    beside = DeviceMemory(1 << 20)
    assert beside.base > base
    beside.close()
    with_garbage.close()
