"""All orders of events, as far as a test has time; ``scripts/coherence.py search`` goes farther."""

import pytest

from coherence_twin import search_runner
from coherence_twin.machine import Machine
from coherence_twin.search import Wrong, coverage, key, search, settle, successors
from lockstep.model.coherence.library import FOLDER, load
from lockstep.model.coherence.table import parse

pytestmark = pytest.mark.xdist_group("coherence")  # as test_random.py


@pytest.mark.long
@pytest.mark.parametrize("name", ["si", "vi"])
def test_two_l1s_come_to_every_entry_that_is_not_marked_and_to_no_violation(name):
    protocol = load(name)
    visited = search(protocol, 2, 1, 3).visited | search(protocol, 2, 2, 2).visited
    if name == "vi":
        visited |= search(protocol, 2, 1, 3, far=True).visited
    assert coverage(protocol, visited) == ([], [])


@pytest.mark.long
def test_nmoesi_comes_to_every_entry_that_is_not_marked_and_to_no_violation():
    protocol = load("nmoesi")
    found = search(protocol, 2, 1, 2)
    assert coverage(protocol, found.visited) == ([], [])
    assert found.states > 25_000


def test_all_values_of_one_l1_and_its_home():
    for name in ("si", "vi", "nmoesi"):
        found = search(load(name), 1, 1, 2, values=True)
        assert found.states > 100


def broken(name, old, new):
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    assert old in text
    return parse(name, text.replace(old, new))


@pytest.mark.long
def test_a_deadlock_is_found_with_the_way_to_it():
    stalls = broken("nmoesi", 'INV = "DOWN_ACK, drop -> IM_D"', 'INV = "stall"')
    with pytest.raises(Wrong, match="nothing can move any more") as caught:
        search(stalls, 2, 1, 2, operations=("load", "store_glc"))
    assert str(caught.value).endswith("L1 1 store_glc 1")


def test_two_writers_are_found():
    silent = broken("nmoesi", 'INV = "DOWN_ACK, drop -> I"', 'INV = "DOWN_ACK"')
    with pytest.raises(Wrong, match="the directory does not know of L1 1"):
        search(silent, 2, 1, 2, operations=("load", "store_glc"))


def test_an_entry_that_is_never_come_to_is_named():
    found = search(load("nmoesi"), 2, 1, 1, operations=("load",))
    unreached, marked = coverage(load("nmoesi"), found.visited)
    assert ("l1", "I", "store") in unreached and marked == []
    third = broken("nmoesi", 'load = "perform"', 'load = "perform ? never"')
    assert ("l1", "S", "load") in coverage(third, found.visited)[1]


SAME = [
    ("si", 1, 1, False),
    ("si", 2, 1, False),
    ("vi", 1, 2, False),
    ("vi", 1, 3, True),
    ("nmoesi", 1, 1, False),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "size", "in_flight", "far"), SAME)
def test_the_search_by_numbers_finds_what_the_one_by_names_does(name, size, in_flight, far):
    slow = search(load(name), 2, size, in_flight, far=far)
    fast = search_runner.search(load(name), 2, size, in_flight, far=far, symmetric=False)
    assert fast == slow
    half = search_runner.search(load(name), 2, size, in_flight, far=far)
    assert half.visited == slow.visited
    assert slow.states / 2 < half.states < slow.states / 2 * 1.2


@pytest.mark.long
def test_three_l1s_have_six_names():
    whole = search_runner.search(load("vi"), 3, 1, 1, symmetric=False)
    part = search_runner.search(load("vi"), 3, 1, 1)
    assert part.visited == whole.visited
    assert whole.states / 6 < part.states < whole.states / 3


WRONG = [
    ("nmoesi", 'INV = "DOWN_ACK, drop -> IM_D"', 'INV = "stall"', "nothing can move any more"),
    ("nmoesi", 'INV = "DOWN_ACK, drop -> I"', 'INV = "DOWN_ACK"', "the directory does not know"),
    ("nmoesi", 'store = "perform -> M"', 'store = "perform, drop -> M"', "dirty bytes are dropped"),
    ("si", 'ACK = "acknowledged"', 'ACK = "! never"', "an impossible entry of an L1"),
    ("vi", 'WRITE = "merge, ACK -> V"', 'WRITE = "! never"', "an impossible entry of the home"),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "old", "new", "what"), WRONG)
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_search_by_numbers_finds_what_is_wrong(name, old, new, what, symmetric):
    some = ("load", "store", "store_glc") if name == "nmoesi" else ("load", "store")
    table = broken(name, old, new)
    with pytest.raises(Wrong, match=what) as fast:
        search_runner.search(table, 2, 1, 2, operations=some, symmetric=symmetric)
    with pytest.raises(Wrong) as slow:
        search(table, 2, 1, 2, operations=some)
    assert len(str(fast.value).split("\n")) == len(str(slow.value).split("\n"))


def can_end(machine, operations):
    """Whether all that is under way can come to its end."""
    work, known = [machine], set()
    while work:
        at = work.pop()
        if not at.network and all(copy.access is None for copy in at.l1s):
            return True
        for _, begins, step in successors(at, operations, 2):
            other = at.clone()
            if not begins and step(other):
                settle(other)
                if key(other, False) not in known:
                    known.add(key(other, False))
                    work.append(other)
    return False


def test_the_way_to_what_is_wrong_can_be_gone():
    """Names of L1s are those of the beginning, whatever names its states have."""
    table = broken("nmoesi", 'INV = "DOWN_ACK, drop -> IM_D"', 'INV = "stall"')
    some = ("load", "store_glc")
    with pytest.raises(Wrong) as caught:
        search_runner.search(table, 2, 1, 2, operations=some)
    machine = Machine(table, 2, 1)
    for line in str(caught.value).split("\n")[1:]:
        words = line.split()
        if words[0] == "L1" and words[2] in some:
            machine.begin(int(words[1]), words[2], int(words[3], 2), 1)
        elif line.endswith("looks again"):
            machine.retry(int(words[1]))
        elif words[0] == "L1":
            assert machine.internal(int(words[1]), words[2])
        elif line == "home evict":
            assert machine.evict()
        else:
            wanted = words[0], int(words[2]), int(words[4])
            (k, *_) = [k for k, m in enumerate(machine.network) if m[:3] == wanted]
            assert machine.arrive(k, no_mshr=line.endswith("no MSHR"))
    assert not can_end(machine, some)
