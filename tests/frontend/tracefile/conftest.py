"""Workloads of every shape, the same in plain lists, and the data shared by the project's users."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from lockstep.isa.instruction import blank
from lockstep.workload import ADDRESS, RUN, WARP, Code, Cta, Kernel, MemoryCopy, Workload
from lockstep.workload.warm import L2_RUN, LAUNCHED, WarmSet

SHARED = Path(__file__).parents[4] / "shared"
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
SIZE = st.integers(0, (1 << 63) - 1)


@pytest.fixture(scope="session")
def naive():
    """The reader that was written from the description of the format."""
    path = Path(__file__).parent / "naive_reader.py"
    spec = importlib.util.spec_from_file_location("naive_tracefile_reader", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def real_traces():
    """The folders of real traces."""
    path = SHARED / "data" / "traces"
    if not path.is_dir():
        pytest.skip("the real traces of ../shared are absent")
    return sorted(path.iterdir())


@pytest.fixture(scope="session")
def workloads():
    """Hypothesis strategy for workloads that obey the rules, and only just."""
    return _workloads()


@pytest.fixture(scope="session")
def content():
    """Function from a workload to everything the model uses of it, in plain lists."""
    return _content


@pytest.fixture
def small():
    """A workload with two kernels that have something of everything."""
    code = Code(_instructions([0, 4, 0, 8, 1], [1 << 40, 3, 0, 7, 9]), ["ADD", "LD.64"])
    runs = [(0, 3, 0xF), (3, 1, 5), (3, 2, 5), (0, 5, 0)]
    lists = [[7, 9], [1 << 45, 3]]

    def ctas():
        for x in range(3):
            affine = [(x << 12, 4), (x + 1 << 12, 4), (x << 10, -2)]
            yield _cta((x, 0, 0), [(runs, [affine[0], *lists, affine[2]]), ([], [])])

    kernels = [
        Kernel(n, "kernel", (3, 1, 1), (64, 1, 1), 16, 1024, code, ctas, n, 70) for n in (1, 2)
    ]
    return Workload("small", [MemoryCopy(1 << 40, 4096), *kernels])


def _instructions(widths, immediates):
    records = blank(len(widths))
    records["width"], records["immediate"] = widths, immediates
    records["pc"] = np.arange(len(widths)) * 16
    records["text"] = np.array(widths) > 0
    return records


def _cta(index, warps, spread=0):
    """A CTA from, for each warp, its runs and its records: (first, stride) or a list."""
    table = np.zeros(len(warps), WARP)
    runs, addresses, pool = [], [], []
    for warp, (own, records) in zip(table, warps):
        warp["first_run"], warp["first_address"] = len(runs), len(addresses)
        warp["runs"], warp["addresses"] = len(own), len(records)
        warp["warp_instructions"] = sum(n for _, n, _ in own)
        warp["thread_instructions"] = sum(n * (m & (1 << 64) - 1).bit_count() for _, n, m in own)
        runs += own
        for record in records:
            if isinstance(record, list):
                pool += [0] * spread
                addresses.append((record[0], 0, len(pool)))
                pool += record
            else:
                addresses.append((*record, -1))
        runs += [(0, 1, 0)] * spread  # unused records must not matter
        addresses += [(0, 0, -1)] * spread
    arrays = np.array(runs, RUN), np.array(addresses, ADDRESS), np.array(pool, np.int64)
    return Cta(index, table, *arrays)


@st.composite
def _workloads(draw):
    commands = []
    codes = draw(st.lists(_codes(), min_size=1, max_size=2))
    launched = st.tuples(INT64, st.integers(1, (1 << 63) - 1))
    launches = np.array(draw(st.lists(launched, min_size=5, max_size=5)), LAUNCHED)
    points = draw(st.sampled_from(["", "", '{"é": 1}']))
    for _ in range(draw(st.integers(0, 3))):
        if points:
            runs = np.array(draw(st.lists(_l2_runs(), max_size=4)), L2_RUN)
            commands.append(WarmSet(runs, launches[: draw(st.integers(1, 5))]))
        elif draw(st.booleans()):
            commands.append(MemoryCopy(draw(INT64), draw(SIZE)))
        commands.append(draw(_kernels(draw(st.sampled_from(codes)))))
    return Workload(draw(st.text(max_size=5)), commands, points=points)


@st.composite
def _l2_runs(draw):
    """Lines in a row that an L2 holds, with masks of one byte each."""
    sectors = draw(st.integers(1, 15))
    place = draw(st.integers(-(1 << 55), (1 << 55) - 1))
    return place, draw(st.integers(1, 1 << 20)), sectors, sectors & draw(st.integers(0, 15))


@st.composite
def _codes(draw):
    """Records and texts of a code, not yet a ``Code``."""
    n = draw(st.integers(1, 8))
    records = blank(n)
    records["pc"] = draw(st.lists(st.integers(0, 1 << 40), min_size=n, max_size=n))
    records["width"] = draw(st.lists(st.sampled_from([0, 1, 4, 64]), min_size=n, max_size=n))
    records["immediate"] = draw(st.lists(INT64, min_size=n, max_size=n))
    for name, most in (("op", 34), ("space", 6), ("stall", 15), ("wait_mask", 63), ("sources", 8)):
        records[name] = draw(st.lists(st.integers(0, most), min_size=n, max_size=n))
    records["constant"] = draw(st.lists(st.integers(-1, (1 << 21) - 1), min_size=n, max_size=n))
    records["source"], records["source_count"] = draw(st.integers(0, 300)), 2
    texts = draw(st.lists(st.text(max_size=4), min_size=1, max_size=3))
    places = [texts.index(t) for t in texts]
    records["text"] = draw(st.lists(st.sampled_from(places), min_size=n, max_size=n))
    return records, texts


@st.composite
def _kernels(draw, parts):
    records, texts = parts
    grid = draw(st.sampled_from([(1, 1, 1), (3, 2, 2), ((1 << 31) - 1, 65535, 65535)]))
    block = draw(st.sampled_from([(1, 1, 1), (33, 2, 1), (1024, 1, 1), (7, 5, 64)]))
    warp_size = draw(st.sampled_from([32, 64]))
    n_warps = -(-block[0] * block[1] * block[2] // warp_size)
    shapes = draw(st.lists(_shapes(records["width"]), min_size=1, max_size=3))
    arrays = []
    for _ in range(draw(st.integers(0, 4))):
        index = tuple(draw(st.integers(0, n - 1)) for n in grid)
        warps = [draw(_warps(draw(st.sampled_from(shapes)))) for _ in range(min(n_warps, 4))]
        warps += [([], [])] * (n_warps - len(warps))
        arrays.append(_cta(index, warps, draw(st.integers(0, 2))))
    growing = draw(st.booleans())
    code = Code(None if growing else records, texts)

    def ctas():
        if not len(code):
            code.extend(records)
        return iter(arrays)

    numbers = [draw(st.integers(0, 255)), draw(st.integers(0, 1 << 20))]
    more = [draw(st.integers(0, 7)), draw(st.sampled_from([0, 70, 90])), draw(INT64), draw(INT64)]
    name = draw(st.text(max_size=3))
    kernel = Kernel(
        draw(INT64), name, grid, block, *numbers, code, ctas, *more, (2, 1, 1), warp_size
    )
    kernel.scalar_registers = draw(st.sampled_from([0, 0, 0, 104]))
    return kernel


@st.composite
def _shapes(draw, widths):
    """Runs of a warp, and the number of lanes of each address record it takes."""
    runs, lanes = [], []
    for _ in range(draw(st.integers(0, 5))):
        first = draw(st.integers(0, len(widths) - 1))
        count = draw(st.integers(1, len(widths) - first))
        mask = draw(st.sampled_from([0, 1, 0xFFFFFFFF, 0xF0F0, -1, -(1 << 63)]) | INT64)
        runs.append((first, count, mask))
        if mask:
            active = (mask & (1 << 64) - 1).bit_count()
            lanes += [active for w in widths[first : first + count] if w > 0]
    return runs, lanes


@st.composite
def _warps(draw, shape):
    """A warp of a shape with address records of all sorts."""
    runs, lanes = shape
    near = st.integers(0, 64).map(lambda n: (1 << 46) + 4 * n)
    records = []
    for n in lanes:
        base = draw(near | INT64)
        if draw(st.booleans()):
            records.append((base, draw(st.sampled_from([0, 4, -(1 << 31), (1 << 31) - 1]))))
            continue
        seed = draw(st.integers(0, 3))
        few = [base, *(draw(near | INT64) for _ in range(min(n - 1, 2)))]
        records.append([*few, *(base + 8 * i * seed for i in range(3, n))][:n])
        records[-1] = [(a + (1 << 63)) % (1 << 64) - (1 << 63) for a in records[-1]]
        records[-1] += [0] * (n - len(records[-1]))
    return runs, records


def _content(workload):
    commands = []
    for command in workload.commands:
        if isinstance(command, MemoryCopy):
            commands.append((command.address, command.bytes))
            continue
        if isinstance(command, WarmSet):
            commands.append((command.runs.tolist(), command.launches.tolist()))
            continue
        k = command
        numbers = [k.id, k.registers, k.shared_bytes, k.stream, k.architecture]
        numbers += [k.shared_base, k.local_base, *k.grid, *k.block, *k.cluster]
        numbers += [k.warp_size, k.scalar_registers]
        ctas = [_plain(cta, k.code) for cta in k.ctas()]
        records = k.code.instructions
        words = np.ascontiguousarray(records).view(np.int64).reshape(len(records), -1).tolist()
        lines = [[k.code.texts[line[1]], *line[:1], *line[2:]] for line in words]
        parts = {"name": k.name, "numbers": numbers, "instructions": lines}
        commands.append(parts | {"texts": k.code.texts, "ctas": ctas})
    return {"name": workload.name, "commands": commands, "points": workload.points}


def _plain(cta, code):
    """As the naive reader gives a CTA; the records must lie in order, one for each that is due."""
    warps = []
    for w in cta.warps.tolist():
        runs = cta.runs[w[0] : w[0] + w[1]].tolist()
        masks = [
            mask
            for first, count, mask in runs
            for width in code.instructions["width"][first : first + count]
            if width > 0 and mask
        ]
        records = cta.addresses[w[2] : w[2] + w[3]].tolist()
        assert len(records) == len(masks)
        assert w[4] == sum(n for _, n, _ in runs)
        assert w[5] == sum(n * (m & (1 << 64) - 1).bit_count() for _, n, m in runs)
        warps.append((runs, [_plain_record(cta, *rm) for rm in zip(records, masks)]))
    return cta.index, warps


def _plain_record(cta, record, mask):
    base, stride, pool = record
    if pool < 0:
        return base, stride
    addresses = cta.pool[pool : pool + (mask & (1 << 64) - 1).bit_count()].tolist()
    assert addresses[0] == base
    return addresses
