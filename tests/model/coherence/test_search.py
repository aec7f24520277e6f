"""All orders of events, as far as a test has time; ``scripts/coherence.py search`` goes farther."""

import pytest

from coherence_twin.search import Wrong, coverage, search
from lockstep.model.coherence.library import FOLDER, load
from lockstep.model.coherence.table import parse


@pytest.mark.parametrize("name", ["si", "vi"])
def test_two_l1s_come_to_every_entry_that_is_not_marked_and_to_no_violation(name):
    protocol = load(name)
    visited = search(protocol, 2, 1, 3).visited | search(protocol, 2, 2, 2).visited
    if name == "vi":
        visited |= search(protocol, 2, 1, 3, far=True).visited
    assert coverage(protocol, visited) == ([], [])


def test_nmoesi_comes_to_every_entry_that_is_not_marked_and_to_no_violation():
    protocol = load("nmoesi")
    found = search(protocol, 2, 1, 2)
    assert coverage(protocol, found.visited) == ([], [])
    assert found.states > 30_000


def test_all_values_of_one_l1_and_its_home():
    for name in ("si", "vi", "nmoesi"):
        found = search(load(name), 1, 1, 2, values=True)
        assert found.states > 100


def broken(name, old, new):
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    assert old in text
    return parse(name, text.replace(old, new))


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
