"""Ways between modules: shortest ones, over links that there are, shared evenly."""

from collections import Counter, deque

import pytest

from lockstep.gpus.modules import MOST_LINKS, Modules
from lockstep.model.modules.routes import HERE, columns, routes

SHAPES = [
    *[("ring", n) for n in (2, 3, 4, 5, 8, 16)],
    *[("mesh", n) for n in (2, 4, 6, 7, 12, 16)],
    *[("full", n) for n in (2, 3, 4, 8)],
]


def joined(topology, n):
    """Which modules have a link, by hand."""
    if topology == "full":
        return {(a, b) for a in range(n) for b in range(n) if a != b}
    if topology == "ring":
        return {(a, (a + d) % n) for a in range(n) for d in (1, -1)}
    places = {m: divmod(m, columns(n)) for m in range(n)}
    near = {
        (a, b): sum(abs(p - q) for p, q in zip(places[a], places[b]))
        for a in places
        for b in places
    }
    return {pair for pair, distance in near.items() if distance == 1}


def distances(links, n, start):
    """Hops to every module, by breadth-first search."""
    found, queue = {start: 0}, deque([start])
    while queue:
        at = queue.popleft()
        for a, b in sorted(links):
            if a == at and b not in found:
                found[b] = found[at] + 1
                queue.append(b)
    return [found[m] for m in range(n)]


@pytest.mark.parametrize(("topology", "n"), SHAPES)
def test_every_way_is_a_shortest_one_over_links_that_there_are(topology, n):
    ways = routes(Modules(count=n, topology=topology))
    links = joined(topology, n)
    used = {(m, to) for m, row in enumerate(ways.neighbours) for to in row}
    assert used == links and all(len(row) <= MOST_LINKS for row in ways.neighbours)
    for m in range(n):
        assert ways.hops[m] == distances(links, n, m)
        assert [k for k in range(n) if ways.links[m][k] == HERE] == [m]
        for target in set(range(n)) - {m}:
            following = ways.neighbours[m][ways.links[m][target]]
            assert ways.hops[following][target] == ways.hops[m][target] - 1


@pytest.mark.parametrize("n", [4, 8])
def test_links_of_a_ring_carry_as_many_ways_each(n):
    ways = routes(Modules(count=n, topology="ring"))
    carried = Counter()
    for m in range(n):
        for target in range(n):
            at = m
            while at != target:
                following = ways.neighbours[at][ways.links[at][target]]
                carried[at, following] += 1
                at = following
    assert len(set(carried.values())) == 1 and len(carried) == 2 * n


def test_a_mesh_is_as_square_as_it_can_be():
    assert [columns(n) for n in (1, 2, 4, 6, 7, 12, 16)] == [1, 2, 2, 3, 7, 4, 4]
    assert routes(Modules(count=6, topology="mesh")).most_hops == 3


def test_messages_of_a_mesh_go_along_their_row_first():
    ways = routes(Modules(count=6, topology="mesh"))  # 0 1 2 / 3 4 5
    assert ways.neighbours[0][ways.links[0][5]] == 1
    assert ways.neighbours[5][ways.links[5][0]] == 4
