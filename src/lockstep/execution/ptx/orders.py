"""Orders in which an assembler may put the instructions of a block.

Accesses do not pass what writes memory or waits. In the one order everything is computed as late
as it can be, which needs few registers; in the other one loads begin as early as they can, which
hides their latency.
"""

from collections.abc import Iterable

from lockstep.execution.ptx.graph import Block
from lockstep.execution.ptx.values import Values

_LOADS = ("ld", "ldu", "tex", "tld4", "suld", "ldmatrix")
_STAYS = ("st", "red", "atom", "cp", "sust", "sured", "wgmma", "mbarrier")  # writes memory
_STAYS += ("bar", "barrier", "membar", "fence", "nanosleep", "vote", "shfl", "activemask", "elect")
_STAYS += ("call", "ret", "bra", "brx", "exit", "trap")


class Orders:
    """The orders of one block, as places in the function."""

    def __init__(self, values: Values, block: Block):
        self._values = values
        self._places = range(block.first, block.end)
        makers = {
            name: place
            for place in self._places
            for name in values.targets[place]
            if name in values.single
        }
        self._needs = {
            place: [makers[n] for n in values.sources[place] if makers.get(n, place) < place]
            for place in self._places
        }
        self._readers: dict[str, list[int]] = {}  # of registers that are written again
        for place in self._places:
            for name in values.sources[place]:
                if name not in values.single:
                    self._readers.setdefault(name, []).append(place)

    def late(self) -> list[int]:
        """Everything just before it is needed."""
        order: dict[int, None] = {}
        waiting: list[int] = []  # loads
        for place in self._places:
            if self._moves(place):
                waiting += [place] if self._loads(place) else []
                continue
            if self._is_fixed(place):
                self._emit(waiting, order)
                waiting = []
            for name in self._values.targets[place]:
                self._emit((r for r in self._readers.get(name, ()) if r < place), order)
            self._emit([place], order)
        self._emit(self._places, order)
        return list(order)

    def early(self) -> list[int]:
        """Loads, and what they need, before everything else between two fixed places."""
        order: dict[int, None] = {}
        stretch: list[int] = []
        for place in self._places:
            stretch.append(place)
            if self._is_fixed(place) or place == self._places[-1]:
                self._emit((p for p in stretch if self._loads(p) and self._moves(p)), order)
                self._emit(stretch, order)
                stretch = []
        return list(order)

    def _emit(self, places: Iterable[int], order: dict[int, None]) -> None:
        """Append instructions behind what they need."""
        for place in places:
            stack = [place]
            while stack:
                missing = [p for p in self._needs[stack[-1]] if p not in order]
                if missing:
                    stack += reversed(missing)
                else:
                    order.setdefault(stack.pop())

    def _loads(self, place: int) -> bool:
        opcode = self._values.instructions[place].opcode
        return opcode in _LOADS and bool(self._values.writes[place])

    def _is_fixed(self, place: int) -> bool:
        i = self._values.instructions[place]
        ordered = "volatile" in i.modifiers or "sync" in i.modifiers
        return i.opcode in _STAYS or ordered or self._values.entries[place].converges

    def _moves(self, place: int) -> bool:
        values = self._values
        i, targets = values.instructions[place], values.targets[place]
        carries = "cc" in i.modifiers or values.entries[place].reads_carry
        once = bool(targets) and all(n in values.single for n in targets)
        return once and i.guard is None and not carries and not self._is_fixed(place)
