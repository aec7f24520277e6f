"""How many threads a warp has is written once: rooms that work for any size name neither."""

import ast
import re
from pathlib import Path

import pytest

import lockstep
from lockstep.isa.instruction import WARP_SIZE, WARP_SIZES

SOURCE = Path(lockstep.__file__).parent
ANY_SIZE = ("model", "engine", "metrics", "report", "correlation", "builder", "frontend/tracefile")
"""Rooms in which no number of lanes stands."""
NAMED = {
    "builder/expansion.py",
    "builder/kernel.py",
    "builder/patterns.py",
    "frontend/tracefile/codes.py",
    "frontend/tracefile/index.py",
}
"""Where it is what is meant if nothing is said, or what version 2 of the trace format has."""
OTHERS = {
    "builder/kernel.py": ["registers: int = 32,"],
    "builder/patterns.py": ["BANKS = 32", "base: int, pitch: int, width: int = 32, size: int = 4"],
    "engine/windows.py": ["ARRIVED, GENERATION, ASLEEP, BARRIER = 0, 16, 32, 48"],
    "frontend/tracefile/columns.py": ["SHIFTED = 32"],
    "metrics/dram.py": ["SECTOR = 32"],
    "metrics/flops.py": ['"16816": (16, 8, 16)'],
    "metrics/result.py": ["return hashlib.sha256("],
    "metrics/system.py": ["return hashlib.sha256("],
    "model/cache/l1_state.py": ["COVER_BITS = 32", "s.covered = -1 if bits == 64"],
    "model/cache/neighbours.py": ["mixed = line * 31"],
    "model/cache/prefetch/state.py": ["ROOM = 32"],
    "model/cache/prefetch/stride.py": ["WARPS, WARP_ROWS = 1, 32", "LOADS, LOAD_ROWS = 33, 8"],
    "model/cache/prefetch/stream.py": ["FIRST, STREAMS = 1, 32"],
    "model/core/cluster.py": ["PACKET_BYTES = 32"],
    "model/core/code_lines.py": ["group = 64 if architecture < MAXWELL else 32"],
    "model/core/attribution.py": ["KERNEL_PLACE = 32"],
    "model/dispatch/state.py": ["WAITING_CTAS = 32"],
    "model/coherence/vocabulary.py": ["CONTROL_BYTES, LINE_BYTES = 8, 64"],
    "model/core/coalescer.py": ["if last - first == 64:"],
    "model/core/memory_pipeline.py": ["KERNEL_PLACE = 32"],
    "model/sm/scheduler.py": ["for step in (1, 2, 4, 8, 16, 32):"],
    "model/core/state.py": ["UNIT_BITS, SLACK_PLACE = 16, 32", "WAIT_COUNTERS, WAIT_RING = 3, 32"],
    "model/warming/walk.py": ["TURN = 32"],
    "report/summary.py": ["BAR_WIDTH, LEAST_BAR = 32, 4"],
}
"""Lines with such a number that counts something else: bits, bytes, banks, registers."""
COUNT = re.compile(r"(\w+_)?(LANES|WARP|WARP_SIZE|WARP_THREADS)", re.IGNORECASE)


def files(*rooms):
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            yield path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")


def numbers(tree):
    """Lines with a number of lanes, or one less or more, that is no distance of a shift."""
    distances = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.LShift, ast.RShift)):
            distances.update(ast.walk(node.right))
    for node in ast.walk(tree):
        number = isinstance(node, ast.Constant) and type(node.value) is int
        if number and abs(node.value - WARP_SIZE) <= 1 and node not in distances:
            yield node.lineno


@pytest.mark.parametrize("room", ANY_SIZE)
def test_no_number_of_lanes_stands_in_a_room_for_any_size(room):
    for name, text in files(room):
        lines = text.splitlines()
        for line in (lines[n - 1].strip() for n in numbers(ast.parse(text))):
            others = line.startswith(tuple(OTHERS.get(name, ())))
            assert others, f"{name}: {line}: lanes of a warp? If not, the line belongs to OTHERS"


def test_who_names_the_size_of_nvidias_warps_there():
    found = {name for name, text in files(*ANY_SIZE) if re.search(r"\bWARP_SIZE\b", text)}
    assert found == NAMED


def test_no_other_module_gives_it_a_name():
    """``execution`` counts the lanes of its own vectors."""
    found = []
    for name, text in files("."):
        if name.startswith(("isa/", "execution/")):
            continue
        for node in ast.parse(text).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            value = getattr(node, "value", None)
            if isinstance(value, ast.Constant) and value.value in WARP_SIZES:
                names = [t.id for t in targets if isinstance(t, ast.Name)]
                found += [(name, each) for each in names if COUNT.fullmatch(each)]
    assert found == [("frontend/tracefile/rows.py", "LANES")]  # bits of a mask of its format


def test_the_search_finds_what_it_is_for():
    text = "def f(w, x):\n    a = w * 32\n    b = 1 << 32\n    return x % 31 + 33 - 64\n"
    assert list(numbers(ast.parse(text))) == [2, 4, 4]
    assert COUNT.fullmatch("MOST_LANES") and not COUNT.fullmatch("WARPS")
