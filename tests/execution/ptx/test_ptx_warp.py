"""Warp-wide operations with operands and members that lanes compute; the twin covers constants."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lockstep
from ptx_twin.warp import reduce_floats, source_lane

LANES = 32
HEADER = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 given, .param .u64 taken)
{
    .reg .b32 %i, %m, %r<5>, %f;
    .reg .b64 %in, %out, %at, %x;
    .reg .pred %p, %q, %z;
    ld.param.u64 %in, [given];
    ld.param.u64 %out, [taken];
    mov.u32 %i, %laneid;
    mad.wide.u32 %in, %i, 16, %in;
    mad.wide.u32 %out, %i, 256, %out;
    ld.global.v4.u32 {%r0, %r1, %r2, %m}, [%in];
    mov.b64 %x, {%r0, %r1};
    setp.gt.s32 %p, %r0, 0;
"""
OPERATIONS = (
    *(f"shfl.sync.{mode}.b32 %f|%q, %r0, %r1, %r2, %m;" for mode in ("up", "down", "bfly", "idx")),
    *(f"vote.sync.{mode}.pred %q, %p, %m; mov.b32 %f, 0;" for mode in ("all", "any", "uni")),
    "vote.sync.ballot.b32 %f, %p, %m;",
    "match.any.sync.b32 %f, %r0, %m;",
    "match.any.sync.b64 %f, %x, %m;",
    "match.all.sync.b32 %f|%q, %r0, %m;",
    "match.all.sync.b64 %f|%q, %x, %m;",
    "elect.sync %f|%q, %m;",
    *(f"redux.sync.{op}.{t} %f, %r0, %m;" for op in ("add", "min", "max") for t in ("u32", "s32")),
    *(f"redux.sync.{op}.b32 %f, %r0, %m;" for op in ("and", "or", "xor")),
    *(
        f"redux.sync.{op}{sign}{nan}.f32 %f, %r0, %m;"
        for op in ("min", "max")
        for sign in ("", ".abs")
        for nan in ("", ".NaN")
    ),
)


def text():
    """A kernel that stores value and predicate of every operation."""
    lines = [HEADER]
    for k, operation in enumerate(OPERATIONS):
        lines.append("    setp.ne.u32 %q, 0, 0; mov.b32 %f, 0;")
        lines.append(f"    {operation}")
        lines.append(f"    selp.u32 %r4, 1, 0, %q; st.global.v2.u32 [%out+{8 * k}], {{%f, %r4}};")
    return "\n".join([*lines, "    ret;", "}"])


@pytest.fixture(scope="module")
def kernel(device):
    return device.load_ptx(text())["k"]


def execute(device, kernel, rows):
    given = device.array(np.array(rows, np.uint32))
    taken = device.array(np.zeros((LANES, 64), np.uint32))
    kernel[1, LANES](given, taken)
    return taken.numpy().reshape(LANES, LANES, 2)[:, : len(OPERATIONS)].tolist()


def expected(operation, rows, lane):
    """``(value, predicate)`` of one lane."""
    words = operation.split()[0].split(".")
    mask = rows[lane][3]
    members = [k for k in range(LANES) if mask >> k & 1]
    values = [rows[k][0] for k in members]
    match words:
        case ["shfl", *_]:
            source, inside = source_lane(words, lane, rows[lane][1], rows[lane][2])
            return rows[source][0], inside
        case ["vote", _, "ballot", _]:
            return sum((0 < rows[k][0] < 1 << 31) << k for k in members), 0
        case ["vote", _, mode, _]:
            truths = [0 < value < 1 << 31 for value in values]
            outcome = {"all": all, "any": any, "uni": lambda t: len(set(t)) == 1}[mode]
            return 0, int(outcome(truths))
        case ["match", mode, _, kind]:
            wide = [tuple(rows[k][: 2 if "64" in kind else 1]) for k in range(LANES)]
            same = sum((wide[k] == wide[lane]) << k for k in members)
            return same if mode == "any" or same == mask else 0, int(mode == "all" and same == mask)
        case ["elect", _]:
            return members[0], int(lane == members[0])
        case ["redux", _, *rest] if "f32" in operation.split()[0]:
            return reduce_floats(rest, values), 0
    return reduce(words[2], words[3], values), 0


