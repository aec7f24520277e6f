"""Images: loads, stores and samples of elements by coordinates.

A descriptor is eight scalar registers; ``device/image.py`` writes those of a launch. Rows lie one
after the other. What is outside of an image is read as zero and not written.
"""

from dataclasses import dataclass

from llvmlite import ir

from lockstep.execution.gcn.elements import load_element, store_element
from lockstep.execution.gcn.formats import CHANNELS, size_of
from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.builder import HALF, WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values, outlined
from lockstep.execution.lanes.types import F32, I32, I64, PRED, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

AXES = 3
_THREE_D = 10  # type of an image; below it are rows and planes
_UNNORMALIZED = 1 << 15  # in the first word of a sampler
_CLAMPS = {"wrap": 0, "mirror": 1, "last": 2, "border": 6}
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
        is_volume = e.icmp_unsigned("==", field("type"), ir.Constant(HALF, _THREE_D))
        depth = e.select(is_volume, more("depth"), ir.Constant(HALF, 1))
        sizes = more("width"), more("height"), depth
        names = ("data", "number", "selects")
        return cls(base, sizes, more("pitch"), *(field(name) for name in names))

    @property
    def values(self) -> Values:
        """What an outlined function needs of it."""
        return [self.base, *self.sizes, self.pitch, self.data, self.number, self.selects]

    @classmethod
    def inside(cls, values: Values) -> "ImageDescriptor":
        """The same there."""
        return cls(values[0], tuple(values[1:4]), *values[4:8])


IMAGE_VALUES = 8


def _coordinates(lift: Lift, first: int) -> list[Value]:
    """Three registers (i32); those that the kernel has not are zero, nobody looks at them."""
    registers = range(first, first + AXES)
    zero = lift.b.constant(I32, 0)
    return [lift.registers.vector(r) if r < lift.source.vectors else zero for r in registers]


@opcode("image_load", "image_load_mip")
def load(lift: Lift, i: Instruction) -> None:
    """Channels of the elements at whole coordinates."""
    _check(lift, i)
    _fetch(lift, i, _coordinates(lift, i.fields["vaddr"]))


@opcode("image_sample", "image_sample_l", "image_sample_lz")
def sample(lift: Lift, i: Instruction) -> None:
    """Channels of the elements in which coordinates are; the sampler says what those outside do."""
    _check(lift, i)
    b = lift.b
    image = ImageDescriptor.of(lift, 4 * i.fields["srsrc"])
    control = lift.registers.scalar(4 * i.fields["ssamp"]).ir
    plain = b.ir.icmp_unsigned(
        "!=", b.ir.and_(control, ir.Constant(HALF, _UNNORMALIZED)), ir.Constant(HALF, 0)
    )
    if i.fields["unorm"]:
        plain = ir.Constant(plain.type, 1)
    at = []
    for axis, word in enumerate(_coordinates(lift, i.fields["vaddr"])):
        arguments = [word.ir, image.sizes[axis], control, plain]
        at += outlined(
            b, f"image_axis{axis}", [b.vector(I32)], arguments,
            lambda inner, *a, axis=axis: [_element(inner, axis, *a)], faults=False,
        )  # fmt: skip
    _fetch(lift, i, [Value(v, I32) for v in at])


@opcode("image_store", "image_store_mip")
def store(lift: Lift, i: Instruction) -> None:
    """Channels of the elements at whole coordinates; those that are not given are zero."""
    _check(lift, i)
    b = lift.b
    image = ImageDescriptor.of(lift, 4 * i.fields["srsrc"])
    given = iter(lift.vgprs(i.fields["vdata"], i.fields["dmask"].bit_count()))
    zero = b.constant(I32, 0)
    values = [next(given) if i.fields["dmask"] >> k & 1 else zero for k in range(CHANNELS)]
    at = _coordinates(lift, i.fields["vaddr"])
    site = lift.site(Window.GLOBAL)
    arguments = [*(v.ir for v in at), *(v.ir for v in values), *image.values, site]
    results = [b.vector(I64), b.vector(PRED)]
    address, inside = outlined(b, "image_store", results, arguments, _store)
    lift.record_addresses(Value(address, I64), Value(inside, PRED))


@opcode("image_get_resinfo")
def sizes(lift: Lift, i: Instruction) -> None:
    """Width, height, depth and levels, of which there is one."""
    b, target = lift.b, i.fields["vdata"]
    image = ImageDescriptor.of(lift, 4 * i.fields["srsrc"])
    for k, size in enumerate((*image.sizes, ir.Constant(HALF, 1))):
        if i.fields["dmask"] >> k & 1:
            lift.set_vgpr(target, b.splat(size, I32))
            target += 1


def _check(lift: Lift, i: Instruction) -> None:
    for field in ("lwe", "tfe", "r128", "da"):
        if i.fields[field]:
            raise lift.refuse(f"images with {field} are not supported")


