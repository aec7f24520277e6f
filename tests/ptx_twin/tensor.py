"""Bulk tensor copies, one element after the other, as the manuals describe them.

PTX ISA, "Tensors"; CUDA driver API, "Tensor Map Object Management". What these leave open, as
DEVIATIONS.md says it: rows under a swizzle lie as far apart as the swizzle is wide, the axes of an
interleaved tensor, the NaN.
"""

import itertools
import math
import struct
from dataclasses import dataclass

import numpy as np

SIZES = {
    "u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "bf16": 2, "f32": 4,
    "f32.ftz": 4, "f64": 8, "tf32": 4, "tf32.ftz": 4,
}  # fmt: skip


@dataclass
class Case:
    """A tensor and a copy; axes are innermost first."""

    kind: str
    sizes: tuple
    strides: tuple  # bytes, of all axes
    steps: tuple
    interleave: int
    swizzle: int
    fill: str
    at: tuple
    box: tuple = ()
    lower: tuple = ()
    upper: tuple = ()
    offsets: tuple = ()
    channels: int = 0
    pixels: int = 0

    @property
    def unit(self):
        """Bytes of what the innermost axis counts."""
        return self.interleave or SIZES[self.kind]

    @property
    def per_slice(self):
        return self.unit // SIZES[self.kind]

    @property
    def bytes(self):
        """Of the tensor's memory."""
        ends = [(n - 1) * s for n, s in zip(self.unit_sizes(), self.strides)]
        return sum(ends) + self.unit

    def unit_sizes(self):
        """The sizes, channels in slices."""
        sizes = list(self.sizes)
        if self.interleave:
            sizes[-2] = -(-sizes[-2] // self.per_slice)
        return sizes


def rows(case):
    """The rows of a tile: coordinates of their units, innermost first."""
    return _columns(case) if case.pixels else _box(case)


def _box(case):
    first, spans = list(case.at), list(case.box)
    steps = [case.steps[0] if case.interleave else 1, *case.steps[1:]]
    if case.interleave:
        first[-2] = math.floor(first[-2] / case.per_slice)
        spans[-2] = -(-spans[-2] // case.per_slice)
    taken = [range(f, f + n, s) for f, n, s in zip(first, spans, steps)]
    for outer in itertools.product(*taken[:0:-1]):
        yield [(x, *outer[::-1]) for x in taken[0]]


def _columns(case):
    """Pixels in the order W, H, D within the bounding box, then the next image."""
    space = slice(0, -2) if case.interleave else slice(1, -1)
    low = list(case.lower)
    high = [n - 1 + up for n, up in zip(case.sizes[space], case.upper)]
    slices = -(-case.channels // case.per_slice) if case.interleave else 1
    for part in range(slices):
        place, image = list(case.at[space]), case.at[-1]
        for _ in range(case.pixels):
            there = [p + o for p, o in zip(place, case.offsets)]
            if case.interleave:
                channel = math.floor(case.at[-2] / case.per_slice) + part
                yield [(*there, channel, image)]
            else:
                yield [(case.at[0] + c, *there, image) for c in range(case.channels)]
            for k, step in enumerate(case.steps[space]):
                place[k] += step
                if place[k] <= high[k]:
                    break
                place[k] = low[k]
            else:
                image += 1


def units(case, base):
    """Each unit's place in shared memory (byte by byte), and in the tensor or None."""
    sizes = case.unit_sizes()
    for number, row in enumerate(rows(case)):
        length = len(row) * case.unit
        pitch = case.swizzle if case.swizzle and not case.interleave else length
        for k, place in enumerate(row):
            start = number * pitch + k * case.unit
            shared = [_swizzled(case, base + start + b) for b in range(case.unit)]
            inside = all(0 <= p < n for p, n in zip(place, sizes))
            yield shared, sum(p * s for p, s in zip(place, case.strides)) if inside else None


def _swizzled(case, address):
    """Chunks of 16 bytes change places within 128 bytes, by the number of those 128 bytes."""
    if not case.swizzle:
        return address
    chunk, line = address // 16 % 8, address // 128
    chunk ^= line % (case.swizzle // 16)
    return line * 128 + chunk * 16 + address % 16


def load(case, tensor, shared, base):
    """Shared memory after a load; both are arrays of bytes."""
    out = shared.copy()
    for places, source in units(case, base):
        if source is None:
            pattern = bytes([0xF7, 0x7F]) if case.fill == "nan" else bytes(2)
            content = (pattern * case.unit)[: case.unit]
        else:
            content = tensor[source : source + case.unit].tobytes()
            if case.kind.startswith("tf32"):
                content = b"".join(_tf32(content[k : k + 4]) for k in range(0, len(content), 4))
        out[places] = np.frombuffer(content, np.uint8)
    return out


def _tf32(content):
    """The f32 with 10 bits of fraction that is nearest; ties away from zero."""
    (bits,) = struct.unpack("<I", content)
    exponent, fraction = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        bits = 0x7FFFE000 if fraction else bits
    else:
        bits = (bits & 0x7FFFFFFF) + (1 << 12) >> 13 << 13 | bits & 1 << 31
    return struct.pack("<I", bits)


def store(case, tensor, shared, base, combine=lambda old, new: new, dtype=None):
    """The tensor after a store, or a reduction of elements."""
    out = tensor.copy()
    dtype = np.dtype(dtype or f"u{SIZES[case.kind]}")
    for places, target in units(case, base):
        if target is None:
            continue
        content = shared[places].view(dtype)
        here = out[target : target + case.unit].view(dtype)
        with np.errstate(all="ignore"):
            here[:] = [combine(old, new) for old, new in zip(here, content)]
    return out


def tile_bytes(case):
    """What a load completes, in bytes."""
    return sum(len(row) * case.unit for row in rows(case))


def random_case(rng, axes, unrolls, room):
    """A copy that fits into ``room`` bytes of shared memory."""
    while True:
        case = _any_case(rng, axes, unrolls)
        length = tile_bytes(case)
        count = sum(1 for _ in rows(case))
        pitch = case.swizzle if case.swizzle and not case.interleave else length // count
        if count * pitch <= room and case.bytes <= 1 << 18:
            return case


def _any_case(rng, axes, unrolls):
    def pick(*values):
        return values[rng.integers(len(values))]

    kind = pick(*SIZES)
    interleave = pick(0, 0, 16, 32) if axes > 2 else 0
    swizzle = 32 if interleave == 32 else pick(0, 32, 64, 128)
    grain = max(interleave, 16)
    fill = pick("zero", "nan") if "f" in kind else "zero"
    unit = interleave or SIZES[kind]
    per_slice = unit // SIZES[kind]
    sizes = [int(n) for n in rng.integers(1, 9, axes)]
    box = [int(n) for n in rng.integers(1, 8, axes)]
    steps = [int(n) for n in rng.integers(1, 4, axes)]
    length = 16 * int(rng.integers(1, (swizzle or 128) // 16 + 1))
    if interleave:
        sizes[-2], box[-2] = int(rng.integers(1, 40)), int(rng.integers(1, 40))
        steps[-2] = pick(1, 2)
    else:
        sizes[0], box[0] = int(rng.integers(1, 80)), length // unit
    counted = list(sizes)
    if interleave:
        counted[-2] = -(-sizes[-2] // per_slice)
    strides = [unit]
    for n in counted[:-1]:
        dense = n * strides[-1]
        strides.append(-(-dense // grain) * grain + grain * int(rng.integers(0, 3)))
    at = [int(rng.integers(-3, n + 3)) for n in sizes]
    case = Case(
        kind, tuple(sizes), tuple(strides), tuple(steps), interleave, swizzle, fill, tuple(at)
    )
    if not unrolls:
        case.box = tuple(box)
        return case
    case.channels = box[-2] if interleave else box[0]
    case.pixels = int(rng.integers(1, 60))
    spatial = sizes[:-2] if interleave else sizes[1:-1]
    case.lower = tuple(int(rng.integers(-2, 2)) for _ in spatial)
    case.upper = tuple(
        int(rng.integers(max(low - n + 1, -2), 3)) for n, low in zip(spatial, case.lower)
    )
    case.offsets = tuple(int(rng.integers(0, 4)) for _ in spatial)
    return case


def rows_of(words):
    """(address, bytes) of the rows that ``workload.TILE_WORDS`` words describe, in order."""
    base, size, rows, repeats, repeat_stride = words[:5]
    axes = [words[k : k + 6] for k in range(5, 29, 6)]
    for repeat in range(repeats if size else 0):
        places = [axis[0] for axis in axes]
        for _ in range(rows):
            if all(0 <= place <= axis[4] for place, axis in zip(places, axes)):
                strides = sum(place * axis[5] for place, axis in zip(places, axes))
                yield base + repeat * repeat_stride + strides, size
            for k, (_, low, high, step, _, _) in enumerate(axes):
                places[k] += step
                if places[k] <= high:
                    break
                places[k] = low
