"""The index: all of a workload but its CTAs, and where those lie. The last section of a file."""

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from lockstep.errors import WorkloadError
from lockstep.frontend.tracefile import container, points
from lockstep.frontend.tracefile.codes import (
    CONSTANT,
    CodeCollector,
    CodeTables,
    codes,
)
from lockstep.frontend.tracefile.columns import (
    LIMIT,
    Malformed,
    modular,
    pack,
    pack_tables,
    unpack,
    unpack_tables,
)
from lockstep.isa.instruction import NO_CONSTANT, WARP_SIZE, WARP_SIZES, thread_count_problem
from lockstep.workload import Code, Kernel, MemoryCopy, Workload
from lockstep.workload.warm import WarmSet

LONGEST_GPU = (1 << 16) - 1  # bytes of its name
SCALARS = ("id", "registers", "shared_bytes", "stream", "architecture", "shared_base", "local_base")
TRIPLES = ("grid", "block", "cluster")
NEWEST = {2: container.POINTS[2], 3: container.SCALAR_REGISTERS}  # known, by major version
KERNEL = ("code", "name", *SCALARS, *(t + axis for t in TRIPLES for axis in ("_x", "_y", "_z")))
TABLES = np.array([1, CONSTANT, 2, 1, 1, 1, 2, len(KERNEL) + 1, 4])
"""Columns of each table: strings, instructions, codes, their texts, their instructions, commands,
copies, kernels (and how many chunks each has), chunks."""
MOST_ROWS = 1 << 20  # of tables that become Python objects
MOST_MEMBERS = 1 << 25  # instructions of all codes
MOST_WARPS = 1 << 16  # in a CTA; hardware has 32


class StoredChunk(NamedTuple):
    """How many CTAs a chunk holds, and its section."""

    ctas: int
    size: int  # bytes in the file
    raw_size: int  # bytes unpacked
    crc: int  # CRC-32 of the bytes in the file


Placed = tuple[int, StoredChunk]
"""Where a chunk begins in the file, and the chunk."""

Source = Callable[[Kernel, list[Placed]], Callable]
"""Makes a kernel's ``ctas`` from its chunks and their places in the file."""


