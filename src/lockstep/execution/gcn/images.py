"""Images: loads, stores and atomic operations at whole coordinates.

What is outside of an image is read as zero and not written.
"""

from llvmlite import ir

from lockstep.execution.gcn.atomics import OF_BUFFERS, combine
from lockstep.execution.gcn.elements import load_element, store_element
from lockstep.execution.gcn.formats import CHANNELS
from lockstep.execution.gcn.image_descriptor import (
    AXES,
    IMAGE_VALUES,
    ImageDescriptor,
    check_image,
    coordinates,
    locate,
)
from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.builder import HALF, LaneBuilder
from lockstep.execution.lanes.flow import Values, outlined
from lockstep.execution.lanes.types import F32, F64, I32, I64, PRED, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

_ATOMICS = {**OF_BUFFERS, "rsub": (I32, False)}


@opcode("image_load", "image_load_mip")
def load(lift: Lift, i: Instruction) -> None:
    """Channels of elements."""
    image = _image(lift, i)
    arguments = [*_places(lift, i, image), *image.values, lift.site(Window.GLOBAL)]
    results = [*[lift.b.vector(I32)] * CHANNELS, lift.b.vector(I64), lift.b.vector(PRED)]
    *channels, address, inside = outlined(lift.b, "image_load", results, arguments, _load)
    lift.record_addresses(Value(address, I64), Value(inside, PRED))
    target = i.fields["vdata"]
    for k, channel in enumerate(channels):
        if i.fields["dmask"] >> k & 1:
            lift.set_vgpr(target, Value(channel, I32))
            target += 1


@opcode("image_store", "image_store_mip")
def store(lift: Lift, i: Instruction) -> None:
    """Channels of elements; those that are not given are zero."""
    b, image = lift.b, _image(lift, i)
    given = iter(lift.vgprs(i.fields["vdata"], i.fields["dmask"].bit_count()))
    zero = b.constant(I32, 0)
    values = [next(given) if i.fields["dmask"] >> k & 1 else zero for k in range(CHANNELS)]
    site = lift.site(Window.GLOBAL)
    arguments = [*_places(lift, i, image), *(v.ir for v in values), *image.values, site]
    results = [b.vector(I64), b.vector(PRED)]
    address, inside = outlined(b, "image_store", results, arguments, _store)
    lift.record_addresses(Value(address, I64), Value(inside, PRED))


@opcode(*(f"image_atomic_{name}" for name in _ATOMICS))
def atomic(lift: Lift, i: Instruction) -> None:
    """With GLC the value that was there is the result; zero for lanes outside of the image."""
    b, image, everyone = lift.b, _image(lift, i), lift.b.active
    name = i.name.removeprefix("image_atomic_")
    kind, signed = _ATOMICS[name]
    count = 2 if "cmpswap" in name else 1
    size = _words(lift, i, count)
    if size == 2:
        kind = F64 if kind == F32 else I64
    words = lift.vgprs(i.fields["vdata"], size * count)
    values = [lift.join(words[k : k + size]) for k in range(0, len(words), size)]
    operands = [b.cast(v, kind) for v in reversed(values)]  # what is compared with lies behind
    arguments = [*_places(lift, i, image), *image.values]
    results = [b.vector(I64), b.vector(PRED)]
    address, exists = outlined(b, "image_place", results, arguments, _place, faults=False)
    inside = Value(exists, PRED)
    lift.record_addresses(Value(address, I64), inside)
    b.active = inside
    access = Access(Window.GLOBAL, Value(address, I64), 4 * size, lift.site(Window.GLOBAL))
    old = combine(lift, access, name, kind, operands, signed)
    b.active = everyone
    if i.fields["glc"]:
        lift.set_vgpr(i.fields["vdata"], b.select(inside, old, b.constant(old.type, 0)))


@opcode("image_get_resinfo")
def sizes(lift: Lift, i: Instruction) -> None:
    """Width, height, depth and levels, of which there is one."""
    target, image = i.fields["vdata"], _image(lift, i)
    for k, size in enumerate((*image.sizes, ir.Constant(HALF, 1))):
        if i.fields["dmask"] >> k & 1:
            lift.set_vgpr(target, lift.b.splat(size, I32))
            target += 1


def _image(lift: Lift, i: Instruction) -> ImageDescriptor:
    check_image(lift, i)
    return ImageDescriptor.of(lift, 4 * i.fields["srsrc"])


def _places(lift: Lift, i: Instruction, image: ImageDescriptor) -> Values:
    """Coordinates (i32), of which none is inside in levels that there are not."""
    b, e = lift.b, lift.b.ir
    at = [v.ir for v in coordinates(lift, i.fields["vaddr"], AXES + 1)]
    if "_mip" in i.name:
        level = e.select(image.has(b, 1), at[2], at[1])
        level = e.select(image.has(b, 2), at[3], level)
        first = e.icmp_unsigned("==", level, b.constant(I32, 0).ir)
        at[0] = e.select(first, at[0], b.constant(I32, -1).ir)
    return at[:AXES]


def _words(lift: Lift, i: Instruction, count: int) -> int:
    """Words of an element of an atomic operation on ``count`` values."""
    mask = i.fields["dmask"]
    size = mask.bit_length() // count
    if mask & (mask + 1) or size not in (1, 2) or size * count != mask.bit_length():
        raise lift.refuse(f"dmask {mask:#x} stands for no elements of 32 or 64 bits")
    return size


# What routines do


def _load(b: LaneBuilder, x: ir.Value, y: ir.Value, z: ir.Value, *rest: ir.Value) -> Values:
    image, site = ImageDescriptor.inside(list(rest)), rest[IMAGE_VALUES]
    address, host, exists = _reach(b, [x, y, z], image, site)
    return [*load_element(b, host, image.data, image.number, image.selects), address.ir, exists.ir]


def _store(b: LaneBuilder, *values: ir.Value) -> Values:
    at, channels = list(values[:AXES]), list(values[AXES : AXES + CHANNELS])
    rest = values[AXES + CHANNELS :]
    image, site = ImageDescriptor.inside(list(rest)), rest[IMAGE_VALUES]
    address, host, exists = _reach(b, at, image, site)
    store_element(b, host, channels, image.data, image.number)
    return [address.ir, exists.ir]


def _place(b: LaneBuilder, *values: ir.Value) -> Values:
    address, exists = locate(b, list(values[:AXES]), ImageDescriptor.inside(list(values[AXES:])))
    return [address.ir, exists.ir]


def _reach(
    b: LaneBuilder, at: Values, image: ImageDescriptor, site: ir.Value
) -> tuple[Value, Value, Value]:
    """Addresses of elements, where they are in this process, which exist: these are active."""
    address, exists = locate(b, at, image)
    b.active = exists
    return address, host_addresses(b, Access(Window.GLOBAL, address, 1, site)), exists
