"""What warps access after coalescing: against a twin that looks at single lanes and bytes."""

from collections import defaultdict

import numpy as np
import pytest

from lockstep import kernels
from lockstep._jit import jit
from lockstep.builder import KernelBuilder
from lockstep.caches.accesses import ATOMIC, BARRIER, INVALIDATE, PAST_L1, PRIVATE, READ, WRITE
from lockstep.caches.coalescer import Coalescer
from lockstep.device import Device
from lockstep.execution.streams.accesses import requests_of
from lockstep.isa.instruction import INSTRUCTION, CachePolicy, OpClass, Space
from lockstep.model.core import tile
from lockstep.workload import ADDRESS, NOWHERE, RUN, WARP, Code, Cta, Kernel
from lockstep.workload.bulk_copies import TILE_MASK, TILE_WORDS

SHARED_BASE, LOCAL_BASE, WINDOW = 1 << 40, 1 << 41, 1 << 24
KINDS = {
    READ: {"LOAD", "TEXTURE", "ASYNC_COPY", "BULK_COPY", "TILE_COPY"},
    WRITE: {"STORE", "BULK_STORE", "TILE_STORE"},
    ATOMIC: {"ATOMIC", "REDUCTION"},
    BARRIER: {"BARRIER"},
}
BULK = {"BULK_COPY", "BULK_STORE", "TILE_COPY", "TILE_STORE"}
MEMORY = sorted(set().union(*KINDS.values()) - {"BARRIER"} | {"SURFACE"})


def instruction(op, width=0, space=Space.NONE, cache=0, immediate=0, destinations=0):
    made = np.zeros(1, INSTRUCTION)
    made["op"], made["width"], made["space"] = op, width, space
    made["cache"], made["immediate"], made["destinations"] = cache, immediate, destinations
    return made


def random_code(rng, n=60):
    """Instructions of all kinds, most of which access memory."""
    parts = []
    for _ in range(n):
        name = str(
            rng.choice([*MEMORY, *MEMORY, "BARRIER", "FP32", "OBJECT_WAIT", "CACHE_CONTROL"])
        )
        space, width = Space.GLOBAL, int(rng.choice([1, 2, 4, 8, 16]))
        if name in ("LOAD", "STORE", "ATOMIC"):
            space = rng.choice([Space.GLOBAL, Space.LOCAL, Space.GENERIC, Space.SHARED])
        if name == "LOAD" and rng.random() < 0.1:
            space = Space.CONSTANT
        if name in ("TEXTURE", "SURFACE"):
            space = Space.TEXTURE
        if name in ("BARRIER", "FP32", "CACHE_CONTROL"):
            space, width = Space.NONE, 0
        cache = int(rng.choice([0, 0, CachePolicy.BYPASS_L1, CachePolicy.VOLATILE]))
        if name == "CACHE_CONTROL":
            cache = int(rng.choice([0, CachePolicy.INVALIDATE]))
        size = int(rng.choice([0, 16, 48, 300, 1024])) if name in BULK else 0
        parts.append(instruction(OpClass[name], width, space, cache, size, int(rng.integers(2))))
    return np.concatenate(parts)


def random_address(rng, code, lanes, pool):
    """A record of one instruction."""
    name = OpClass(int(code["op"])).name
    if name.startswith("TILE"):
        words = np.zeros(TILE_WORDS, np.int64)
        counts = rng.integers(1, 4, 4)
        words[:5] = int(rng.integers(1 << 20)) * 16, rng.choice([0, 16, 80]), counts.prod(), 2, 4096
        for k in range(4):
            low = int(rng.integers(-1, 2))
            words[5 + 6 * k : 11 + 6 * k] = low, low, low + counts[k] - 1, 1, 3, 64 << 2 * k
        pool.append(words)
        return int(words[0]), 0, sum(map(len, pool[:-1]))
    base = int(rng.choice([1 << 33, -(1 << 34), 1 << 20, 5000])) + int(rng.integers(4096))
    if code["space"] == Space.GENERIC:
        base += int(rng.choice([0, SHARED_BASE, LOCAL_BASE, SHARED_BASE + WINDOW]))
        base = abs(base) if base < 0 else base
    if code["space"] == Space.LOCAL:
        base = int(rng.choice([0, LOCAL_BASE])) + int(rng.integers(1 << 14))
    kind = rng.integers(4)
    if kind == 0:
        return NOWHERE, 0, -1
    if kind == 1:
        return base, int(rng.choice([0, 1, 4, -4, 8, 16, -16, 36, 128, -128, 4096])), -1
    if kind == 2:
        addresses = base + rng.integers(-2000, 2000, lanes)
    else:
        addresses = base + 8 * rng.integers(0, 40, lanes)
    if code["space"] == Space.LOCAL:
        addresses = np.abs(addresses) % (WINDOW - 64)
    elif code["space"] != Space.GENERIC:
        addresses = np.where(rng.random(lanes) < 0.2, NOWHERE, addresses)
    pool.append(addresses.astype(np.int64))
    return int(addresses[0]), 0, sum(map(len, pool[:-1]))