def reduce(operation, kind, values):
    numbers = np.array(values, np.uint32)
    numbers = numbers.view(np.int32) if kind == "s32" else numbers
    function = {
        "add": np.add, "min": np.minimum, "max": np.maximum,
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    }[operation]  # fmt: skip
    with np.errstate(over="ignore"):
        return int(function.reduce(numbers)) & 0xFFFFFFFF


EDGES = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3F800000)


def partition(rng):
    """A member mask a lane: lanes with the same number belong together."""
    count = rng.choice((1, 1, 2, 5, 32))
    group = [rng.randrange(count) for _ in range(LANES)]
    return [sum((g == own) << k for k, g in enumerate(group)) for own in group]


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_operations_do_what_ptx_says(device, kernel, seed):
    rng = random.Random(seed)
    pool = [rng.choice((*EDGES, rng.getrandbits(32))) for _ in range(rng.choice((1, 2, 20)))]
    limits = (0x1F, 0x0, 0x181F, 0x1C07, 0x1F1F)
    rows = [
        (rng.choice(pool), rng.randrange(3), rng.choice(limits), mask) for mask in partition(rng)
    ]
    rows = [(a, b if k % 2 else rng.getrandbits(6), c, m) for k, (a, b, c, m) in enumerate(rows)]
    found = execute(device, kernel, rows)
    for k, operation in enumerate(OPERATIONS):
        reads = [own_source(operation, rows, lane) for lane in range(LANES)]
        for lane in range(LANES):
            if reads[lane] is None or rows[lane][3] >> reads[lane] & 1:
                wanted = expected(operation, rows, lane)
                assert tuple(found[lane][k]) == wanted, (operation, lane)


def own_source(operation, rows, lane):
    """The lane that a shuffle reads; who reads from no member gets anything."""
    words = operation.split()[0].split(".")
    if words[0] != "shfl":
        return None
    return source_lane(words, lane, rows[lane][1], rows[lane][2])[0]


def test_operations_without_members_work_on_those_that_are_there(run):
    """The forms before PTX 6, and activemask, in a branch that half of the warp takes."""
    body = """
    mov.u32 %a, 0;
    and.b32 %b, %i, 1;
    setp.eq.u32 %p, %b, 0;
    @%p bra DONE;
    activemask.b32 %a;
    setp.lt.u32 %q, %i, 8;
    vote.ballot.b32 %b, %q;
    xor.b32 %a, %a, %b;
    vote.all.pred %p, %q;
    @%p add.u32 %a, %a, 1;
    vote.any.pred %p, %q;
    @%p add.u32 %a, %a, 16;
    shfl.bfly.b32 %b, %i, 2, 31;
    xor.b32 %b, %b, %i;
    add.u32 %a, %a, %b;
DONE:
"""
    expected = (0xAAAAAAAA ^ 0xAA) + 16 + 2
    assert run(body)[:32].tolist() == [0, expected] * 16


def test_a_guard_leaves_lanes_out(run):
    body = """
    setp.lt.u32 %p, %i, 12;
    mov.u32 %a, 5;
    setp.eq.u32 %q, %i, %i;
    @%p vote.sync.ballot.b32 %a, %q, 0xfff;
"""
    assert run(body)[:32].tolist() == [0xFFF] * 12 + [5] * 20


def test_registers_of_a_mask_that_changes_are_read_anew(run):
    """Two shuffles in a row name their members by the same register with other contents."""
    body = """
    mov.u32 %b, 0xffffffff;
    shfl.sync.idx.b32 %a, %i, 9, 31, %b;
    setp.lt.u32 %p, %i, 8;
    selp.b32 %b, 0xff, 0xffffff00, %p;
    shfl.sync.bfly.b32 %c, %i, 1, 31, %b;
    add.u32 %a, %a, %c;
"""
    np.testing.assert_array_equal(run(body)[:32], (np.arange(32) ^ 1) + 9)


def test_what_no_gpu_has_is_refused(device):
    with pytest.raises(lockstep.InputError, match=r"no instruction shfl\.sync\.rotate\.b32"):
        device.load_ptx(text().replace("shfl.sync.up", "shfl.sync.rotate"))
