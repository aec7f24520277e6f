"""Lanes that part and meet again, in machine code and in PTX: ``cubins/convergence.cu``."""

import functools

import numpy as np
import pytest

import lockstep
from cubin_files import cubins, load

LANES = range(32)
EVERYONE = 0xFFFFFFFF


@pytest.fixture(scope="module", params=["sm_80", "sm_90", "ptx"])
def module(request):
    code = cubins("convergence")[request.param]
    with lockstep.Device("H100", profile=True) as device:
        load = device.load_ptx if request.param == "ptx" else device.load_cubin
        yield load(code.decode() if request.param == "ptx" else code)


def launch(module, name, parts=1, forced=False):
    """The words that a kernel leaves, 32 a row; whether lanes were forced to part."""
    out = module.device.zeros(32 * parts, "i4")
    module[name][1, 32](out)
    assert bool(module.device.launches[-1].forced) == forced
    return out.numpy().reshape(parts, 32).tolist()


def signed(value):
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def mask_of(lanes):
    return sum(1 << lane for lane in lanes)


def same(values):
    """The lanes whose value is the lane's own, as a mask in each lane."""
    return [mask_of(k for k in LANES if values[k] == v) for v in values]


def walk(x, n, y):
    if n <= 0:
        return x ^ y
    z = x + y * 13
    return walk(z, n - 1, x) + 1 if z & 1 else walk(y, n - 1, z) - n


def test_lanes_of_different_depths_of_a_recursion_meet_behind_it(module):
    rows = launch(module, "recursion", 5)
    value = [signed(0 if t == 3 else walk(t * 7919, (t * 5 & 3) + 1, t * 31 + 5)) for t in LANES]
    shuffled = [value[t ^ 1] for t in LANES]
    matched = [signed(m) for m in same([v & 3 for v in value])]
    assert rows == [value, [-1] * 32, [32] * 32, shuffled, matched]


def tree(lane, mask, depth):
    """``tree`` for one lane; what it votes with others follows from the mask."""
    lanes = [k for k in LANES if mask >> k & 1]
    half, total = mask_of(k for k in lanes if k >> depth & 1), depth
    for i in range(2):
        total += sum(k >> i & 1 for k in lanes) + lanes[0]
        if depth < 4 and lane >> depth & 1 == i:
            total = total * 3 + tree(lane, half if i else mask & ~half, depth + 1)
        total += len(lanes)
    return total


def test_operations_in_a_recursion_are_of_the_lanes_that_name_each_other(module):
    (found,) = launch(module, "masks_of_a_recursion")
    assert found == [tree(lane, EVERYONE, 0) for lane in LANES]


def test_lanes_that_come_together_and_name_others_are_told_apart(module):
    rows = launch(module, "masks_of_their_own", 5)
    own = [[k for k in LANES if k % 5 == t % 5] for t in LANES]
    assert rows[0] == [signed(mask_of(k for k in lanes if k & 1)) for lanes in own]
    assert rows[1] == [sum(lanes) for lanes in own]
    matched = [mask_of(k for k in own[t] if k & 3 == t & 3) for t in LANES]
    assert rows[2] == [signed(m) for m in matched]
    assert rows[3] == [int(7 in lanes) for lanes in own]
    assert rows[4] == [max(lanes) for lanes in own]


def remainder(a, b):
    """As in C."""
    return a - b * int(a / b)


@functools.cache
def part(x, depth):
    if x < 0 or depth > 5:
        return 3
    total = 0
    for i in range(x):
        if i % 3 == 1:
            total += part(i - 1, depth + 1)
            if remainder(total, 5) == 4:
                break
            total *= 3
        elif x % 7 == 5:
            total -= part(i - 2, depth + 1)
            if remainder(total, 3) == 0:
                break
        if total & 63 == 42:
            return total + x
        total += part(x - 4, depth + 2) & 255
    return total & 0xFFFF


