"""Random programs with random streams, and what they mean instruction by instruction."""

from types import SimpleNamespace

import numpy as np

from lockstep.execution.programs.program import BLOCK, Item, Program
from lockstep.execution.state import LOCAL_WINDOW, SHARED_WINDOW
from lockstep.isa.instruction import OpClass, Space, blank

ACCESSES = [
    (OpClass.LOAD, Space.GLOBAL), (OpClass.STORE, Space.GLOBAL), (OpClass.ATOMIC, Space.GLOBAL),
    (OpClass.LOAD, Space.SHARED), (OpClass.STORE, Space.SHARED), (OpClass.REDUCTION, Space.SHARED),
    (OpClass.LOAD, Space.LOCAL), (OpClass.STORE, Space.LOCAL), (OpClass.LOAD, Space.GENERIC),
    (OpClass.STORE, Space.GENERIC), (OpClass.ASYNC_COPY, Space.GLOBAL),
    (OpClass.TEXTURE, Space.TEXTURE),
]  # fmt: skip


def make(rng, lanes=32):
    """A program of a few blocks without machine code, of warps of so many lanes."""
    blocks = np.zeros(int(rng.integers(1, 6)), BLOCK)
    items, rows = [], []
    for block in blocks:
        block["first"], block["count"] = len(rows), rng.integers(1, 7)
        own, words = [], 2
        for _ in range(block["count"]):
            row = blank()[0]
            number, kind = len(rows), rng.integers(3)
            if rng.random() < 0.4:
                own.append(Item(number, words, guarded=True))
                words += 1
            if kind:
                row["op"], row["space"] = ACCESSES[rng.integers(len(ACCESSES))]
                row["width"] = 0 if kind == 2 else 1 << rng.integers(7)
                own.append(Item(number, words))
                words += lanes
            rows.append(row)
        block["stream_words"] = words
        items.append(own)
    return Program(
        name="k",
        blocks=blocks,
        parts=[],
        lanes=lanes,
        register_bytes=0,
        local_bytes=0,
        shared_bytes=0,
        sites=[],
        symbols=[],
        items=items,
        code=np.array(rows),
    )


def mask(rng, lanes):
    """Any lanes, often all, or the last one alone; the sign of a word is lane 63."""
    every = (1 << lanes) - 1
    some = int.from_bytes(rng.bytes(8)) & every or 1
    return signed([every, 1, every >> lanes // 2, 1 << lanes - 1, some][rng.integers(5)])


def signed(mask):
    """A mask as the 64-bit word that holds it."""
    return mask - (mask >> 63 << 64)


def addresses(rng, row, lanes):
    """Addresses of all lanes: a stride, or anything; aligned to the width, as PTX wants it."""
    width = max(int(row["width"]), 1)
    space = row["space"]
    if space == Space.GENERIC:
        space = rng.choice([Space.GLOBAL, Space.SHARED, Space.LOCAL])
        start = {Space.GLOBAL: 0x7000_0000_0000, Space.SHARED: SHARED_WINDOW}.get(
            space, LOCAL_WINDOW
        )
    else:
        start = 0x7000_0000_0000 if space == Space.GLOBAL else 0
    pattern = rng.integers(4)
    lane = np.arange(lanes)
    steps = [lane * int(rng.integers(0, 5)), lane[::-1], rng.integers(0, 64, lanes)]
    steps.append(rng.integers(0, 1 << 20, lanes))
    return start + np.asarray(steps[pattern], np.int64) * width


def stream(rng, program, warps, entries):
    """Stream words of a CTA, and its steps: lists of (instruction, lanes, addresses) by warp."""
    words, steps = [], [[] for _ in range(warps)]
    for _ in range(entries):
        w, number = int(rng.integers(warps)), int(rng.integers(len(program.blocks)))
        block, active = program.blocks[number], mask(rng, program.lanes)
        entry = np.zeros(block["stream_words"], np.int64)
        entry[:2] = w << 32 | number, active
        lanes, given = {}, {}
        for item in program.items[number]:
            if item.guarded:
                some = int.from_bytes(rng.bytes(8), signed=True) * int(rng.integers(4) > 0)
                entry[item.word] = lanes[item.instruction] = active & some
            else:
                row = program.code[item.instruction]
                values = given[item.instruction] = addresses(rng, row, program.lanes)
                entry[item.word : item.word + program.lanes] = values
        words.append(entry)
        for k in range(block["first"], block["first"] + block["count"]):
            step = SimpleNamespace(instruction=int(k), block=active, lanes=lanes.get(k, active))
            step.addresses = (
                [int(given[k][lane]) for lane in bits(step.lanes)] if k in given else []
            )
            step.places = bits(step.lanes)
            steps[w].append(step)
    return np.concatenate([np.zeros(0, np.int64), *words]), steps


def bits(value):
    """The set bits of a mask."""
    return [lane for lane in range(64) if value >> lane & 1]