def random_cta(rng, code, warps, lanes, runs=12):
    """A CTA of random runs, with masks that may be empty."""
    made, records, pool, all_warps = [], [], [np.zeros(5, np.int64)], []
    for _ in range(warps):
        first_run, first_address = len(made), len(records)
        for _ in range(int(rng.integers(runs))):
            static = int(rng.integers(len(code)))
            tiled = OpClass(int(code[static]["op"])).name.startswith("TILE")
            count = 1 if tiled else int(rng.integers(1, 5))
            part = code[static : static + count]
            if any(OpClass(int(each["op"])).name.startswith("TILE") for each in part):
                part = part[:1]
            bits = int.from_bytes(rng.bytes(lanes // 8))
            mask = int(rng.choice(np.array([0, 1, bits, (1 << lanes) - 1], object)))
            mask = TILE_MASK if tiled else mask
            made.append((static, len(part), mask - (1 << 64) if mask >> 63 else mask))
            for each in part if mask else []:
                if each["width"] > 0:
                    records.append(random_address(rng, each, mask.bit_count(), pool))
        all_warps.append(
            (first_run, len(made) - first_run, first_address, len(records) - first_address, 0, 0)
        )
    return Cta(
        (0, 0, 0),
        np.array(all_warps, WARP),
        np.array(made, RUN),
        np.array(records, ADDRESS),
        np.concatenate(pool),
    )


def kernel_of(code, warps=3, lanes=32, cluster=(2, 1, 1)):
    return Kernel(
        1, "k", (4, 1, 1), (warps * lanes, 1, 1), 16, 0, Code(code), lambda: iter(()),
        shared_base=SHARED_BASE, local_base=LOCAL_BASE, cluster=cluster, warp_size=lanes,
    )  # fmt: skip


def naive(kernel, cta, threads):
    """Steps of each warp: site, kind, flags, sectors of each line."""
    code, lanes = kernel.code.instructions, kernel.warp_size
    for w, warp in enumerate(cta.warps):
        steps, address = [], int(warp["first_address"])
        for run in cta.runs[warp["first_run"] :][: warp["runs"]]:
            mask = int(run["mask"]) & ((1 << 64) - 1)
            for static in range(run["static"], run["static"] + run["count"]) if mask else []:
                each = code[static]
                if each["op"] == OpClass.BARRIER:
                    steps.append((static, BARRIER, 0, {}))
                elif each["op"] == OpClass.CACHE_CONTROL and each["cache"] & 32:
                    steps.append((static, INVALIDATE, 0, {}))
                if each["width"] > 0:
                    record = cta.addresses[address]
                    address += 1
                    step = naive_access(kernel, cta, each, record, mask, w * lanes, threads)
                    if step is not None:
                        steps.append((static, *step))
        yield steps


def naive_access(kernel, cta, each, record, mask, thread, threads):
    """Kind, flags and touched bytes' lines of one instruction, or None if it is none of these."""
    name = OpClass(int(each["op"])).name
    kinds = [kind for kind, names in KINDS.items() if name in names]
    if name == "SURFACE":
        kinds = [READ if each["destinations"] else WRITE]
    if not kinds:
        return None
    first, stride, place = record.item()
    space = naive_space(kernel, each["space"], first)
    if name.startswith("TILE"):
        return kinds[0], PAST_L1, touched(tile_rows(cta.pool[place : place + TILE_WORDS]))
    if space not in (Space.GLOBAL, Space.LOCAL) or (place < 0 and (first, stride) == (NOWHERE, 0)):
        return None
    on = [lane for lane in range(64) if mask >> lane & 1]
    addresses = [
        first + k * stride if place < 0 else int(cta.pool[place + k]) for k in range(len(on))
    ]
    width, flags = int(each["width"]), 0
    if name in BULK:
        size = max(width, int(each["immediate"]))
        return kinds[0], PAST_L1, touched((a, size) for a in addresses if a != NOWHERE)
    if each["cache"] & (CachePolicy.BYPASS_L1 | CachePolicy.VOLATILE) and kinds[0] == READ:
        flags = PAST_L1
    if space == Space.LOCAL:
        pieces = []
        for lane, a in zip(on, addresses):
            at = (a - LOCAL_BASE if a >= LOCAL_BASE else a) % WINDOW
            for offset in range(0, width, 4):
                word = (at + offset) // 4 * threads + thread + lane
                pieces.append((word * 4 + at % 4, min(4, width)))
        return kinds[0], flags | PRIVATE, touched(pieces)
    if place < 0 and abs(stride) <= width:  # nothing is left out; NOWHERE is a number like others
        return kinds[0], flags, touched((a, width) for a in addresses)
    return kinds[0], flags, touched((a, width) for a in addresses if a != NOWHERE)


def naive_space(kernel, space, first):
    if space == Space.TEXTURE:
        return Space.GLOBAL
    if space == Space.GENERIC:
        if LOCAL_BASE <= first < LOCAL_BASE + WINDOW:
            return Space.LOCAL
        shared = SHARED_BASE <= first < SHARED_BASE + WINDOW * kernel.cluster_ctas
        return Space.SHARED if shared else Space.GLOBAL
    return space


def touched(pieces):
    """The sectors of each line, lines in the order in which they are met."""
    lines = defaultdict(int)
    for low, size in pieces:
        for sector in range(low // 32, (low + size - 1) // 32 + 1):
            lines[sector // 4] |= 1 << sector % 4
    return dict(lines)


def tile_rows(words):
    """The rows that the model goes through."""
    place = np.zeros(tile.STATE_WORDS, np.int64)
    place[:TILE_WORDS] = words
    rows = np.zeros((4096, 2), np.int64)
    return [tuple(row) for row in rows[: walk(place, rows)].tolist()]


@jit
def walk(place, rows):
    n = 0
    more = tile.begin(place)
    while more:
        rows[n, 0], rows[n, 1] = tile.address(place), place[tile.BYTES]
        n += 1
        tile.step(place)
        more = tile.seek(place)
    return n


def steps_of(found):
    """The same of what was compiled."""
    for low, high in zip(found.first, found.first[1:]):
        made = []
        for step in found.steps[low:high]:
            lines = found.lines[step["first"] : step["first"] + step["lines"]]
            touches = dict(zip(lines["line"].tolist(), lines["sectors"].tolist()))
            assert len(touches) == len(lines), "a line appears once"
            made.append((int(step["site"]), int(step["kind"]), int(step["flags"]), touches))
        yield made


def ordered(steps):
    """With the order of lines."""
    return [(*head, list(lines.items())) for *head, lines in steps]


@pytest.mark.long
@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("seed", range(25))
def test_random_streams(seed, lanes):
    rng = np.random.default_rng(seed)
    kernel = kernel_of(random_code(rng), warps=3, lanes=lanes)
    threads = int(rng.choice([0, 2048]))
    coalescer = Coalescer(kernel, threads)
    for runs in (4, 40, 12):
        cta = random_cta(rng, kernel.code.instructions, 3, lanes, runs)
        found = coalescer(cta)
        expected = list(naive(kernel, cta, threads or 3 * lanes))
        assert list(map(sorted_steps, steps_of(found))) == list(map(sorted_steps, expected))
        assert found.first[-1] == len(found.steps)


def sorted_steps(steps):
    """Without the order of lines: lanes that lie evenly are taken from the lowest address on."""
    return [(*head, sorted(lines.items())) for *head, lines in steps]


def one(op, width, record, mask, pool=(), space=Space.GLOBAL, **more):
    """What one instruction touches."""
    kernel = kernel_of(instruction(op, width, space, **more), warps=1)
    cta = Cta(
        (0, 0, 0), np.array([(0, 1, 0, 1, 0, 0)], WARP), np.array([(0, 1, mask)], RUN),
        np.array([record], ADDRESS), np.array(pool, np.int64),
    )  # fmt: skip
    (steps,) = steps_of(Coalescer(kernel)(cta))
    return ordered(steps)


def test_lines_come_in_the_order_of_lanes():
    pool = [1024, 0, 1056, 128]
    found = one(OpClass.LOAD, 4, (1024, 0, 0), 0b1111, pool)
    assert found == [(0, READ, 0, [(8, 0b11), (0, 1), (1, 1)])]


def test_lanes_that_lie_closely_leave_nothing_out():
    assert one(OpClass.STORE, 16, (112, 16, -1), 0b11) == [(0, WRITE, 0, [(0, 8), (1, 1)])]
    assert one(OpClass.STORE, 4, (4, -4, -1), 0b11) == [(0, WRITE, 0, [(0, 1)])]


def test_negative_addresses_are_those_of_the_upper_half():
    assert one(OpClass.LOAD, 4, (-64, 4, -1), 0b11) == [(0, READ, 0, [(-1, 0b0100)])]


def test_what_goes_past_the_l1():
    """A read may be told to; writes and atomics meet the line by the protocol of the L1."""
    for op, flags in [(OpClass.LOAD, PAST_L1), (OpClass.STORE, 0), (OpClass.ATOMIC, 0)]:
        ((_, _, found, _),) = one(op, 4, (0, 4, -1), 1, cache=CachePolicy.BYPASS_L1)
        assert found == flags
    assert one(OpClass.BULK_COPY, 4, (128, 0, -1), 1, immediate=256)[0][2:] == (
        PAST_L1,
        [(1, 15), (2, 15)],
    )


def test_a_prefetch_of_nothing_is_no_access():
    assert one(OpClass.LOAD, 4, (NOWHERE, 0, -1), 1) == []
    assert one(OpClass.LOAD, 4, (NOWHERE, 0, 0), 0b11, [NOWHERE, NOWHERE]) == [(0, READ, 0, [])]


def test_arrays_grow_with_what_a_cta_needs():
    """A first CTA of a few accesses, then one of more than there is room for at first, twice."""
    rng = np.random.default_rng(1)
    kernel = kernel_of(instruction(OpClass.LOAD, 4, Space.GLOBAL), warps=2)
    coalescer = Coalescer(kernel)
    for runs in (3, 5000, 40):
        pool = rng.integers(0, 1 << 40, 2 * runs * 32) * 4
        cta = Cta(
            (0, 0, 0),
            np.array([(w * runs, runs, w * runs, runs, 0, 0) for w in range(2)], WARP),
            np.array([(0, 1, (1 << 32) - 1)] * (2 * runs), RUN),
            np.array([(0, 0, 32 * k) for k in range(2 * runs)], ADDRESS),
            pool,
        )
        found = coalescer(cta)
        assert len(found.steps) == 2 * runs and found.steps["lines"].sum() == len(found.lines)
        np.testing.assert_array_equal(
            np.unique(found.lines["line"]), np.unique(pool >> 7), f"{runs} accesses"
        )


def test_code_may_grow_while_ctas_are_read():
    kernel = kernel_of(instruction(OpClass.LOAD, 4, Space.GLOBAL), warps=1)
    coalescer = Coalescer(kernel)
    for static, kind in ((0, READ), (1, WRITE)):
        cta = Cta(
            (0, 0, 0), np.array([(0, 1, 0, 1, 0, 0)], WARP), np.array([(static, 1, 1)], RUN),
            np.array([(0, 0, -1)], ADDRESS), np.zeros(0, np.int64),
        )  # fmt: skip
        assert coalescer(cta).steps["kind"].tolist() == [kind]
        kernel.code.extend(instruction(OpClass.STORE, 4, Space.GLOBAL))


def test_accesses_are_the_ctas_own():
    k = KernelBuilder("k", grid=2, block=64)
    k("LDG.E R4, [R2]", address=k.coalesced(1 << 20))
    k("BAR.SYNC 0x0")
    k("EXIT")
    kernel = k.kernel()
    coalescer = Coalescer(kernel)
    first, second = (coalescer(cta) for cta in kernel.ctas())
    assert first.steps["kind"].tolist() == [READ, BARRIER] * 2
    assert (second.lines["line"] - first.lines["line"]).tolist() == [2, 2]


class Reader:
    """Keeps what a device's CTAs access, by both."""

    reads = True

    def __init__(self):
        self.pairs, self.kernel = [], None

    def launched(self, launch):
        self.kernel = None

    def read(self, kernel, cta):
        if self.kernel is None:
            self.kernel, self.coalescer = kernel, Coalescer(kernel)
        self.pairs.append((requests_of(kernel, [cta]), self.coalescer(cta)))

    def ended(self, launch):
        pass


@pytest.mark.parametrize(
    ("name", "size"),
    [("transpose_naive", 40), ("lu", 48), ("texture", 24), ("histogram_global", 500)],
)
def test_sectors_are_those_of_a_profile(name, size):
    reader = Reader()
    with Device("QV100") as device:
        device.watch(reader)
        kernels.load(name).run(device, size, 1)
    assert reader.pairs
    for requests, found in reader.pairs:
        there = np.flatnonzero((requests.memory == 0) & (requests.sectors > 0))
        steps = found.steps[(found.steps["kind"] < BARRIER) & (found.steps["lines"] > 0)]
        steps = steps[steps["flags"] & PRIVATE == 0]
        assert steps["site"].tolist() == requests.static[there].tolist()
        counts = np.bitwise_count(found.lines["sectors"].astype(np.uint64))
        mine = [int(counts[s["first"] : s["first"] + s["lines"]].sum()) for s in steps]
        assert mine == requests.sectors[there].tolist()