def breaks(t):
    total = 0
    for i in range(4):
        if (t + i) % 3:
            total += part(t % 9 + i, 0)
            if remainder(total, 11) == 2:
                break
            total += part(i, 1)
        else:
            total ^= part(t % 5, 2)
            if t % 8 == 1:
                break
        total += 2
    return total


def test_lanes_that_leave_loops_around_calls_are_waited_for_no_longer(module):
    assert launch(module, "breaks", 2) == [[breaks(t) for t in LANES], [-1] * 32]


def pointed(kind, x, n):
    if not n:
        return x + 7 * kind
    following = x >> n & 1
    if kind:
        return pointed(following, x + 5, n - 1) ^ 1
    return pointed(following, x * 3, n - 1) + 1


def test_functions_that_call_each_other_through_pointers(module):
    expected = [pointed(t & 1, t * 77, t % 6) for t in LANES]
    assert launch(module, "pointers", 2) == [expected, [-1] * 32]


def leave(x, n):
    """Nothing for a thread that ends."""
    if x % 7 == 3:
        return None
    if n == 0:
        return x
    result = leave(x * 3 + 1, n - 1) if x & 1 else leave(x // 2 + 5, n - 1)
    return None if result is None else result + 1 if x & 1 else result * 2


def test_lanes_that_end_in_a_recursion_are_waited_for_no_longer(module):
    values = [leave(t, t % 5) for t in LANES]
    left = signed(mask_of(t for t in LANES if values[t] is not None))
    ballots = [0 if v is None else left for v in values]
    assert launch(module, "exits", 2) == [[v or 0 for v in values], ballots]


def test_lanes_synchronise_in_two_places(module):
    read = [(100 + (t ^ 1)) if t & 1 else (t ^ 1) * 2 for t in LANES]
    assert launch(module, "two_places") == [[read[t ^ 1] for t in LANES]]


def test_what_cannot_come_is_said_once_and_counted(module, capsys):
    for _ in range(2):
        (found,) = launch(module, "impossible", forced=True)
        assert found == [signed(0xAAAAAAAA) if t & 1 else 1 for t in LANES]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("lockstep: kernel impossible, pc 0x")
    assert "could not come" in said[0]


def test_a_simulation_counts_it_too():
    with lockstep.Device("H100", timing=True) as device:
        out = device.zeros(32, "i4")
        launched = device.load_cubin(cubins("convergence")["sm_90"])["impossible"][1, 32](out)
        assert launched.metrics["sim__forced_convergence.sum"] > 0
        assert np.count_nonzero(out.numpy()) == 32


def test_lanes_wait_for_others_that_go_round_a_loop_with_atomics(module):
    rounds = sum(t * 5 for t in LANES)
    counts, ballots = launch(module, "uneven", 2)
    assert sum(counts) == rounds and ballots == [-1] * 32


@pytest.mark.parametrize(
    ("form", "grid", "block"),
    [("sm_80", 2, 32), ("sm_90", 2, 32), ("ptx", 2, 32), ("debug.sm_80", 1, 3)],
)
def test_turns_that_a_function_looks_for_with_plain_loads_between_fences(form, grid, block):
    """Nobody sees of the debugger's code that it polls: that nothing changes says it."""
    with lockstep.Device("A100") as device:
        module = load(device, "peeked", form)
        turn, out = device.zeros(1, "i4"), device.zeros(1, "i4")
        module["peeked"][grid, block](turn, out)
        expected = functools.reduce(lambda sum, t: signed(sum * 3 + t), range(grid * block), 0)
        assert out.numpy()[0] == expected


@pytest.mark.parametrize("form", ["sm_80", "ptx"])
def test_such_turns_take_time(form):
    with lockstep.Device("A100", timing=True) as device:
        module = load(device, "peeked", form)
        turn, out = device.zeros(1, "i4"), device.zeros(1, "i4")
        launched = module["peeked"][2, 4](turn, out)
        assert 8 * 600 < launched.metrics["gpc__cycles_elapsed.max"] < 8 * 20_000
        assert turn.numpy()[0] == 8
