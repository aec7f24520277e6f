"""A second reader, written from docs/trace-format.md alone: slow, plain, and without checks."""

import struct
import zlib
from itertools import pairwise

import zstandard

MASK = (1 << 64) - 1


def signed(value):
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


class Payload:
    """An unpacked section, read from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n : self.at]

    def column(self, n):
        (head,) = self.take(1)
        shift = self.take(1)[0] if head & 32 else 0
        planes = [self.take(n) for _ in range(head & 15)]
        values, before = [], 0
        for i in range(n):
            z = sum(plane[i] << 8 * b for b, plane in enumerate(planes))
            value = ((z >> 1) ^ -(z & 1)) << shift
            before = signed(value + before if head & 16 else value)
            values.append(before)
        return values

    def tables(self, widths):
        counts = self.column(len(widths))
        return [[self.column(n) for _ in range(w)] for n, w in zip(counts, widths)]


def section(data, crc):
    assert zlib.crc32(data) == crc
    return Payload(zstandard.ZstdDecompressor().decompress(data))


def read(path):
    """A dictionary for the workload, with plain lists and tuples below it."""
    data = path.read_bytes()
    offset, _, crc, _ = struct.unpack("<QII8s", data[-24:])
    assert zlib.crc32(data[:12] + data[offset:-24] + data[-24:-12]) == crc
    index = Payload(zstandard.ZstdDecompressor().decompress(data[offset:-24]))
    tables = index.tables([1, 40, 2, 1, 1, 1, 2, 19, 4])
    lengths, instructions, codes, texts, members, kinds, copies, kernels, chunks = tables
    strings = [index.take(n).decode("utf-8", "surrogatepass") for n in lengths[0]]
    index.take(int.from_bytes(index.take(2), "little"))  # the GPU
    instructions.append(index.column(len(instructions[0])))
    if data[8] == 3:
        kernels.append(index.column(len(kernels[0])))
    else:
        kernels.append([32] * len(kernels[0]))
    contents, document = [], ""
    if (data[8], data[10]) in ((2, 3), (3, 1), (3, 2)):
        contents, document = _points(index)
    scalars = [0] * len(kernels[0])
    if (data[8], data[10]) == (3, 2):
        scalars = index.column(len(kernels[0]))
    kernels.append(scalars)
    copies, kernels = zip(*copies), zip(*kernels)
    codes = list(_codes(list(zip(*instructions)), list(zip(*codes)), texts[0], members[0]))
    places = _places(zip(*chunks))
    commands = []
    for kind in kinds[0]:
        if kind == 0:
            commands.append(next(copies))
            continue
        code, name, *numbers, n_chunks, warp_size, scalars = next(kernels)
        lines = [[strings[line[1]], *line[:1], *line[2:]] for line in codes[code][1]]
        kernel = {
            "name": strings[name],
            "numbers": [*numbers, warp_size, scalars],
            "instructions": lines,
        }
        kernel["texts"] = [strings[t] for t in codes[code][0]]
        block = numbers[10:13]
        warps = -(-block[0] * block[1] * block[2] // warp_size)
        kernel["ctas"] = []
        for _ in range(n_chunks):
            start, size, crc = next(places)
            payload = section(data[start : start + size], crc)
            kernel["ctas"] += Chunk(payload, numbers[7:10], warps, lines).ctas()
        commands.append(kernel)
    if document:
        commands = [command for pair in zip(contents, commands) for command in pair]
    return {"name": strings[0], "commands": commands, "points": document}


def _points(index):
    (counts, before), runs, launches, (length,) = index.tables([2, 4, 2, 1])
    runs, contents, at = list(zip(*runs)), [], 0
    launches = list(zip(*launches))
    for count, number in zip(counts, before):
        own, runs, content = runs[:count], runs[count:], []
        for jump, lines, sectors, dirty in own:
            content.append((at + jump, lines, sectors, dirty))
            at += jump + lines
        contents.append((content, launches[: number + 1]))
    return contents, index.take(sum(length)).decode()


def _codes(instructions, counts, texts, members):
    for n_texts, n_members in counts:
        own, texts = texts[:n_texts], texts[n_texts:]
        numbers, members = members[:n_members], members[n_members:]
        yield own, [instructions[number + i] for i, number in enumerate(numbers)]


def _places(chunks):
    at = 12
    for _, size, _, crc in chunks:
        yield at, size, crc
        at += size


class Row:
    """One memory instruction of a chunk."""

    def __init__(self, instruction, records, lists, lanes, *parameters):
        self.instruction = instruction
        self.lengths = [records, records - lists, records, lanes]
        self.kind, self.origin, self.gap, self.reference, self.scale = parameters
        self.stride = self.step = self.warp_step = self.slope = 0
        self.last = self.origin
        self.offset = None
        self.remembered, self.remembered_in = {}, None
        self.records = {}  # addresses by warp, in the order of the warps
        self.starts = {}  # (CTA, slot) to twin warp


class Chunk:
    """Decodes one chunk."""

    def __init__(self, payload, grid, warps, lines):
        self.grid, self.n_warps = grid, warps
        tables = payload.tables([2, 1, 1, 3, 1, 9])
        (self.index, self.shape), (self.warps,), (counts,), runs, (masks,), rows = tables
        self.rows = [Row(*values) for values in zip(*rows)]
        streams = [[payload.column(row.lengths[k]) for row in self.rows] for k in range(4)]
        for row, *own in zip(self.rows, *streams):
            row.lists, row.strides, row.firsts, row.lanes = map(iter, own)
        assert payload.at == len(payload.data)
        self.shapes = self._shapes(counts, list(zip(*runs)), iter(masks))
        memory = [i for i, line in enumerate(lines) if line[4] > 0]
        self.row_of = {memory[row.instruction]: row for row in self.rows}
        self.memory = set(memory)

    @staticmethod
    def _shapes(counts, runs, masks):
        shapes = []
        for count in counts:
            own, runs, shape, at = runs[:count], runs[count:], [], 0
            for jump, n, back in own:
                mask = shape[-back][2] if back else next(masks)
                shape.append((at + jump, n, mask))
                at += jump + n
            shapes.append(shape)
        return shapes

    def ctas(self):
        """Each CTA: its index, then for each warp its runs and its address records."""
        gx, gy, _ = self.grid
        found, number = [], 0
        for cta, (index, shape) in enumerate(zip(self.index, self.shape)):
            warps = []
            for slot in range(self.n_warps):
                runs = self.shapes[self.warps[shape * self.n_warps + slot]]
                self.where = (number, cta, slot % 64)
                warps.append((runs, [self._record(*what) for what in self._executed(runs)]))
                number += 1
            found.append(((index % gx, index // gx % gy, index // gx // gy), warps))
        return found

    def _executed(self, runs):
        for first, count, mask in runs:
            for i in range(first, first + count):
                if i in self.memory and mask:
                    yield self.row_of[i], [lane for lane in range(64) if mask >> lane & 1]

    def _record(self, row, lanes):
        listed = next(row.lists)
        address = signed(self._expect_first(row, lanes[0]) + next(row.firsts))
        self._learn_first(row, lanes[0], address)
        if not listed:
            row.stride += next(row.strides)
            addresses = [signed(address + k * row.stride) for k in range(len(lanes))]
            self._remember(row, lanes, addresses)
            return address, row.stride
        addresses = [address]
        for before, lane in pairwise(lanes):
            expected = self._expect_lane(row, before, lane, addresses[-1])
            addresses.append(signed(expected + next(row.lanes)))
            self._learn_offset(row, lane, addresses[-1])
        self._remember(row, lanes, addresses)
        return addresses

    def _remember(self, row, lanes, addresses):
        if row.remembered_in != self.where[0]:
            row.remembered, row.remembered_in = {}, self.where[0]
        row.remembered.update(zip(lanes, addresses))

    def _scaled(self, row, lane):
        other = self.rows[row.reference]
        if row.kind != 2 or other.remembered_in != self.where[0]:
            return None
        address = other.remembered.get(lane)
        if address is None:
            return None
        return signed(address << row.scale if row.scale >= 0 else address >> -row.scale)

    def _by_reference(self, row, lane):
        scaled = self._scaled(row, lane)
        return None if scaled is None or row.offset is None else scaled + row.offset

    def _learn_offset(self, row, lane, address):
        scaled = self._scaled(row, lane)
        if scaled is not None:
            row.offset = address - scaled

    def _expect_lane(self, row, before, lane, address):
        if row.kind == 1:
            return row.origin
        expected = self._by_reference(row, lane)
        return address + row.gap * (lane - before) if expected is None else expected

    def _expect_first(self, row, lane):
        if row.kind == 1:
            return row.origin
        grid = self._grid(row)
        expected = self._by_reference(row, lane)
        return grid if expected is None else expected

    def _grid(self, row):
        warp, cta, slot = self.where
        if warp in row.records:
            own, (_, twin, _) = row.records[warp], row.starts[warp]
            if twin is not None and len(row.records[twin]) > len(own):
                twins = row.records[twin]
                return own[-1] + twins[len(own)] - twins[len(own) - 1]
            return own[-1] + row.step
        twin = above = None
        for earlier, (c, _, s) in row.starts.items():  # in order: the last one wins
            twin = earlier if s == slot else twin
            above = earlier if c == cta else above
        row.starts[warp] = cta, twin, slot
        row.above, row.twin = above, twin
        if above is not None:
            start, above_twin = row.records[above][0], row.starts[above][1]
            if twin is not None and above_twin is not None:
                return row.records[twin][0] + start - row.records[above_twin][0]
            return start + row.warp_step
        return row.last if twin is None else self._sloped(row, cta)

    def _distance(self, row, cta):
        return self.index[cta] - self.index[row.starts[row.twin][0]]

    def _sloped(self, row, cta):
        return row.records[row.twin][0] + row.slope * self._distance(row, cta)

    def _learn_first(self, row, lane, address):
        if row.kind == 1:
            return
        warp, cta, _ = self.where
        own = row.records.setdefault(warp, [])
        if own:
            row.step = signed(address - own[-1])
        elif row.above is not None:
            row.warp_step = signed(address - row.records[row.above][0])
        elif row.twin is not None and self._distance(row, cta):
            rise, run = signed(address - row.records[row.twin][0]), self._distance(row, cta)
            row.slope = rise // run if run > 0 else signed(-rise) // -run
        own.append(address)
        row.last = address
        self._learn_offset(row, lane, address)
