"""Descriptors of images: eight scalar registers, and where the elements lie that they describe.

``device/image.py`` writes those of a launch. Rows of planes lie one after the other.
"""

from dataclasses import dataclass

from llvmlite import ir

from lockstep.execution.gcn.formats import size_of
from lockstep.execution.gcn.lift import Lift
from lockstep.execution.lanes.builder import HALF, WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.isa.gcn.instruction import Instruction

AXES = 3
IMAGE_VALUES = 9  # of a descriptor in an outlined function
_ROW, _VOLUME = 8, 10  # types of images, of one axis and of three; between them are planes
_PLACES = {  # word and bits of a descriptor's fields, from the lowest one on
    "data": (1, 20, 6), "number": (1, 26, 4), "width": (2, 0, 14), "height": (2, 14, 14),
    "selects": (3, 0, 12), "type": (3, 28, 4), "depth": (4, 0, 13), "pitch": (4, 13, 14),
}  # fmt: skip


@dataclass(frozen=True)
class ImageDescriptor:
    """The fields of a descriptor: address (i64), sizes and format (i32 scalars)."""

    base: ir.Value
    sizes: tuple[ir.Value, ...]
    pitch: ir.Value
    data: ir.Value
    number: ir.Value
    selects: ir.Value
    type: ir.Value

    @classmethod
    def of(cls, lift: Lift, first: int) -> "ImageDescriptor":
        """That in eight scalar registers."""
        e = lift.b.ir
        words = [lift.registers.scalar(first + k).ir for k in range(5)]

        def field(name: str) -> ir.Value:
            word, shift, bits = _PLACES[name]
            moved = e.lshr(words[word], ir.Constant(HALF, shift))
            return e.and_(moved, ir.Constant(HALF, (1 << bits) - 1))

        def more(name: str) -> ir.Value:
            return e.add(field(name), ir.Constant(HALF, 1))

        high = e.and_(words[1], ir.Constant(HALF, 0xFF))
        base = e.or_(
            e.shl(e.zext(words[0], WORD), ir.Constant(WORD, 8)),
            e.shl(e.zext(high, WORD), ir.Constant(WORD, 40)),
        )
        is_volume = e.icmp_unsigned("==", field("type"), ir.Constant(HALF, _VOLUME))
        depth = e.select(is_volume, more("depth"), ir.Constant(HALF, 1))
        sizes = more("width"), more("height"), depth
        names = ("data", "number", "selects", "type")
        return cls(base, sizes, more("pitch"), *(field(name) for name in names))

    def has(self, b: LaneBuilder, axis: int) -> ir.Value:
        """Whether the image has the second axis (1), or the third (2)."""
        if axis == 1:
            return b.ir.icmp_unsigned("!=", self.type, ir.Constant(HALF, _ROW))
        return b.ir.icmp_unsigned("==", self.type, ir.Constant(HALF, _VOLUME))

    @property
    def values(self) -> Values:
        """What an outlined function needs of it."""
        return [
            *(self.base, *self.sizes, self.pitch),
            *(self.data, self.number, self.selects, self.type),
        ]

    @classmethod
    def inside(cls, values: Values) -> "ImageDescriptor":
        """The same there."""
        return cls(values[0], tuple(values[1:4]), *values[4:IMAGE_VALUES])


def coordinates(lift: Lift, first: int, count: int = AXES) -> list[Value]:
    """Registers from one on (i32); those that the kernel has not are zero, nobody looks at them."""
    registers = range(first, first + count)
    zero = lift.b.constant(I32, 0)
    return [lift.registers.vector(r) if r < lift.source.vectors else zero for r in registers]


def check_image(lift: Lift, i: Instruction) -> None:
    """Refuse what instructions on images may ask for, and what is not there."""
    for field in ("lwe", "tfe", "r128", "da"):
        if i.fields[field]:
            raise lift.refuse(f"images with {field} are not supported")


def locate(b: LaneBuilder, at: Values, image: ImageDescriptor) -> tuple[Value, Value]:
    """Addresses of elements, and for which active lanes they exist.

    A kernel may leave anything in coordinates of axes that an image has not.
    """
    e, wide = b.ir, b.vector(I64)
    exists = b.active.ir
    total = b.constant(I64, 0).ir
    for axis in reversed(range(AXES)):
        size, place = image.sizes[axis], at[axis]
        if axis:
            place = e.select(image.has(b, axis), place, b.constant(I32, 0).ir)
        exists = e.and_(exists, e.icmp_unsigned("<", place, b.splat(size, I32).ir))
        step = image.pitch if axis == 0 else size
        total = e.add(e.mul(total, b.splat(e.zext(step, WORD), I64).ir), e.zext(place, wide))
    size = b.splat(e.zext(size_of(b, image.data), WORD), I64).ir
    address = Value(e.add(e.mul(total, size), b.splat(image.base, I64).ir), I64)
    return address, Value(exists, PRED)
