"""The smallest input that a few hundred attempts find with the same defect."""

from collections.abc import Callable, Iterator

from fuzzing.outcome import Outcome
from fuzzing.runner import outcomes
from fuzzing.target import Target

ATTEMPTS = 400
_AT_ONCE = 16  # pieces of one size tried by one worker


def minimised(target: Target, data: bytes, seed: bytes, outcome: Outcome) -> bytes:
    """``data`` with pieces left out as long as reading it ends in the same defect."""
    left = ATTEMPTS

    def first_like(candidates: list[bytes]) -> bytes | None:
        nonlocal left
        left -= len(candidates)

        def fetch(number: int) -> tuple[bytes, bytes]:
            return candidates[number], seed

        for number, found in outcomes(target, range(len(candidates)), fetch):
            if found.key == outcome.key:
                return candidates[number]
        return None

    for join in (b"\n", b""):
        size = len(_pieces(data, join))
        while size and left > 0:
            smaller = _shrunk(data, join, size, first_like)
            if smaller is None:
                size //= 2
            data = data if smaller is None else smaller
    return data


def _shrunk(
    data: bytes, join: bytes, size: int, first_like: Callable[[list[bytes]], bytes | None]
) -> bytes | None:
    """The data without a run of ``size`` pieces, if there is one that does not matter."""
    waiting: list[bytes] = []
    for candidate in _without(data, join, size):
        waiting.append(candidate)
        if len(waiting) == _AT_ONCE:
            if (found := first_like(waiting)) is not None:
                return found
            waiting = []
    return first_like(waiting) if waiting else None


def _without(data: bytes, join: bytes, size: int) -> Iterator[bytes]:
    pieces = _pieces(data, join)
    for start in range(0, len(pieces), size):
        yield join.join(pieces[:start] + pieces[start + size :])


def _pieces(data: bytes, join: bytes) -> list[bytes]:
    return data.split(join) if join else [data[i : i + 1] for i in range(len(data))]