def _fetch(lift: Lift, i: Instruction, at: list[Value]) -> None:
    b = lift.b
    image = ImageDescriptor.of(lift, 4 * i.fields["srsrc"])
    arguments = [*(v.ir for v in at), *image.values, lift.site(Window.GLOBAL)]
    results = [*[b.vector(I32)] * CHANNELS, b.vector(I64), b.vector(PRED)]
    *channels, address, inside = outlined(b, "image_load", results, arguments, _load)
    lift.record_addresses(Value(address, I64), Value(inside, PRED))
    target = i.fields["vdata"]
    for k, channel in enumerate(channels):
        if i.fields["dmask"] >> k & 1:
            lift.set_vgpr(target, Value(channel, I32))
            target += 1


# What routines do


def _element(
    b: LaneBuilder, axis: int, word: ir.Value, size: ir.Value, control: ir.Value, plain: ir.Value
) -> ir.Value:
    """The element (i32) along an axis in which a coordinate (f32 bits) is; -1 is none."""
    e, sizes = b.ir, b.splat(size, I32).ir
    x = e.bitcast(word, b.vector(F32))
    scaled = e.fmul(x, e.sitofp(sizes, b.vector(F32)))
    x = b.elementwise("floor", Value(e.select(plain, x, scaled), F32))
    name = f"llvm.fptosi.sat.v{b.lanes}i32.v{b.lanes}f32"
    at = b.intrinsic(name, b.vector(I32), [x.ir])
    mode = e.and_(e.lshr(control, ir.Constant(HALF, 3 * axis)), ir.Constant(HALF, 7))
    zero, last = b.constant(I32, 0), Value(e.sub(sizes, b.constant(I32, 1).ir), I32)
    nearest = b.elementwise("smin", b.elementwise("smax", Value(at, I32), zero), last).ir
    outside = e.icmp_unsigned(">=", at, sizes)
    found = {
        "wrap": _modulo(b, at, sizes),
        "mirror": _mirrored(b, at, sizes),
        "last": nearest,
        "border": e.select(outside, b.constant(I32, -1).ir, at),
    }
    result = nearest
    for kind, value in found.items():
        here = e.icmp_unsigned("==", mode, ir.Constant(HALF, _CLAMPS[kind]))
        result = e.select(here, value, result)
    return result


def _modulo(b: LaneBuilder, x: ir.Value, size: ir.Value) -> ir.Value:
    rest = b.ir.srem(x, size)
    below = b.ir.icmp_signed("<", rest, b.constant(I32, 0).ir)
    return b.ir.select(below, b.ir.add(rest, size), rest)


def _mirrored(b: LaneBuilder, x: ir.Value, size: ir.Value) -> ir.Value:
    """Every second repetition backwards."""
    e, twice = b.ir, b.ir.add(size, size)
    place = _modulo(b, x, twice)
    back = e.sub(e.sub(twice, b.constant(I32, 1).ir), place)
    return e.select(e.icmp_unsigned("<", place, size), place, back)


def _locate(
    b: LaneBuilder, at: Values, image: ImageDescriptor, site: ir.Value
) -> tuple[Value, Value, Value]:
    """Addresses of elements, where they are in this process, and which of them exist.

    Rows of planes: a kernel may leave anything in coordinates of axes that an image has not.
    """
    e, wide = b.ir, b.vector(I64)
    exists = b.active.ir
    total = b.constant(I64, 0).ir
    for axis in reversed(range(AXES)):
        size = image.sizes[axis]
        flat = e.icmp_unsigned("==", size, ir.Constant(HALF, 1))
        place = at[axis] if axis == 0 else e.select(flat, b.constant(I32, 0).ir, at[axis])
        exists = e.and_(exists, e.icmp_unsigned("<", place, b.splat(size, I32).ir))
        step = image.pitch if axis == 0 else size
        total = e.add(e.mul(total, b.splat(e.zext(step, WORD), I64).ir), e.zext(place, wide))
    size = b.splat(e.zext(size_of(b, image.data), WORD), I64).ir
    address = Value(e.add(e.mul(total, size), b.splat(image.base, I64).ir), I64)
    b.active = Value(exists, PRED)
    host = host_addresses(b, Access(Window.GLOBAL, address, 1, site))
    return address, host, b.active


def _load(b: LaneBuilder, x: ir.Value, y: ir.Value, z: ir.Value, *rest: ir.Value) -> Values:
    image, site = ImageDescriptor.inside(list(rest[:IMAGE_VALUES])), rest[IMAGE_VALUES]
    address, host, exists = _locate(b, [x, y, z], image, site)
    return [*load_element(b, host, image.data, image.number, image.selects), address.ir, exists.ir]


def _store(b: LaneBuilder, *values: ir.Value) -> Values:
    at, channels = list(values[:AXES]), list(values[AXES : AXES + CHANNELS])
    rest = values[AXES + CHANNELS :]
    image, site = ImageDescriptor.inside(list(rest[:IMAGE_VALUES])), rest[IMAGE_VALUES]
    address, host, exists = _locate(b, at, image, site)
    store_element(b, host, channels, image.data, image.number)
    return [address.ir, exists.ir]