class Strings:
    """Numbers strings in the order in which they are first asked for."""

    def __init__(self):
        self.all: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The number of ``text``."""
        return self.all.setdefault(text, len(self.all))


def version(workload: Workload) -> tuple[int, int]:
    """The version of the format that a workload is written in: the oldest that can hold it."""
    if any(kernel.scalar_registers for kernel in workload.kernels):
        return container.SCALAR_REGISTERS
    narrow = all(kernel.warp_size == WARP_SIZE for kernel in workload.kernels)
    plain = container.VERSION if narrow else container.WIDE
    return container.POINTS[plain[0]] if workload.points else plain


def check(workload: Workload) -> None:
    """Raise :class:`WorkloadError` for what can be seen to be wrong before any CTA is read."""
    for kernel in workload.kernels:
        _kernel_numbers(kernel)
    points.check(workload)


def encode(workload: Workload, chunks: list[list[StoredChunk]]) -> bytes:
    """The payload of the index; ``chunks`` holds a list for each kernel."""
    strings = Strings()
    strings(workload.name)
    collector = CodeCollector(strings)
    kernels = [
        (collector.add(k.code), strings(k.name), *_kernel_numbers(k), len(own))
        for k, own in zip(workload.kernels, chunks)
    ]
    copies = [(c.address, c.bytes) for c in workload.commands if isinstance(c, MemoryCopy)]
    kinds = [int(isinstance(c, Kernel)) for c in workload.commands if not isinstance(c, WarmSet)]
    texts = [s.encode("utf-8", "surrogatepass") for s in strings.all]
    *code_tables, constants = collector.tables()
    tables = [[[len(t) for t in texts]], *code_tables, [kinds], _columns(copies, 2)]
    tables += [_columns(kernels, len(KERNEL) + 1), _columns([c for own in chunks for c in own], 4)]
    _check_sizes(texts, tables)
    named = b"".join(texts) + _named_gpu(workload.gpu)
    payload = pack_tables(tables) + named + pack(constants[0])
    written = version(workload)
    if written >= container.WIDE:
        payload += pack([kernel.warp_size for kernel in workload.kernels])
    if written >= container.POINTS[written[0]]:
        payload += points.encode(workload)
    if written >= container.SCALAR_REGISTERS:
        payload += pack([kernel.scalar_registers for kernel in workload.kernels])
    return payload


def _named_gpu(name: str) -> bytes:
    """The name of a GPU, with its length before it."""
    content = name.encode("utf-8", "surrogatepass")
    if len(content) > LONGEST_GPU:
        raise WorkloadError(
            f"the name of the GPU has {len(content)} bytes; a trace file keeps {LONGEST_GPU}"
        )
    return len(content).to_bytes(2, "little") + content


def _check_sizes(texts, tables) -> None:
    """Refuse what no reader would accept."""
    listed = max(len(texts), *(len(tables[i][0]) for i in (2, 5, 8)))
    if listed > MOST_ROWS:
        raise WorkloadError(f"{listed} commands, names or chunks; expected at most {MOST_ROWS}")
    members = max(len(tables[i][0]) for i in (1, 3, 4))
    if members > MOST_MEMBERS:
        raise WorkloadError(f"{members} instructions; expected at most {MOST_MEMBERS}")


def _kernel_numbers(kernel: Kernel) -> list[int]:
    """The numbers of a kernel, in the order of ``KERNEL``. Raises :class:`WorkloadError`."""
    numbers = [getattr(kernel, name) for name in SCALARS]
    numbers += [n for name in TRIPLES for n in getattr(kernel, name)]
    problem = _problem(kernel) or _too_large([*numbers, kernel.scalar_registers])
    if problem:
        raise WorkloadError(f"kernel {kernel.id}: {problem}")
    return numbers


def _problem(kernel: Kernel) -> str:
    """What makes a kernel impossible to run or to store, or nothing."""
    for name in TRIPLES:
        triple = getattr(kernel, name)
        if min(triple) < 1 or triple[0] * triple[1] * triple[2] >= 1 << 63:
            return f"{name} {triple}; expected three positive numbers"
    if kernel.warp_size not in WARP_SIZES:
        return f"warps of {kernel.warp_size} threads; expected {' or '.join(map(str, WARP_SIZES))}"
    if kernel.warps > MOST_WARPS:
        return f"{kernel.warps} warps in a CTA; expected at most {MOST_WARPS}"
    if min(kernel.registers, kernel.scalar_registers, kernel.shared_bytes) < 0:
        registers = f"{kernel.registers} and {kernel.scalar_registers} scalar registers"
        return f"{registers}, {kernel.shared_bytes} bytes of shared memory"
    if kernel.warp_size == WARP_SIZE:  # its barriers are checked with the code, which may be large
        return ""
    threads = kernel.code.instructions["threads"]
    wrong = threads[threads % kernel.warp_size != 0].tolist()
    return thread_count_problem(wrong[0], kernel.warp_size) if wrong else ""


def _too_large(numbers) -> str:
    wrong = [n for n in numbers if not -(1 << 63) <= n < 1 << 63]
    return f"{wrong[0]} does not fit in 64 signed bits" if wrong else ""


def _columns(rows, width: int):
    """Rows to columns, also when there are none."""
    return list(zip(*rows)) or [()] * width


@modular  # differences are modulo 2**64
def decode(
    payload: bytes, begin: int, version: tuple[int, int], source: Source
) -> tuple[Workload, int]:
    """The workload of an index, and where its last chunk ends; the first begins at ``begin``.

    ``version``: the one that wrote it; of later minor ones than ours there may be more. Raises
    :class:`Malformed`.
    """
    tables, position = unpack_tables(np.frombuffer(payload, np.uint8), TABLES, MOST_MEMBERS)
    (lengths,), *code_tables, (kinds,), copies, kernels, chunks = tables
    listed = (lengths, code_tables[1][0], kinds, copies[0], kernels[0], chunks[0])
    if max(map(len, listed)) > MOST_ROWS:
        raise Malformed(f"expected at most {MOST_ROWS} commands, names or chunks")
    strings, position = _strings(lengths.tolist(), payload, position)
    gpu, position = _gpu(payload, position) if version > (2, 0) else ("", position)
    constants, position = _constants(payload, position, version, len(code_tables[0][0]))
    count = len(kernels[0])
    sizes, position = _of_kernels(payload, position, version >= container.WIDE, count, WARP_SIZE)
    contents, document = [], ""
    if version >= container.POINTS[version[0]]:
        contents, document, position = points.decode(payload, position, count)
    scalars, position = _of_kernels(
        payload, position, version >= container.SCALAR_REGISTERS, count, 0
    )
    if position < len(payload) and version <= NEWEST[version[0]]:
        raise Malformed(f"{len(payload) - position} bytes too many at the end of the index")
    all_codes = codes(CodeTables(*code_tables, constants[None]), strings)
    placed, end = _placed([StoredChunk(*row) for row in zip(*chunks.tolist())], begin)
    try:
        moves = [MemoryCopy(*row) for row in zip(*copies.tolist())]
    except WorkloadError as problem:
        raise Malformed(str(problem)) from None
    rows = list(zip(*kernels.tolist(), sizes.tolist(), scalars.tolist()))
    launches = _kernels(rows, (all_codes, strings), placed, source)
    commands = _in_order(kinds.tolist(), moves, launches)
    if document:
        commands = points.interleaved(contents, commands)
    return Workload(strings[0], commands, gpu=gpu, points=document), end


def _in_order(kinds: list[int], *lists: list) -> list:
    """Merge lists; ``kinds`` says from which one the next item comes."""
    expected = [kind for kind, items in enumerate(lists) for _ in items]
    if sorted(kinds) != expected:
        raise Malformed("expected as many commands as copies and kernels")
    sources = [iter(items) for items in lists]
    return [next(sources[kind]) for kind in kinds]


def _placed(chunks: list[StoredChunk], at: int) -> tuple[list[Placed], int]:
    """Each chunk with its place in the file: they lie one after the other from ``at`` on."""
    placed: list[Placed] = []
    for chunk in chunks:
        if chunk.ctas < 1 or chunk.size < 1 or not 0 <= chunk.raw_size <= LIMIT:
            raise Malformed(f"chunk {len(placed)} is empty or larger than {LIMIT} bytes")
        placed.append((at, chunk))
        at += chunk.size
    return placed, at


def _kernels(rows, names, placed, source: Source) -> list[Kernel]:
    """The kernels, each given its share of the chunks."""
    all_codes, strings = names
    counts = [count for *_, count, _, _ in rows]
    if min(counts, default=0) < 0 or sum(counts) != len(placed):
        raise Malformed("expected every chunk to belong to a kernel")
    kernels = []
    for code, name, *numbers, count, warp_size, scalar_registers in rows:
        if not (0 <= code < len(all_codes) and 0 <= name < len(strings)):
            raise Malformed("kernel without code or name")
        kernel = _kernel(all_codes[code], strings[name], numbers, warp_size, scalar_registers)
        kernel.ctas = source(kernel, placed[:count])
        placed = placed[count:]
        kernels.append(kernel)
    return kernels


def _kernel(code: Code, name: str, numbers: list[int], warp_size: int, scalars: int) -> Kernel:
    axes = iter(numbers[len(SCALARS) :])
    fields: dict[str, Any] = dict(zip(SCALARS, numbers))
    fields |= dict(zip(TRIPLES, zip(axes, axes, axes)))
    fields |= {"warp_size": warp_size, "scalar_registers": scalars}
    kernel = Kernel(name=name, code=code, ctas=tuple, **fields)
    problem = _problem(kernel)
    if problem:
        raise Malformed(f"kernel {kernel.id}: {problem}")
    return kernel


def _gpu(payload: bytes, position: int) -> tuple[str, int]:
    """The name of the GPU behind the strings, and where it ends."""
    start = position + 2
    end = start + int.from_bytes(payload[position:start], "little")
    if end > len(payload):
        raise Malformed("expected the name of a GPU behind the strings")
    try:
        return payload[start:end].decode("utf-8", "surrogatepass"), end
    except UnicodeDecodeError:
        raise Malformed("expected the name of a GPU in UTF-8") from None


def _constants(
    payload: bytes, position: int, version: tuple[int, int], count: int
) -> tuple[np.ndarray, int]:
    """The constant operands of the instructions behind the GPU, and where they end."""
    if version < (2, 2):
        return np.full(count, NO_CONSTANT), position
    return unpack(np.frombuffer(payload, np.uint8), position, np.array([count]))


def _of_kernels(
    payload: bytes, position: int, written: bool, count: int, otherwise: int
) -> tuple[np.ndarray, int]:
    """A value for each kernel, and where they end; ``otherwise`` where none is ``written``."""
    if not written:
        return np.full(count, otherwise), position
    return unpack(np.frombuffer(payload, np.uint8), position, np.array([count]))


def _strings(lengths: list[int], payload: bytes, position: int) -> tuple[list[str], int]:
    """The strings behind the tables, and where they end."""
    end = position + sum(lengths)
    if not lengths or min(lengths) < 0 or end > len(payload):
        raise Malformed(f"expected strings of {end - position} bytes at the end of the index")
    places = pairwise(accumulate(lengths, initial=position))
    try:
        texts = [payload[a:b].decode("utf-8", "surrogatepass") for a, b in places]
    except UnicodeDecodeError:
        raise Malformed("expected strings in UTF-8") from None
    return texts, end
