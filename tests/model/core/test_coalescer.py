"""Coalescer: against a twin that looks at single bytes."""

from collections import Counter, defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.isa.instruction import OpClass, Space
from lockstep.model.core import coalescer

pytestmark = pytest.mark.plain
A = 0x7F0000000000
FULL_MASK = (1 << 32) - 1
KERNEL = SimpleNamespace(shared_base=0, local_base=0, cluster=1)
SHAPES = [(128, 32), (128, 128), (64, 32), (32, 32), (512, 64)]


WIDE_MASK = (1 << 64) - 1


def lanes_of(mask):
    return [lane for lane in range(64) if mask >> lane & 1]


def signed(mask):
    """A mask as runs hold it: lane 63 is the sign."""
    return np.array(mask, np.uint64).astype(np.int64)[()]


@pytest.fixture(scope="session")
def coalesce(tiny, idle_sms):
    """Function that coalesces one access: line -> (sectors, full)."""
    states = {}

    def run(
        op, width, mask, first=0, stride=0, pool=None, space=Space.GLOBAL, shape=(128, 32),
        warp_size=32, warp=0, ideal=(),
    ):  # fmt: skip
        key = shape, warp_size, ideal
        if key not in states:
            lifted = {f"ideal.{name}": True for name in ideal}
            states[key] = idle_sms(_gpu(tiny, *shape, warp_size, **lifted))
        c = states[key]
        if pool is not None:
            c.pool[7 : 7 + len(pool)] = pool
            first, stride = int(pool[0]), 0
        c.addresses[5] = (first, stride, -1 if pool is None else 3)
        count = coalescer.coalesce(
            c,
            0,
            SimpleNamespace(space=space, mask=signed(mask), lanes=mask.bit_count(), address=2),
            KERNEL,
            SimpleNamespace(addresses=3, pool=4, thread_base=0),
            SimpleNamespace(index=warp),
            SimpleNamespace(op=op, width=width),
        )
        found = c.transactions[0, :count]
        lines = found.line.tolist()
        assert len(set(lines)) == count, "a line appears once"
        return dict(zip(lines, zip(found.sectors.tolist(), found.full.tolist())))

    return run


def _gpu(tiny, line, sector, warp_size, **others):
    names = {f"{c}.{n}": v for c in ("l1", "l2") for n, v in (("line_bytes", line),)}
    names |= {f"{c}.sector_bytes": sector for c in ("l1", "l2")}
    names |= {"l2.interleave_bytes": 512, "dram.row_bytes": 4096}
    return tiny(sm__warp_size=warp_size, **names, **others)


