"""What a block appends to its CTA's stream: which warp, which block, which lanes, which addresses.

An entry is two words, ``warp << 32 | block`` and the mask, followed by the block's items in
order: a mask word for a guarded instruction, one word a lane for addresses, TILE_WORDS words a
lane for tiles.
"""

from collections.abc import Container

from llvmlite import ir

from lockstep.execution.lanes.builder import POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.types import Value
from lockstep.execution.programs.program import Item
from lockstep.workload.bulk_copies import TILE_WORDS

HEADER_WORDS = 2


class StreamWriter:
    """Emits the stream entry of one block; of ``chosen`` instructions alone, if they are given."""

    def __init__(self, b: LaneBuilder, block: int, chosen: Container[int] | None = None):
        self.b, self.items, self.words, self._chosen = b, [], HEADER_WORDS, chosen
        self._place = b.field_address("cta", "stream")
        self._start = b.ir.load(self._place, typ=WORD)
        self._pointer = b.ir.inttoptr(self._start, POINTER)
        warp = b.ir.shl(b.field("warp", "index"), ir.Constant(WORD, 32))
        self._write(0, b.ir.or_(warp, ir.Constant(WORD, block)))
        self._write(1, b.ir.zext(b.mask_bits, WORD))

    def _is_chosen(self, instruction: int) -> bool:
        return self._chosen is None or instruction in self._chosen

    def _write(self, word: int, value: ir.Value) -> None:
        self.b.ir.store(value, self.b.offset(self._pointer, 8 * word), align=8)

    def lanes(self, instruction: int) -> None:
        """The lanes that execute a guarded instruction."""
        if not self._is_chosen(instruction):
            return
        self.items.append(Item(instruction, self.words, guarded=True))
        self._write(self.words, self.b.ir.zext(self.b.bits_of(self.b.active), WORD))
        self.words += 1

    def addresses(self, instruction: int, address: Value, waits: bool = False) -> None:
        """The addresses (i64) of a memory instruction; those of inactive lanes mean nothing."""
        if not self._is_chosen(instruction):
            return
        self.items.append(Item(instruction, self.words, waits=waits))
        self._write(self.words, address.ir)
        self.words += self.b.lanes

    def tile(self, instruction: int) -> ir.Value:
        """Pointer to where TILE_WORDS lane vectors of words go: the tiles of a bulk copy."""
        self.items.append(Item(instruction, self.words, tiled=True))
        place = self.b.offset(self._pointer, 8 * self.words)
        self.words += TILE_WORDS * self.b.lanes
        return place

    def close(self) -> None:
        """The next entry goes after this one."""
        end = self.b.ir.add(self._start, ir.Constant(WORD, 8 * self.words))
        self.b.ir.store(end, self._place)
