"""Groups and wires: the loop over windows takes shards of any kind through time."""

import heapq
import random

import numpy as np
import pytest

from lockstep._jit import Context, jit, phase, phases
from lockstep.engine import nearby
from lockstep.engine.groups import Group, Wire, ends, in_rows, share_out
from lockstep.engine.threads import Threads
from lockstep.engine.windows import BARRIER, VERDICT, Team, run_windows
from lockstep.model import control, link
from lockstep.model.clock import NEVER
from lockstep.model.dispatch import state as dispatch_state
from lockstep.model.link import Link
from lockstep.model.records import records

WINDOW = 10
SIZES = 5, 3, 4
MOST = 8  # shards that any group may have
TOKENS = 12
END = 40 * WINDOW


SHARDS = np.array([2, 3, 5, 6, 9])


def test_shards_are_shared_out_in_blocks_or_by_turns():
    assert share_out(SHARDS, 2).tolist() == [0, 0, 1, 1, 1]
    assert share_out(SHARDS, 2, turns=True).tolist() == [0, 1, 0, 1, 0]
    assert share_out(SHARDS, 7).tolist() == share_out(SHARDS, 7, turns=True).tolist()
    assert share_out(SHARDS, 7).tolist() == [0, 1, 2, 3, 4], "the last ones have none"
    assert share_out(SHARDS[:0], 2).tolist() == []


def test_what_is_not_parted_has_one_owner():
    starts = [0, 3, 6, 8]
    assert share_out(SHARDS, 2, starts).tolist() == [0, 0, 0, 1, 1]
    assert share_out(SHARDS, 2, starts, turns=True).tolist() == [0, 1, 1, 0, 1]


def test_rows_are_as_long_as_shards_follow_each_other():
    assert in_rows(SHARDS) == [(2, 4, 1), (5, 7, 1), (9, 10, 1)]
    assert in_rows(np.arange(4)) == [(0, 4, 1)]
    assert in_rows(np.arange(1, 12, 3)) == [(1, 11, 3)], "equally far from each other"
    assert in_rows(np.array([1, 3]), close=True) == [(1, 2, 1), (3, 4, 1)]
    assert in_rows(SHARDS[:0]) == []


class Relay(Context):
    """Shards that hand tokens on: what comes in on one link leaves on another one."""

    seen: np.ndarray  # shards x 2 * END: cycle and token, by turns
    count: np.ndarray  # shards
    first_tokens: np.ndarray  # shards: the token that begins here in cycle 0, or -1
    incoming: Link
    outgoing: Link


@jit
def relay(state, first, last, step, start, end):
    """A token a cycle: note it, and send it to a shard that its number and the place name."""
    for s in range(first, last, step):
        link.begin(state.outgoing, s)
        link.open_inbox(state.incoming, s)
        for now in range(start, end):
            token = -1
            if now == 0 and state.first_tokens[s] >= 0:
                token = state.first_tokens[s]
            elif link.waiting(state.incoming, s, now):
                token = link.first(state.incoming, s).tag
                link.take(state.incoming, s)
            if token >= 0:
                n = state.count[s]
                state.seen[s, 2 * n], state.seen[s, 2 * n + 1] = now, token
                state.count[s] = n + 1
                target = (token * 7 + s) % state.outgoing.spec[0].destinations
                message = link.send(state.outgoing, s, target, now)
                message.tag = token
    return link.next_arrival(state.incoming, first, last, step)


def ring():
    """Three kinds of shards in a ring of links."""
    links = [link.build(SIZES[g], SIZES[(g + 1) % 3], WINDOW, 2 * TOKENS, 1) for g in range(3)]
    groups = []
    for g, size in enumerate(SIZES):
        begins = np.where(np.arange(size) < 4, np.arange(size) + 4 * g, -1)
        seen = np.zeros((size, 2 * END), np.int64)
        state = Relay(seen, np.zeros(size, np.int64), begins, links[g - 1], links[g])
        groups.append(Group(size, relay, state))
    return groups, [Wire(made, g, (g + 1) % 3) for g, made in enumerate(links)]


