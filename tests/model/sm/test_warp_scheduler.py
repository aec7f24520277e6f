"""Warp schedulers: in which order warps are looked at, and a user's policy in their place."""

from unittest import mock

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.model.counters import Stall
from lockstep.model.sm import scheduler
from lockstep.model.sm.scheduler import GRR, GTO, GTY, LRR, OLDEST, POLICIES, next_place

pytestmark = pytest.mark.plain


def orders(policy, last, places):
    """Some places in the order in which a policy looks at them."""
    rest, order = sum(1 << k for k in places), []
    while rest:
        order.append(next_place(policy, last, rest))
        rest ^= 1 << order[-1]
    return order


@given(st.sets(st.integers(0, 62), min_size=1), st.integers(-1, 62))
def test_each_policy_looks_at_every_warp_in_its_order(places, last):
    everyone = sorted(places)
    first = [last] if last in places else []
    others = [k for k in everyone if k != last]
    assert orders(OLDEST, last, places) == everyone
    assert orders(GTO, last, places) == first + others
    assert orders(GTY, last, places) == first + others[::-1]
    turned = [k for k in everyone if k > last] + [k for k in everyone if k <= last]
    assert orders(LRR, last, places) == orders(GRR, last, places) == turned


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


OPCODES = ("DADD R2, R4, R6", "FADD R2, R4, R6", "MUFU.RCP R2, R4", "IADD3 R8, R4, R5, R6", "NOP")
LOAD = "LDG.E R20, [R10]"


@pytest.mark.long
@settings(max_examples=25, phases=set(Phase) - {Phase.shrink})
@given(
    st.lists(st.sampled_from((*OPCODES, LOAD)), min_size=4, max_size=12),
    st.integers(1, 12),
    st.sampled_from(sorted(POLICIES)),
    st.sampled_from(["ports", "collectors"]),
)
def test_looking_at_warps_together_changes_nothing(watch, tiny, opcodes, warps, policy, style):
    """Beside a scheduler that looks at each warp by itself; some warps end early."""
    k = KernelBuilder("units", grid=2, block=32 * warps)
    with k.loop(3):
        for opcode in opcodes:
            k(opcode, **({"address": k.coalesced(1 << 32)} if opcode == LOAD else {}))
        with k.lanes(lambda at: at.warp % 3 > 0):
            k("MUFU.RCP R9, R8")
    gpu = tiny(
        sm__subcores=1, sm__scheduler__policy=policy, sm__operands__style=style, sm__warps=30
    )
    together = watch(k.workload(), gpu)
    with mock.patch.object(scheduler, "join", lambda sub, k, look: None):
        alone = watch(k.workload(), gpu)
    assert together.issues == alone.issues
    assert together.run.sm.tobytes() == alone.run.sm.tobytes()


def test_warps_that_await_a_unit_are_looked_at_together(watch, tiny):
    """Five warps, and one instruction in sixteen cycles: each is looked at as often as it issues,
    and once more when it finds the unit taken."""
    k = KernelBuilder("together", grid=1, block=160)
    for _ in range(4):
        k("DADD R2, R4, R6")
    gpu = tiny(sm__subcores=1)
    looks, look_at = [], scheduler.look_at
    with mock.patch.object(scheduler, "look_at", lambda *a: looks.append(a) or look_at(*a)):
        seen = watch(k.workload(), gpu)
    issued = [i for i in seen.issues if i[3] < 4]
    assert len(issued) == 20 and len(looks) <= 2 * len(seen.issues) + 5


def test_user_policies_have_a_number_of_their_own():
    assert scheduler.USER not in scheduler.POLICIES.values()
