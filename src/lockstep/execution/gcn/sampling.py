"""Images through samplers: the element in which coordinates are, the blend of neighbours, or four.

A sampler is four scalar registers. Images have one level, so whatever says which one changes
nothing, and the filter is that for magnification: OpenCL's samplers have the same for both.
"""

from llvmlite import ir

from lockstep.execution.gcn.elements import load_element
from lockstep.execution.gcn.formats import CHANNELS, ChannelNumber
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
from lockstep.execution.gcn.wrapping import along
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.builder import BIT, HALF, LaneBuilder
from lockstep.execution.lanes.flow import Values, either, outlined
from lockstep.execution.lanes.integer import shift_left, shift_right
from lockstep.execution.lanes.types import F32, I32, I64, PRED, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

_LEVELS, _OFFSETS = ("", "_l", "_lz"), ("", "_o")
_UNNORMALIZED, _LINEAR, _LINEAR_DEPTH = (0, 15, 1), (2, 20, 1), (2, 25, 1)  # word, place, bits
_BORDER = (3, 30, 2)
_PLACED = 3  # values of each axis: both neighbours, and how far it is to the second
_OFFSET_BITS, _OFFSET_STEP = 6, 8  # of each axis, in one register


@opcode(*(f"image_sample{level}{offset}" for level in _LEVELS for offset in _OFFSETS))
def sample(lift: Lift, i: Instruction) -> None:
    """Channels of elements, or blended of neighbours if the sampler says so."""
    b, image = lift.b, _image(lift, i)
    whole = [_is(b, image.number, n) for n in (ChannelNumber.UINT, ChannelNumber.SINT)]
    linear = b.ir.and_(_field(lift, i, _LINEAR, BIT), b.ir.not_(b.ir.or_(*whole)))
    deep = b.ir.and_(_field(lift, i, _LINEAR_DEPTH, BIT), b.ir.and_(linear, image.has(b, 2)))
    results = [*[b.vector(I32)] * CHANNELS, b.vector(I64), b.vector(PRED)]
    arguments = [*_axes(lift, i, image, [linear, linear, deep]), *_common(lift, i, image)]
    found = outlined(b, "image_sample", results, [*arguments, linear, deep], _blend)
    _give(lift, found, [k for k in range(CHANNELS) if i.fields["dmask"] >> k & 1], i)


@opcode(*(f"image_gather4{level}{offset}" for level in _LEVELS for offset in _OFFSETS))
def gather(lift: Lift, i: Instruction) -> None:
    """One channel of the four elements that a filter would blend, against the clock from below."""
    b, image = lift.b, _image(lift, i)
    mask = i.fields["dmask"]
    if mask.bit_count() != 1:
        raise lift.refuse(f"dmask {mask:#x} is not one channel")
    no, yes = ir.Constant(BIT, 0), ir.Constant(BIT, 1)
    channel = mask.bit_length() - 1
    results = [*[b.vector(I32)] * CHANNELS, b.vector(I64), b.vector(PRED)]
    arguments = [*_axes(lift, i, image, [yes, yes, no]), *_common(lift, i, image)]
    found = outlined(
        b, f"image_gather{channel}", results, arguments,
        lambda inner, *values: _four(inner, channel, *values),
    )  # fmt: skip
    _give(lift, found, range(CHANNELS), i)


def _give(lift: Lift, found: Values, channels, i: Instruction) -> None:
    *values, address, inside = found
    lift.record_addresses(Value(address, I64), Value(inside, PRED))
    for target, channel in enumerate(channels, i.fields["vdata"]):
        lift.set_vgpr(target, Value(values[channel], I32))


def _image(lift: Lift, i: Instruction) -> ImageDescriptor:
    check_image(lift, i)
    return ImageDescriptor.of(lift, 4 * i.fields["srsrc"])


def _is(b: LaneBuilder, number: ir.Value, wanted: int) -> ir.Value:
    return b.ir.icmp_unsigned("==", number, ir.Constant(number.type, wanted))


def _field(lift: Lift, i: Instruction, place: tuple[int, int, int], kind: ir.IntType) -> ir.Value:
    """A field of the sampler."""
    word, shift, bits = place
    moved = lift.b.ir.lshr(
        lift.registers.scalar(4 * i.fields["ssamp"] + word).ir, ir.Constant(HALF, shift)
    )
    masked = lift.b.ir.and_(moved, ir.Constant(HALF, (1 << bits) - 1))
    return masked if kind == HALF else lift.b.ir.trunc(masked, kind)


def _common(lift: Lift, i: Instruction, image: ImageDescriptor) -> Values:
    return [*image.values, _field(lift, i, _BORDER, HALF), lift.site(Window.GLOBAL)]


