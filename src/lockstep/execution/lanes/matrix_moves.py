"""Matrices between memory and the lanes of a warp.

Memory is accessed in pieces of 16 bytes (8, if lines are no longer), each at the address that one
lane gives; pieces of 128 bytes together make a chunk. Lines of a matrix, rows or columns, are so
many pieces each.
"""

from collections.abc import Callable

from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.checks.races import Kind
from lockstep.execution.lanes import races, written
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.builder import HALF, POINTER, LaneBuilder
from lockstep.execution.lanes.flow import Values, outlined
from lockstep.execution.lanes.matrix import permuted
from lockstep.execution.lanes.types import I16, I32, PRED, Type, Value
from lockstep.isa.instruction import WARP_SIZE

PIECE = 16  # bytes
CHUNK = 128  # bytes
ROWS = CHUNK // PIECE
BYTE = ir.IntType(8)


def load_chunk(b: LaneBuilder, host: Value, first: int, kind: Type, size=PIECE) -> ir.Value:
    """Pieces of ``size`` bytes from the host addresses of lanes ``first`` and on, as one vector."""
    piece = ir.VectorType(kind.element, size // kind.bytes)
    parts = []
    for lane in range(first, first + CHUNK // size):
        place = b.ir.inttoptr(b.ir.extract_element(host.ir, ir.Constant(HALF, lane)), POINTER)
        parts.append(b.ir.load(place, typ=piece, align=size))
    while len(parts) > 1:
        parts = [_joined(b, one, two) for one, two in zip(parts[::2], parts[1::2])]
    return parts[0]


def store_chunk(b: LaneBuilder, host: Value, first: int, chunk: ir.Value, size=PIECE) -> None:
    """The inverse of :func:`load_chunk`."""
    count = CHUNK // size
    length = chunk.type.count // count
    for k in range(count):
        piece = b.shuffle(chunk, chunk, range(k * length, (k + 1) * length))
        lane = ir.Constant(HALF, first + k)
        b.ir.store(piece, b.ir.inttoptr(b.ir.extract_element(host.ir, lane), POINTER), align=size)


def _joined(b: LaneBuilder, one: ir.Value, two: ir.Value) -> ir.Value:
    return b.shuffle(one, two, range(2 * one.type.count))


# Matrices of 8 by 8 elements of 16 bits, whose rows lie at addresses of their own


def load_matrices(b: LaneBuilder, access: Access, count: int, transposed: bool) -> list[Value]:
    """Lane k holds elements 2 (k % 4) and the next of row k / 4, for each matrix (i32).

    Lanes 8 m to 8 m + 7 give the addresses of the rows of matrix m. ``transposed``: column k / 4.
    """

    def emit(inner: LaneBuilder, address: ir.Value, site: ir.Value) -> Values:
        host = _rows(inner, access.inside(address, site), count, Kind.READ)
        chunks = [load_chunk(inner, host, ROWS * k, I16) for k in range(count)]
        return [inner.ir.bitcast(_turned(inner, c, transposed), inner.vector(I32)) for c in chunks]

    name = f"load_matrices_{access.name}_{count}{'t' * transposed}"
    arguments = [access.address.ir, access.site]
    return [Value(v, I32) for v in outlined(b, name, [b.vector(I32)] * count, arguments, emit)]


def store_matrices(b: LaneBuilder, access: Access, values: list[Value], transposed: bool) -> None:
    """The inverse of :func:`load_matrices`."""
    count = len(values)

    def emit(inner: LaneBuilder, address: ir.Value, site: ir.Value, *words: ir.Value) -> Values:
        host = _rows(inner, access.inside(address, site), count, Kind.WRITE)
        for k, word in enumerate(words):
            chunk = inner.ir.bitcast(word, ir.VectorType(I16.element, 2 * WARP_SIZE))
            store_chunk(inner, host, ROWS * k, _turned(inner, chunk, transposed))
        return []

    name = f"store_matrices_{access.name}_{count}{'t' * transposed}"
    outlined(b, name, [], [access.address.ir, access.site, *(v.ir for v in values)], emit)


def transpose(b: LaneBuilder, value: Value) -> Value:
    """The transposed 8 by 8 matrix of 16-bit elements, spread over the lanes in the same way."""
    chunk = b.ir.bitcast(value.ir, ir.VectorType(I16.element, 2 * WARP_SIZE))
    return Value(b.ir.bitcast(_turned(b, chunk, True), b.vector(I32)), I32)


def _rows(b: LaneBuilder, access: Access, count: int, does: Kind) -> Value:
    """Host addresses of the rows of the first matrices; other lanes' addresses mean nothing."""
    lanes = [int(k < ROWS * count) for k in range(WARP_SIZE)]
    with b.guarded(Value(ir.Constant(b.vector(PRED), lanes), PRED)):
        return _checked(b, access, does)


def _checked(b: LaneBuilder, access: Access, does: Kind) -> Value:
    """Host addresses of pieces, and what is done there."""
    host = host_addresses(b, access)
    (written.read if does == Kind.READ else written.write)(b, access, host)
    races.access_all(b, access, host, does)
    return host


def _turned(b: LaneBuilder, chunk: ir.Value, transposed: bool) -> ir.Value:
    if not transposed:
        return chunk
    places = [(0, k % 8 * 8 + k // 8) for k in range(64)]
    return permuted(b, [chunk], places)


# Fragments of a matrix in memory, line after line at a stride


class Fragment:
    """A matrix in memory and in the registers of a warp.

    ``place(lane, register, element)`` gives line and position in the line; elements have the type
    ``kind`` and several lie in a register of ``kind.bits * per`` bits. Registers that hold what
    others hold are repeated.
    """

    def __init__(self, name: str, lines: int, length: int, kind: Type, per: int, place: Callable):
        self.name, self.lines, self.length, self.kind, self.per = name, lines, length, kind, per
        self.place = place

    @property
    def piece(self) -> int:
        """Bytes of a piece."""
        return min(self.length * self.kind.bytes, PIECE)

    @property
    def chunks(self) -> int:
        """Chunks of the whole matrix."""
        return self.lines * self.length * self.kind.bytes // CHUNK

    @property
    def registers(self) -> int:
        """Registers of a lane, without repetitions."""
        return self.lines * self.length // (WARP_SIZE * self.per)

    def element(self, lane: int, register: int, element: int) -> tuple[int, int]:
        """Chunk, and position in it, of an element of a register."""
        line, position = self.place(lane, register, element)
        return divmod(line * self.length + position, CHUNK // self.kind.bytes)


def piece_addresses(
    b: LaneBuilder, address: Value, stride: Value, f: Fragment, size: int
) -> list[Value]:
    """Addresses of all pieces of ``size`` bytes, 32 at a time; ``stride`` is in bytes (i64)."""
    a_line = f.length * f.kind.bytes // size
    total, kind = f.chunks * CHUNK // size, address.type
    step = stride.ir if kind.bits == 64 else b.ir.trunc(stride.ir, b.vector(kind))
    groups = []
    for first in range(0, total, WARP_SIZE):
        pieces = [(first + k) % total for k in range(WARP_SIZE)]
        line = b.each(kind, [p // a_line for p in pieces])
        within = b.each(kind, [p % a_line * size for p in pieces])
        offset = b.ir.add(b.ir.mul(line.ir, step), within.ir)
        groups.append(Value(b.ir.add(address.ir, offset), kind))
    return groups


def load_fragment(b: LaneBuilder, access: Access, stride: Value, f: Fragment) -> list[Value]:
    """The registers of a fragment, without repetitions."""
    word = Type(f"i{f.kind.bits * f.per}", f.kind.bits * f.per, "int")

    def emit(inner: LaneBuilder, address, site, step) -> Values:
        place = access.inside(address, site)
        hosts = _hosts(inner, place, Value(step, stride.type), f, Kind.READ)
        chunks = [load_chunk(inner, h, k, f.kind, f.piece) for h, k in hosts]
        results = []
        for register in range(f.registers):
            sources = [f.element(n, register, e) for n in range(WARP_SIZE) for e in range(f.per)]
            results.append(_gathered(inner, chunks, sources))
        return [inner.ir.bitcast(r, inner.vector(word)) for r in results]

    name = f"load_fragment_{f.name}_{access.name}"
    arguments = [access.address.ir, access.site, stride.ir]
    results = outlined(b, name, [b.vector(word)] * f.registers, arguments, emit)
    return [Value(r, word) for r in results]


def store_fragment(
    b: LaneBuilder, access: Access, stride: Value, f: Fragment, values: list[Value]
) -> None:
    """The inverse of :func:`load_fragment`."""
    found = {}
    for register in range(f.registers):
        for lane in range(WARP_SIZE):
            for e in range(f.per):
                found[f.element(lane, register, e)] = (register, lane * f.per + e)
    size = CHUNK // f.kind.bytes

    def emit(inner: LaneBuilder, address, site, step, *words) -> Values:
        place = access.inside(address, site)
        hosts = _hosts(inner, place, Value(step, stride.type), f, Kind.WRITE)
        vectors = [
            inner.ir.bitcast(w, ir.VectorType(f.kind.element, WARP_SIZE * f.per)) for w in words
        ]
        for k, (host, lane) in enumerate(hosts):
            sources = [found[k, position] for position in range(size)]
            store_chunk(inner, host, lane, _gathered(inner, vectors, sources), f.piece)
        return []

    name = f"store_fragment_{f.name}_{access.name}"
    arguments = [access.address.ir, access.site, stride.ir, *(v.ir for v in values)]
    outlined(b, name, [], arguments, emit)


def _hosts(
    b: LaneBuilder, access: Access, stride: Value, f: Fragment, does: Kind
) -> list[tuple[Value, int]]:
    """For each chunk the checked host addresses that hold its pieces', and the first lane."""
    hosts = []
    for address in piece_addresses(b, access.address, stride, f, f.piece):
        host = _checked(b, replace(access, address=address, bytes=f.piece), does)
        hosts += [(host, lane) for lane in range(0, WARP_SIZE, CHUNK // f.piece)]
    return hosts[: f.chunks]


def _gathered(b: LaneBuilder, vectors: Values, sources: list[tuple[int, int]]) -> ir.Value:
    """A vector from elements of vectors that may have another length."""
    length = len(sources)
    fitting, places = [], []
    for k, vector in enumerate(vectors):
        count = vector.type.count
        for first in range(0, max(count, length), length) if count > length else (0,):
            kept = [min(first + p, count - 1) for p in range(length)]
            part = vector if count == length else b.shuffle(vector, vector, kept)
            places += [((k, first + p), (len(fitting), p)) for p in range(length)]
            fitting.append(part)
    at = dict(places)
    return permuted(b, fitting, [at[s] for s in sources])