def naive(op, width, addresses, shape=(128, 32)):
    """Byte by byte: line -> (sectors, full)."""
    line_bytes, sector_bytes = shape
    written = {b for a in addresses for b in range(a, a + width)}
    sectors = defaultdict(int)
    for byte in written:
        sectors[byte // line_bytes] |= 1 << byte % line_bytes // sector_bytes
    result = {line: (mask, 0) for line, mask in sectors.items()}
    if op == OpClass.STORE:
        for line, mask in sectors.items():
            whole = 0
            for s in range(line_bytes // sector_bytes):
                start = line * line_bytes + s * sector_bytes
                whole |= all(b in written for b in range(start, start + sector_bytes)) << s
            result[line] = (mask, whole)
    elif op in (OpClass.ATOMIC, OpClass.REDUCTION):
        for line in sectors:
            most = Counter(a for a in addresses if a // line_bytes == line)
            result[line] = (sectors[line], max(most.values(), default=0))
    return result


operations = st.sampled_from([OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION])
widths = st.sampled_from([1, 2, 4, 8, 16])
masks = st.one_of(st.just(FULL_MASK), st.integers(1, FULL_MASK))
wide_masks = st.one_of(
    st.sampled_from([WIDE_MASK, 1 << 63, 1 | 1 << 63]), st.integers(1, WIDE_MASK)
)
warps = st.one_of(st.tuples(st.just(32), masks), st.tuples(st.just(64), wide_masks))


@settings(max_examples=150)
@given(
    operations, widths, warps, st.integers(-40, 40), st.integers(0, 300), st.sampled_from(SHAPES)
)
def test_strides_agree_with_the_twin(coalesce, op, width, warp, stride, offset, shape):
    size, mask = warp
    step = stride * width if op >= OpClass.ATOMIC else stride
    first = A + (offset // width * width if op >= OpClass.ATOMIC else offset)
    addresses = [first + k * step for k in range(mask.bit_count())]
    found = coalesce(op, width, mask, first, step, shape=shape, warp_size=size)
    assert found == naive(op, width, addresses, shape)


@settings(max_examples=100)
@given(operations, widths, warps, st.data())
def test_pools_agree_with_the_twin(coalesce, op, width, warp, data):
    size, mask = warp
    span = data.draw(st.sampled_from([8, 64, 1 << 20]))
    elements = st.lists(st.integers(0, span), min_size=size, max_size=size)
    pool = [A + width * e for e in data.draw(elements)][: mask.bit_count()]
    assert coalesce(op, width, mask, pool=pool, warp_size=size) == naive(op, width, pool)


@settings(max_examples=50)
@given(widths, st.lists(st.integers(0, 5000), min_size=32, max_size=32))
def test_loads_that_are_not_aligned_may_cross_lines(coalesce, width, offsets):
    pool = [A + o for o in offsets]
    load = OpClass.LOAD
    assert coalesce(load, width, FULL_MASK, pool=pool) == naive(load, width, pool)


def test_lanes_that_access_nothing_need_no_line(coalesce):
    copy, nowhere = OpClass.ASYNC_COPY, coalescer.NOWHERE
    assert coalesce(copy, 16, FULL_MASK, nowhere, 0) == {}
    assert coalesce(copy, 16, 1, nowhere, 0) == {}
    pool = [nowhere, A, nowhere, A + 16, A + 256, *[nowhere] * 27]
    assert coalesce(copy, 16, FULL_MASK, pool=pool) == {A // 128: (1, 0), A // 128 + 2: (1, 0)}


def test_a_warp_of_words_is_one_line_and_every_lane_on_its_own_is_32(coalesce):
    assert coalesce(OpClass.LOAD, 4, FULL_MASK, A, 4) == {A // 128: (0b1111, 0)}
    assert coalesce(OpClass.STORE, 4, FULL_MASK, A, 4) == {A // 128: (0b1111, 0b1111)}
    assert coalesce(OpClass.STORE, 4, 0x7FFFFFFF, A, 4) == {A // 128: (0b1111, 0b0111)}
    assert len(coalesce(OpClass.LOAD, 4, FULL_MASK, A, 128)) == 32
    assert len(coalesce(OpClass.LOAD, 4, FULL_MASK, A + 126, 128)) == 33, "each crosses a line"


def test_64_lanes_of_a_warp_need_as_many_lines_as_two_warps(coalesce):
    def wide(*access, **more):
        return coalesce(*access, warp_size=64, **more)

    load, first = OpClass.LOAD, A // 128
    assert wide(load, 4, WIDE_MASK, A, 4) == {first: (0b1111, 0), first + 1: (0b1111, 0)}
    assert wide(load, 4, 1 << 63, A, 0) == {first: (0b0001, 0)}
    assert wide(OpClass.STORE, 4, WIDE_MASK >> 1, A, 4)[first + 1] == (0b1111, 0b0111)
    assert len(wide(load, 4, WIDE_MASK, A, 128)) == 64
    assert wide(OpClass.ATOMIC, 4, WIDE_MASK, A, 0) == {first: (0b0001, 64)}
    words = wide(load, 16, WIDE_MASK, pool=[16 * k for k in range(64)], space=Space.LOCAL)
    assert len(words) == 256, "four words of each lane, all in lines of their own"


def local_byte(threads, thread, offset):
    """Where the coalescer puts a byte of a thread's local memory, on SM 0 of so many threads."""
    return coalescer.LOCAL_REGION + ((offset // 4) * threads + thread) * 4 + offset % 4


@settings(max_examples=60)
@given(st.sampled_from([1, 2, 4, 8, 16]), warps, st.booleans(), st.integers(0, 3), st.data())
def test_local_memory_is_interleaved_by_word(coalesce, width, warp, store, index, data):
    size, mask = warp
    n = mask.bit_count()
    choice = st.one_of(st.just(None), st.lists(st.integers(0, 200), min_size=n, max_size=n))
    offsets = [width * o for o in data.draw(choice) or [3] * n]
    op = OpClass.STORE if store else OpClass.LOAD
    got = coalesce(op, width, mask, pool=offsets, space=Space.LOCAL, warp_size=size, warp=index)
    moved = [
        local_byte(16 * size, index * size + lane, o + b)
        for lane, o in zip(lanes_of(mask), offsets)
        for b in range(width)
    ]
    assert got == naive(op, 1, moved)


@given(st.lists(st.integers(0, 1 << 20), min_size=1, max_size=32), st.sampled_from([2, 4, 8]))
@settings(max_examples=60)
def test_lines_of_different_tag_banks_go_together(tiny, idle_sms, lines, banks):
    c = idle_sms(tiny(l1__tag_banks=banks))
    lines = list(dict.fromkeys(lines))
    c.transactions[0, : len(lines)].line = lines
    coalescer.take_turns(c, 0, len(lines))
    order = c.transactions[0, : len(lines)].nth.tolist()
    assert sorted(order) == list(range(len(lines)))
    cycles, used = 1, set()
    for k in order:
        bank = folded(lines[k], banks)
        cycles, used = (cycles + 1, {bank}) if bank in used else (cycles, used | {bank})
    assert cycles == max(Counter(folded(line, banks) for line in lines).values())


def folded(line, banks):
    """XOR of the digits of a line's low 16 bits, in the base of the banks."""
    bank, line = 0, line & 0xFFFF
    while line:
        bank ^= line % banks
        line //= banks
    return bank


def test_equal_offsets_in_local_memory_are_one_line_a_word(coalesce):
    one = coalesce(OpClass.STORE, 4, FULL_MASK, 64, 0, space=Space.LOCAL)
    assert list(one.values()) == [(0b1111, 0b1111)]
    four = coalesce(OpClass.STORE, 16, FULL_MASK, 64, 0, space=Space.LOCAL)
    assert list(four.values()) == [(0b1111, 0b1111)] * 4


@given(st.integers(0, 1 << 20), st.integers(0, 1 << 20), st.integers(0, 511), st.integers(0, 511))
def test_local_memory_of_two_threads_never_overlaps(tiny, idle_sms, a, b, t, u):
    spec = SimpleNamespace(warps=16, warp_size=32)
    c = SimpleNamespace(spec=[spec])
    here = coalescer.local_address(c, 0, KERNEL, a, t)
    there = coalescer.local_address(c, 0, KERNEL, b, u)
    assert (here == there) == ((a, t) == (b, u))
    assert here != coalescer.local_address(c, 1, KERNEL, a, t), "nor of two SMs"


def test_generic_addresses_are_told_apart():
    kernel = SimpleNamespace(shared_base=0x7000000, local_base=0x9000000, cluster=1)
    resolve = coalescer.resolve
    window = coalescer.APERTURE
    assert resolve(Space.GENERIC, 0x7000000, kernel) == Space.SHARED
    assert resolve(Space.GENERIC, 0x7000000 - 1, kernel) == Space.GLOBAL
    assert resolve(Space.GENERIC, 0x7000000 + window - 1, kernel) == Space.SHARED
    assert resolve(Space.GENERIC, 0x9000000 + window - 1, kernel) == Space.LOCAL
    assert resolve(Space.GENERIC, 0x9000000 + window, kernel) == Space.GLOBAL
    several = SimpleNamespace(shared_base=0x7000000, local_base=0xF000000, cluster=4)
    assert resolve(Space.GENERIC, 0x7000000 + 4 * window - 1, several) == Space.SHARED
    assert resolve(Space.GENERIC, 0x7000000 + 4 * window, several) == Space.GLOBAL
    assert resolve(Space.GENERIC, 0, KERNEL) == Space.GLOBAL, "unknown windows hold nothing"
    assert resolve(Space.LOCAL, 0x7000000, kernel) == Space.LOCAL


def test_requests_and_transactions_are_counted(watch, tiny):
    k = KernelBuilder("counts", grid=1, block=64, local_base=1 << 20, shared_base=1 << 26)
    k("LDG.E R1, [R2]", address=k.coalesced(A))
    k("LDG.E R3, [R2]", address=k.strided(A, 128))
    k("LDL R4, [R2]", address=16)
    k("LD.E R5, [R2]", address=(1 << 20) + 16)
    k("LD.E R6, [R2]", address=(1 << 26) + 16)
    k("STG.E [R2], R4", address=k.coalesced(A))
    counters = watch(k.workload(), tiny()).counters
    assert counters["requests_global"] == 2 * 3
    assert counters["requests_local"] == 2 * 2
    assert counters["shared_accesses"] == 2
    assert counters["transactions"] == 2 * (1 + 32 + 1 + 1 + 1)
    assert counters["l1_local_read_sectors"] == 2 * 2 * 4
    assert counters["l1_local_read_hits"] + counters["l1_local_read_pending"] == 2 * 4


IDEAL = ("coalescing",)


@settings(max_examples=150)
@given(
    operations, widths, st.lists(st.integers(0, 4000), min_size=32, max_size=32),
    st.sampled_from(SHAPES), st.data(),
)  # fmt: skip
def test_ideally_no_access_has_more_sectors_than_its_bytes_fill(
    coalesce, op, width, elements, shape, data
):
    mask = data.draw(masks)
    addresses = [A + width * e for e in elements[: mask.bit_count()]]
    found = coalesce(op, width, mask, pool=addresses, shape=shape)
    ideal = coalesce(op, width, mask, pool=addresses, shape=shape, ideal=IDEAL)
    if op in (OpClass.ATOMIC, OpClass.REDUCTION):
        assert ideal == found
        return
    touched, kept = (sum(m.bit_count() for m, _ in table.values()) for table in (found, ideal))
    fill = -(-mask.bit_count() * width // shape[1])
    assert kept == min(touched, fill) and set(ideal) <= set(found)
    if touched > fill:
        assert all(full == (sectors if op == OpClass.STORE else 0)
                   for sectors, full in ideal.values())  # fmt: skip


@pytest.mark.parametrize(("op", "width", "stride"), [
    (OpClass.STORE, 4, 4096),  # the columns of a matrix of 1,024 words a row
    (OpClass.LOAD, 4, 16),  # the members of structures of four words
])  # fmt: skip
def test_ideally_accesses_that_share_lines_have_each_line_once(coalesce, op, width, stride):
    count = max(1, 32 * min(stride, 128) // 128)  # lines of one access; as many share them
    found = Counter()
    for k in range(count):
        ideal = coalesce(op, width, FULL_MASK, first=A + k * width, stride=stride, ideal=IDEAL)
        found.update(dict.fromkeys(ideal, 1))
        assert [sectors for sectors, _ in ideal.values()] == [0b1111]
    assert len(found) == count and set(found.values()) == {1}


def test_ideally_local_memory_asks_for_nothing(coalesce):
    local = {"first": 64, "stride": 0, "space": Space.LOCAL}
    assert coalesce(OpClass.LOAD, 4, FULL_MASK, **local)
    assert coalesce(OpClass.LOAD, 4, FULL_MASK, **local, ideal=("local",)) == {}
    assert coalesce(OpClass.LOAD, 4, FULL_MASK, first=A, ideal=("local",))
