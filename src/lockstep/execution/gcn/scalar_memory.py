"""Scalar loads: words of constant buffers, of tables of descriptors, of any memory.

What the launch's block holds has addresses in the parameters' window, so that they are the same in
every run; other addresses are those of device memory.
"""

from collections.abc import Callable

from llvmlite import ir

from lockstep.execution.gcn.descriptors import Descriptor
from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.lanes.addresses import Access, host_addresses, refuse, room, site_field
from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values, either, outlined
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.state import PARAMETER_WINDOW, Window
from lockstep.isa.gcn.instruction import Instruction

_WIDTHS = {"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16}


def words_of(i: Instruction) -> int:
    """How many words a scalar load reads."""
    return _WIDTHS[i.name.rpartition("_")[2]]


@opcode(*(f"s_load_{width}" for width in _WIDTHS))
def load(lift: Lift, i: Instruction) -> None:
    """From the address in two registers."""
    start = lift.registers.pair(2 * i.fields["sbase"]).ir
    address = _whole_words(lift, lift.b.ir.add(start, _offset(lift, i)))
    _record(lift, address)
    _write(lift, i, _words(lift, address, words_of(i)))


@opcode(*(f"s_buffer_load_{width}" for width in _WIDTHS))
def load_from_buffer(lift: Lift, i: Instruction) -> None:
    """From the buffer of a descriptor; what is outside of it is zero."""
    b, count = lift.b, words_of(i)
    descriptor, offset = Descriptor.of(lift, 2 * i.fields["sbase"]), _offset(lift, i)
    end = b.ir.add(offset, ir.Constant(WORD, 4 * count))
    inside = b.ir.icmp_unsigned("<=", end, descriptor.size(lift))
    address = _whole_words(lift, b.ir.add(descriptor.base, offset))
    _record(lift, address)
    site = lift.site(Window.BUFFER)

    def beyond() -> Values:
        _for_one(
            lift, f"beyond_{count}", [], [offset, site], lambda inner, *a: _beyond(inner, count, *a)
        )
        return [ir.Constant(HALF, 0)] * count

    words = either(b, inside, lambda: _words(lift, address, count), beyond)
    _write(lift, i, words)


def _whole_words(lift: Lift, address: ir.Value) -> ir.Value:
    return lift.b.ir.and_(address, ir.Constant(WORD, -4))


def _offset(lift: Lift, i: Instruction) -> ir.Value:
    """Bytes (i64): words in the instruction, or bytes in a register."""
    if i.fields["imm"]:
        return ir.Constant(WORD, 4 * i.fields["offset"])
    return lift.b.ir.zext(lift.scalar(i.fields["offset"], I32).ir, WORD)


def _write(lift: Lift, i: Instruction, words: Values) -> None:
    for k, word in enumerate(words):
        lift.set_sgpr(i.fields["sdst"] + k, Value(word, I32))


def _first(b: LaneBuilder) -> Value:
    """One lane, which stands for the wavefront."""
    return b.lanes_of(ir.Constant(b.mask_type, 1))


def _record(lift: Lift, address: ir.Value) -> None:
    """The access of one lane, whatever EXEC is."""
    if lift.wants_addresses:
        b, everyone, lanes = lift.b, lift.b.active, lift.lanes
        b.active = lift.lanes = _first(b)
        if lift.stream is not None:
            lift.stream.lanes(lift.number)
        lift.record_addresses(b.splat(address, I64))
        b.active, lift.lanes = everyone, lanes


def _for_one(lift: Lift, name: str, results: list, arguments: Values, emit: Callable) -> Values:
    """A routine that works for one lane, which stands for the wavefront."""
    b, everyone = lift.b, lift.b.active
    b.active = _first(b)
    found = outlined(b, f"scalar_{name}", results, arguments, emit)
    b.active = everyone
    return found


def _words(lift: Lift, address: ir.Value, count: int) -> Values:
    """The words at an address: in the launch's block, in the site's allocation, or checked."""
    b, size, site = lift.b, 4 * count, lift.site(Window.GLOBAL)
    place = b.ir.sub(address, ir.Constant(WORD, PARAMETER_WINDOW))
    block = b.ir.add(b.field("launch", "parameters"), place)
    here = b.ir.icmp_unsigned("<", place, room(b, b.field("launch", "parameter_bytes"), size))

    def elsewhere() -> Values:
        low, span = (b.ir.load(site_field(b, site, f), typ=WORD) for f in ("low", "span"))
        known = b.ir.icmp_unsigned("<", b.ir.sub(address, low), room(b, span, size))
        return either(b, known, lambda: _plain(b, address, count), checked)

    def checked() -> Values:
        return _for_one(
            lift, f"load_{count}", [HALF] * count, [address, site],
            lambda inner, *a: _checked(inner, count, *a),
        )  # fmt: skip

    return either(b, here, lambda: _plain(b, block, count), elsewhere)


def _plain(b: LaneBuilder, address: ir.Value, count: int) -> Values:
    start = b.ir.inttoptr(address, POINTER)
    return [b.ir.load(b.offset(start, 4 * k), typ=HALF, align=4) for k in range(count)]


def _checked(b: LaneBuilder, count: int, address: ir.Value, site: ir.Value) -> Values:
    access = Access(Window.GLOBAL, b.splat(address, I64), 4 * count, site, alignment=4)
    host = host_addresses(b, access)
    return _plain(b, b.ir.extract_element(host.ir, ir.Constant(HALF, 0)), count)


def _beyond(b: LaneBuilder, count: int, offset: ir.Value, site: ir.Value) -> Values:
    refuse(b, Access(Window.BUFFER, b.splat(offset, I64), 4 * count, site), b.active)
    return []