def run_ring(small, threads):
    groups, wires = ring()
    told = control.build(small())
    d = dispatch_state.build(small(), told)
    owners = np.full((len(groups), MOST), -1)
    for row, group in zip(owners, groups):
        row[: group.shards] = share_out(np.arange(group.shards), threads, turns=group.shards > 3)
    rows = np.zeros((threads, len(groups), MOST, 3), np.int64)
    for k, g in np.ndindex(rows.shape[:2]):
        mine = in_rows(np.flatnonzero(owners[g] == k))
        rows[k, g, : len(mine)] = np.reshape(mine, (-1, 3))
    table = phases([(phase(g.run, (g.state.kind,), 5), g.state) for g in groups])
    nothing = link.build(1, 1, WINDOW, 0, 1)
    team = Team(
        table,
        rows,
        owners,
        ends(wires),
        np.zeros(BARRIER, np.int64),
        np.zeros((2, threads), np.int64),
        records(1, VERDICT),
        nearby.alone(),
        np.zeros(1, np.int64),
        nothing,
        nothing,
        np.zeros(1, np.int64),
    )
    links = tuple(wire.link for wire in wires)
    crew = Threads(threads)
    numbers = 0, WINDOW, NEVER, END, 10 * END
    crew.run([lambda k=k: run_windows(team, links, d, k, *numbers) for k in range(threads)])
    crew.close()
    return [
        [row[: 2 * n].reshape(-1, 2).tolist() for row, n in zip(g.state.seen, g.state.count)]
        for g in groups
    ]


def naive_ring():
    """The same, one token after the other: a shard takes one a cycle, in the order of links."""
    seen = [[[] for _ in range(size)] for size in SIZES]
    free = [[0] * size for size in SIZES]
    events = [(0, -1, 4 * g + s, g, s) for g, n in enumerate(SIZES) for s in range(min(n, 4))]
    heapq.heapify(events)  # by arrival, then by source
    while events:
        arrival, _, token, g, s = heapq.heappop(events)
        now = max(arrival, free[g][s])
        if now >= END:
            continue
        free[g][s] = now + 1
        seen[g][s].append([now, token])
        after = (g + 1) % 3
        target = (token * 7 + s) % SIZES[after]
        heapq.heappush(events, (now + WINDOW, s, token, after, target))
    return seen


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_tokens_go_around_three_kinds_of_shards_as_fast_as_links_are(small, threads):
    found = run_ring(small, threads)
    assert found == naive_ring()
    assert sum(len(rows) for group in found for rows in group) > TOKENS * 20


@pytest.mark.long
def test_a_link_may_join_a_group_with_itself(small):
    """Sources and destinations are the same shards: each has both ends."""
    size = 4
    joined = link.build(size, size, WINDOW, TOKENS, 1)
    begins = np.arange(size)
    random.Random(5).shuffle(begins)
    state = Relay(
        np.zeros((size, 2 * END), np.int64), np.zeros(size, np.int64), begins, joined, joined
    )
    wires = [Wire(joined, 0, 0)]
    d = dispatch_state.build(small(), control.build(small()))
    nothing = link.build(1, 1, WINDOW, 0, 1)
    team = Team(
        phases([(phase(relay, (state.kind,), 5), state)]),
        np.array([[[[0, size, 1]]]]),
        np.zeros((1, MOST), np.int64),
        ends(wires),
        np.zeros(BARRIER, np.int64),
        np.zeros((2, 1), np.int64),
        records(1, VERDICT),
        nearby.alone(),
        np.zeros(1, np.int64),
        nothing,
        nothing,
        np.zeros(1, np.int64),
    )
    run_windows(team, (joined,), d, 0, 0, WINDOW, NEVER, END, 10 * END)
    cycles = np.sort(np.concatenate([r[: 2 * n : 2] for r, n in zip(state.seen, state.count)]))
    assert cycles[:size].tolist() == [0] * size
    assert (cycles[size:] >= WINDOW).all() and cycles[size] == WINDOW