def _axes(lift: Lift, i: Instruction, image: ImageDescriptor, linear: Values) -> Values:
    """The values of :func:`along` for each axis."""
    b, first = lift.b, i.fields["vaddr"]
    plain = _field(lift, i, _UNNORMALIZED, BIT)
    if i.fields["unorm"]:
        plain = ir.Constant(BIT, 1)
    packed = coordinates(lift, first, 1)[0] if i.name.endswith("_o") else None
    modes = _field(lift, i, (0, 0, 3 * AXES), HALF)
    found: Values = []
    for axis, word in enumerate(coordinates(lift, first + (packed is not None))):
        offset = b.constant(I32, 0)
        if packed is not None:
            top = 32 - _OFFSET_BITS
            raised = shift_left(b, packed, top - _OFFSET_STEP * axis)
            offset = shift_right(b, raised, top, signed=True)
        mode = b.ir.and_(b.ir.lshr(modes, ir.Constant(HALF, 3 * axis)), ir.Constant(HALF, 7))
        arguments = [word.ir, offset.ir, image.sizes[axis], mode, plain, linear[axis]]
        results = [b.vector(I32), b.vector(I32), b.vector(F32)]
        found += outlined(b, "image_axis", results, arguments, along, faults=False)
    return found


# What routines do


def _texel(b: LaneBuilder, at: Values, common: Values) -> Values:
    """The channels (i32) of an element, its address, and whether it exists."""
    results = [*[b.vector(I32)] * CHANNELS, b.vector(I64), b.vector(PRED)]
    return outlined(b, "image_texel", results, [*at, *common], _fetch)


def _fetch(b: LaneBuilder, *values: ir.Value) -> Values:
    image, rest = ImageDescriptor.inside(list(values[AXES:])), values[AXES + IMAGE_VALUES :]
    border, site = rest
    address, exists = locate(b, list(values[:AXES]), image)
    b.active = exists
    host = host_addresses(b, Access(Window.GLOBAL, address, 1, site))
    channels = load_element(b, host, image.data, image.number, image.selects, border)
    return [*channels, address.ir, exists.ir]


def _four(b: LaneBuilder, channel: int, *values: ir.Value) -> Values:
    x, y, z = ([*values[k : k + 2]] for k in range(0, _PLACED * AXES, _PLACED))
    common = [*values[_PLACED * AXES :]]
    corners = [(x[0], y[1]), (x[1], y[1]), (x[1], y[0]), (x[0], y[0])]
    found = [_texel(b, [*corner, z[0]], common) for corner in corners]
    return [*(texel[channel] for texel in found), *found[-1][CHANNELS:]]


def _blend(b: LaneBuilder, *values: ir.Value) -> Values:
    axes = [values[k : k + _PLACED] for k in range(0, _PLACED * AXES, _PLACED)]
    *common, linear, deep = values[_PLACED * AXES :]
    (x, x1, _), (y, y1, _), (z, z1, _) = axes

    def plane(third: ir.Value) -> list[Values]:
        places = [[first, second, third] for second in (y, y1) for first in (x, x1)]
        return [_texel(b, place, common) for place in places]

    def one() -> Values:
        return _texel(b, [x, y, z], common)

    def four() -> Values:
        corners = plane(z)
        return [*_mixed(b, corners, axes[:2]), *corners[0][CHANNELS:]]

    def eight() -> Values:
        corners = [*plane(z), *plane(z1)]
        return [*_mixed(b, corners, axes), *corners[0][CHANNELS:]]

    return either(b, linear, lambda: either(b, deep, eight, four), one)


def _mixed(b: LaneBuilder, corners: list[Values], axes: list) -> Values:
    """The channels of corners, of which those along the first axis are neighbours, blended."""
    single = b.vector(F32)
    rows = [[b.ir.bitcast(v, single) for v in corner[:CHANNELS]] for corner in corners]
    for _, _, far in axes:
        rows = [_between(b, rows[k], rows[k + 1], far) for k in range(0, len(rows), 2)]
    return [b.ir.bitcast(v, b.vector(I32)) for v in rows[0]]


def _between(b: LaneBuilder, first: Values, second: Values, far: ir.Value) -> Values:
    """So far from the first to the second; exactly the first one if that is 0."""
    e = b.ir
    near = e.fsub(b.constant(F32, 1.0).ir, far)
    here = e.fcmp_ordered("==", far, b.constant(F32, 0.0).ir)
    mixed = (e.fadd(e.fmul(x, near), e.fmul(y, far)) for x, y in zip(first, second))
    return [e.select(here, x, m) for x, m in zip(first, mixed)]
