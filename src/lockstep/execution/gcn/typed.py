"""Buffers whose elements have a format, which the instruction or the descriptor holds."""

from llvmlite import ir

from lockstep.execution.gcn.buffers import access_of, load_elements, store_elements, write
from lockstep.execution.gcn.elements import load_element, store_element
from lockstep.execution.gcn.formats import (
    CHANNELS,
    ChannelNumber,
    bytes_of,
    channels_of,
    decode,
    encode,
    words_of,
)
from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.builder import HALF, LaneBuilder
from lockstep.execution.lanes.flow import Values, outlined
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I8, I16, I32, I64, Type, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

_CHANNELS = {"x": 1, "xy": 2, "xyz": 3, "xyzw": 4}
_AS_THEY_ARE = (
    ChannelNumber.UINT,
    ChannelNumber.SINT,
    ChannelNumber.FLOAT,
)  # numbers of channels of 32 bits


def _channels_of(i: Instruction) -> int:
    return _CHANNELS[i.name.rpartition("_")[2]]


def _format(lift: Lift, i: Instruction) -> tuple[int, ChannelNumber]:
    """Data and number format in an instruction."""
    data, number = i.fields["dfmt"], i.fields["nfmt"]
    if not bytes_of(data):
        raise lift.refuse(f"there is no data format {data}")
    return data, ChannelNumber(number)


def _is_plain(data: int, number: ChannelNumber) -> bool:
    """Whether channels are words as they are."""
    return bytes_of(data) == 4 * channels_of(data) and number in _AS_THEY_ARE


def _kind_of(data: int) -> Type:
    return {1: I8, 2: I16}.get(bytes_of(data), I32)


def _scalars(data: int, number: ChannelNumber) -> Values:
    return [ir.Constant(HALF, data), ir.Constant(HALF, number)]


@opcode(*(f"tbuffer_load_format_{channels}" for channels in _CHANNELS))
def load_format(lift: Lift, i: Instruction) -> None:
    """Channels of a format; those that it lacks are 0, 0 and 1."""
    b, count = lift.b, _channels_of(i)
    data, number = _format(lift, i)
    if _is_plain(data, number) and count <= channels_of(data):
        write(lift, i, load_elements(lift, i, I32, count))
        return
    words = load_elements(lift, i, _kind_of(data), words_of(data))
    words = [resize(b, v, I32) for v in words]
    words += [b.constant(I32, 0)] * (CHANNELS - len(words))
    arguments = [*(v.ir for v in words), *_scalars(data, number)]
    results = [b.vector(I32)] * CHANNELS
    channels = outlined(
        b, "format_decode", results, arguments,
        lambda inner, *a: decode(inner, list(a[:CHANNELS]), *a[CHANNELS:]), faults=False,
    )  # fmt: skip
    write(lift, i, [Value(v, I32) for v in channels[:count]])


@opcode(*(f"tbuffer_store_format_{channels}" for channels in _CHANNELS))
def store_format(lift: Lift, i: Instruction) -> None:
    """The inverse; channels that a format lacks are dropped, those that are not given are 0."""
    b = lift.b
    values = lift.vgprs(i.fields["vdata"], _channels_of(i))
    data, number = _format(lift, i)
    if _is_plain(data, number) and len(values) == channels_of(data):
        store_elements(lift, i, values)
        return
    values += [b.constant(I32, 0)] * (CHANNELS - len(values))
    arguments = [*(v.ir for v in values), *_scalars(data, number)]
    results = [b.vector(I32)] * CHANNELS
    words = outlined(
        b, "format_encode", results, arguments,
        lambda inner, *a: encode(inner, list(a[:CHANNELS]), *a[CHANNELS:]), faults=False,
    )  # fmt: skip
    kind = _kind_of(data)
    elements = [resize(b, Value(v, I32), kind) for v in words[: words_of(data)]]
    store_elements(lift, i, elements)


@opcode(*(f"buffer_load_format_{channels}" for channels in _CHANNELS))
def load_described(lift: Lift, i: Instruction) -> None:
    """Channels of the format that the descriptor holds."""
    b, everyone = lift.b, lift.b.active
    access, _ = access_of(lift, i, I8, 1)
    arguments = [access.address.ir, access.site, *_described(lift, i)]
    found = outlined(
        b, "buffer_load_format", [b.vector(I32)] * CHANNELS, arguments,
        lambda inner, at, site, *a: load_element(inner, _host(inner, at, site), *a),
    )  # fmt: skip
    b.active = everyone
    write(lift, i, [Value(v, I32) for v in found[: _channels_of(i)]])


@opcode(*(f"buffer_store_format_{channels}" for channels in _CHANNELS))
def store_described(lift: Lift, i: Instruction) -> None:
    """The inverse; channels that are not given are 0."""
    b, everyone = lift.b, lift.b.active
    values = lift.vgprs(i.fields["vdata"], _channels_of(i))
    values += [b.constant(I32, 0)] * (CHANNELS - len(values))
    access, _ = access_of(lift, i, I8, 1)
    data, number, _ = _described(lift, i)
    arguments = [access.address.ir, access.site, *(v.ir for v in values), data, number]

    def emit(inner: LaneBuilder, at: ir.Value, site: ir.Value, *a: ir.Value) -> Values:
        store_element(inner, _host(inner, at, site), list(a[:CHANNELS]), *a[CHANNELS:])
        return []

    outlined(b, "buffer_store_format", [], arguments, emit)
    b.active = everyone


def _described(lift: Lift, i: Instruction) -> Values:
    """Data format, number format and selects (i32) in a descriptor."""
    e, word = lift.b.ir, lift.registers.scalar(4 * i.fields["srsrc"] + 3).ir
    places = ((15, 0xF), (12, 7), (0, 0xFFF))
    return [
        e.and_(e.lshr(word, ir.Constant(HALF, shift)), ir.Constant(HALF, mask))
        for shift, mask in places
    ]


def _host(b: LaneBuilder, address: ir.Value, site: ir.Value) -> Value:
    return host_addresses(b, Access(Window.GLOBAL, Value(address, I64), 1, site))
