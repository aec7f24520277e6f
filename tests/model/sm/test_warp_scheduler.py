"""Warp schedulers: in which order warps are looked at, and a user's policy in their place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.model.counters import Stall
from lockstep.model.sm import scheduler
from lockstep.model.sm.scheduler import GRR, GTO, GTY, LRR, OLDEST, place

pytestmark = pytest.mark.plain


def orders(policy, last, count):
    """The places in the order in which a policy looks at them."""
    turns = count + (policy in (GTO, GTY) and last >= 0)
    return [place(policy, last, turn, count) for turn in range(turns)]


@given(st.integers(1, 16), st.data())
def test_each_policy_looks_at_every_warp_in_its_order(count, data):
    last = data.draw(st.integers(-1, count - 1))
    everyone = list(range(count))
    first = [last] if last >= 0 else []
    assert orders(OLDEST, last, count) == everyone
    assert orders(GTO, last, count) == first + everyone
    assert orders(GTY, last, count) == first + everyone[::-1]
    assert orders(LRR, last, count) == everyone[last + 1 :] + everyone[: last + 1]
    assert orders(GRR, last, count) == orders(LRR, last, count)


def straight(policy, watch, tiny, instructions=3, **options):
    """The warps that issue, in order: three warps of one sub-core, always ready."""
    k = KernelBuilder("straight", grid=1, block=96)
    for _ in range(instructions):
        k("NOP")
    name = policy if isinstance(policy, str) else "gto"
    gpu = tiny(sm__subcores=1, sm__scheduler__policy=name)
    seen = watch(k.workload(), gpu, **options)
    return [w for _, _, w, _ in seen.issues], seen


@pytest.mark.parametrize(
    "policy, order",
    [
        ("gto", [0] * 4 + [1] * 4 + [2] * 4),
        ("oldest", [0] * 4 + [1] * 4 + [2] * 4),
        ("gty", [2] * 4 + [1] * 4 + [0] * 4),
        ("lrr", [0, 1, 2] * 4),
        ("grr", [0] * 4 + [1] * 4 + [2] * 4),
    ],
)
def test_a_policy_decides_which_warp_issues(watch, tiny, policy, order):
    assert straight(policy, watch, tiny)[0] == order


@pytest.mark.parametrize(
    ("policy", "order"), [("grr", [0, 1, 2] * 3), ("lrr", [0] * 4 + [1] * 4 + [2])]
)
def test_after_a_yield_it_is_the_turn_of_the_next_warp(watch, tiny, policy, order):
    """Nobody starves; the other policies begin with their first warp again."""
    k = KernelBuilder("yields", grid=1, block=96)
    for _ in range(3):
        k("NOP", stall=1, yields=1)
    k("EXIT", stall=1)
    gpu = tiny(sm__subcores=1, sm__scheduler__policy=policy)
    seen = watch(k.workload(), gpu)
    assert [w for _, _, w, _ in seen.issues][:9] == order


def waiting(policy, watch, tiny):
    """Two warps; each computes, needs the result, and has something else to do afterwards."""
    k = KernelBuilder("waiting", grid=1, block=64)
    k("MUFU.RCP R1, R2")
    k("MOV R3, R1")
    for _ in range(3):
        k("NOP")
    seen = watch(k.workload(), tiny(sm__subcores=1, sm__scheduler__policy=policy))
    return [(w, i) for _, _, w, i in seen.issues]


def test_greedy_stays_with_its_warp_while_it_can(watch, tiny):
    # Both wait for the SFU; warp 0 issues first and keeps the scheduler to its end.
    order = waiting("gto", watch, tiny)
    assert order[:2] == [(0, 0), (1, 0)]
    assert [w for w, _ in order[2:]] == [0] * 5 + [1] * 5


def test_the_oldest_policy_goes_back_to_the_oldest(watch, tiny):
    def order(policy):
        k = KernelBuilder("back", grid=1, block=64)
        with k.lanes(lambda at: at.warp == 0):
            k("MUFU.RCP R1, R2")
            k("MOV R3, R1")
        for _ in range(40):
            k("NOP")
        seen = watch(k.workload(), tiny(sm__subcores=1, sm__scheduler__policy=policy))
        return [w for _, _, w, _ in seen.issues]

    greedy, oldest = order("gto"), order("oldest")
    assert greedy[:43] == [0] + [1] * 41 + [0], "warp 1 keeps the scheduler to its end"
    first = oldest.index(0, 1)
    assert first < 41 and oldest[first : first + 10] == [0] * 10


def youngest(warps, first, count, last, now):
    for i in range(count - 1, -1, -1):
        if warps[first + i].ready:
            return i
    return -1


def test_a_users_policy_decides(watch, tiny):
    order, _ = straight(youngest, watch, tiny, policies={"scheduler": youngest})
    assert order == [2] * 4 + [1] * 4 + [0] * 4


def test_a_policy_sees_what_is_promised(watch, tiny):
    seen = []

    def note(warps, first, count, last, now):
        rows = warps[first : first + count]
        seen.append((now, last, rows.slot.tolist(), rows.age.tolist(), rows.issued.tolist()))
        assert (rows.cta == 0).all()
        return 0 if rows[0].ready else -1

    straight(note, watch, tiny, instructions=1, policies={"scheduler": note})
    assert seen[0] == (0, -1, [0, 1, 2], [0, 1, 2], [0, 0, 0])
    assert seen[1] == (1, 0, [0, 1, 2], [0, 1, 2], [1, 0, 0])
    assert seen[2] == (2, -1, [1, 2], [1, 2], [0, 0]), "the last issuer has left"


@pytest.mark.parametrize("answer", [-1, 7, -5, 10**9])
def test_any_other_answer_lets_cycles_pass(watch, tiny, answer):
    def stubborn(warps, first, count, last, now):
        return 0 if now >= 10 else answer

    order, result = straight(stubborn, watch, tiny, policies={"scheduler": stubborn})
    assert order == [0] * 4 + [1] * 4 + [2] * 4
    assert result.issues[0][0] == 10


def test_a_policy_cannot_issue_from_a_warp_that_is_not_ready(watch, tiny):
    def first(warps, first, count, last, now):
        return 0

    k = KernelBuilder("waits", grid=1, block=32)
    k("MUFU.RCP R1, R2")
    k("MOV R3, R1")
    gpu = tiny()
    free = watch(k.workload(), gpu)
    assert watch(k.workload(), gpu, policies={"scheduler": first}).issues == free.issues


def test_the_reason_is_that_of_the_warp_that_can_go_on_first(watch, tiny):
    gpu = tiny(sm__subcores=1)
    k = KernelBuilder("reasons", grid=1, block=64)
    with k.lanes(lambda at: at.warp == 0):
        k("LDG.E R1, [R2]", address=0x7F0000000000)
    with k.lanes(lambda at: at.warp == 1):
        k("MUFU.RCP R1, R2")
    k("MOV R3, R1")
    seen = watch(k.workload(), gpu)
    needed = {w: seen.of(w)[1] for w in range(2)}
    assert seen.stalls[Stall.SHORT_SCOREBOARD] == needed[1] - 2
    assert seen.stalls[Stall.LONG_SCOREBOARD] == needed[0] - needed[1] - 2


def test_user_policies_have_a_number_of_their_own():
    assert scheduler.USER not in scheduler.POLICIES.values()
