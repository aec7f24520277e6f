"""What a coherence protocol needs of a GPU's other parts."""

from collections.abc import Iterator

from lockstep.gpus.spec import GPU

_LINE = 64  # bytes: a bit each in a mask
_MESSAGES_OF_A_MISS = 2
_MOST_SHARERS = 63  # L1s that a directory entry has a bit for
_WHY = {
    "l1.waiting": "a read that waits beside the L1 would be passed by younger ones of its line",
    "l1.prefetcher": "a line could come that is older than what was read before",
    "l1.allocate": "a line that is reserved takes data that was sent before a store to it",
    "l2.mshr_full": "a request that is refused would be passed by younger ones of its SM",
    "l2.sides": "a line has one home, without copies",
    "l2.neighbours": "each CU is told of its lines by itself",
    "interconnect.order": "messages of a CU to a line's home must keep their order",
}
"""Why a protocol needs what it does, where it does not follow from the names."""


def _expected(gpu: GPU, fields: tuple[tuple[str, object, object], ...]) -> Iterator[str]:
    """What a coherence protocol does not allow, of (path, value, the only one that it knows)."""
    for path, value, expected in fields:
        if value != expected:
            because = f"because coherence.protocol is {gpu.coherence.protocol}"
            why = f": {_WHY[path]}" if path in _WHY else ""
            yield f"{path} = {value}: expected {expected}, {because}{why}"


def _scopes(gpu: GPU) -> Iterator[str]:
    """Reads of an SM to a slice must not be overtaken, nor answered with what is elsewhere."""
    if gpu.coherence.scoped:
        yield from _expected(
            gpu,
            (
                ("core", gpu.core, "sm"),
                ("l1.allocate", gpu.l1.allocate, "fill"),
                ("l1.waiting", gpu.l1.waiting, 0),
                ("l1.prefetcher", gpu.l1.prefetcher, "none"),
                ("l2.mshr_full", gpu.l2.mshr_full, "stall"),
            ),
        )


def _coherence(gpu: GPU) -> Iterator[str]:
    protocol = gpu.coherence.table
    if protocol == "none":
        return
    because = f"because coherence.protocol is {protocol}"
    fields = (
        ("core", gpu.core, "cu"),
        ("l1.line_bytes", gpu.l1.line_bytes, _LINE),
        ("l1.sector_bytes", gpu.l1.sector_bytes, _LINE),
        ("l1.cache_global", gpu.l1.cache_global, True),
        ("l1.waiting", gpu.l1.waiting, 0),
        ("l1.prefetcher", gpu.l1.prefetcher, "none"),
        ("l2.prefetcher", gpu.l2.prefetcher, "none"),
        ("l2.sides", gpu.l2.sides, 1),
        ("l2.neighbours", gpu.l2.neighbours, 1),
        ("interconnect.order", gpu.interconnect.order, "sm"),
    )
    yield from _expected(gpu, fields)
    if gpu.l1.miss_queue < _MESSAGES_OF_A_MISS:
        yield (
            f"l1.miss_queue = {gpu.l1.miss_queue}: expected at least {_MESSAGES_OF_A_MISS}, "
            f"{because}: a miss may send a line away"
        )
    if gpu.sm.count > _MOST_SHARERS:
        yield f"sm.count = {gpu.sm.count}: expected at most {_MOST_SHARERS}, {because}"


def coherence_problems(gpu: GPU) -> Iterator[str]:
    """What is wrong with the protocol, a line each."""
    yield from _scopes(gpu)
    yield from _coherence(gpu)
