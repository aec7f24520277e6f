"""Loads, stores and atomics of buffers, of bytes and words as they are."""

from lockstep.execution.gcn.atomics import OF_BUFFERS, combine
from lockstep.execution.gcn.descriptors import check_inside, place_of
from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.lanes import memory as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import F32, F64, I8, I16, I32, I64, Type, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

_LOADS: dict[str, tuple[Type, int, bool]] = {  # element, how many, whether it is signed
    "ubyte": (I8, 1, False), "sbyte": (I8, 1, True), "ushort": (I16, 1, False),
    "sshort": (I16, 1, True), "dword": (I32, 1, False), "dwordx2": (I32, 2, False),
    "dwordx3": (I32, 3, False), "dwordx4": (I32, 4, False),
}  # fmt: skip
_STORES: dict[str, tuple[Type, int]] = {
    "byte": (I8, 1), "short": (I16, 1), "dword": (I32, 1), "dwordx2": (I32, 2),
    "dwordx3": (I32, 3), "dwordx4": (I32, 4),
}  # fmt: skip


@opcode(*(f"buffer_load_{shape}" for shape in _LOADS))
def load(lift: Lift, i: Instruction) -> None:
    """Bytes or words as they are."""
    kind, count, signed = _LOADS[i.name.rpartition("_")[2]]
    values = load_elements(lift, i, kind, count)
    write(lift, i, [resize(lift.b, v, I32, signed) for v in values])


@opcode(*(f"buffer_store_{shape}" for shape in _STORES))
def store(lift: Lift, i: Instruction) -> None:
    """The low bytes of registers, or all of them."""
    kind, count = _STORES[i.name.rpartition("_")[2]]
    values = [resize(lift.b, v, kind) for v in lift.vgprs(i.fields["vdata"], count)]
    store_elements(lift, i, values)


@opcode(*(f"buffer_atomic_{name}{wide}" for name in OF_BUFFERS for wide in ("", "_x2")))
def atomic(lift: Lift, i: Instruction) -> None:
    """With GLC the value that was there is the result; zero for lanes outside of the buffer."""
    b, name, everyone = lift.b, i.name.split("_")[2], lift.b.active
    kind, signed = OF_BUFFERS[name]
    if i.name.endswith("_x2"):
        kind = F64 if kind == F32 else I64
    size = kind.bits // 32
    words = lift.vgprs(i.fields["vdata"], size * (2 if "cmpswap" in name else 1))
    values = [lift.join(words[k : k + size]) for k in range(0, len(words), size)]
    operands = [b.cast(v, kind) for v in reversed(values)]  # what is compared with lies behind
    access, inside = access_of(lift, i, kind, 1)
    old = combine(lift, access, name, kind, operands, signed)
    b.active = everyone
    if i.fields["glc"]:
        if inside is not None:
            old = b.select(inside, old, b.constant(old.type, 0))
        lift.set_vgpr(i.fields["vdata"], old)


@opcode("buffer_wbinvl1", "buffer_wbinvl1_sc")
def invalidate(lift: Lift, i: Instruction) -> None:
    """Caches hold nothing that memory does not."""


def load_elements(lift: Lift, i: Instruction, kind: Type, count: int) -> list[Value]:
    """Consecutive elements for each lane of EXEC; zeros for those outside of the buffer."""
    b, everyone, found = lift.b, lift.b.active, []
    for first, some in _pieces(count):
        access, inside = access_of(lift, i, kind, some, first)
        values = lanes.load(b, access, kind, some)
        b.active = everyone
        zero = b.constant(kind, 0)
        found += values if inside is None else [b.select(inside, v, zero) for v in values]
    return found


def store_elements(lift: Lift, i: Instruction, values: list[Value]) -> None:
    """Consecutive elements of each lane of EXEC that is inside of the buffer."""
    everyone = lift.b.active
    for first, some in _pieces(len(values)):
        access, _ = access_of(lift, i, values[0].type, some, first)
        lanes.store(lift.b, access, values[first : first + some])
        lift.b.active = everyone


def _pieces(count: int) -> list[tuple[int, int]]:
    """Where accesses of 1, 2 or 4 elements begin, and how many elements they are."""
    return [(0, count)] if count & (count - 1) == 0 else [(0, 2), (2, 1)]


def access_of(
    lift: Lift, i: Instruction, kind: Type, count: int, first: int = 0
) -> tuple[Access, Value | None]:
    """The access, of which active lanes are left that are inside; who is inside."""
    size = kind.bytes * count
    place = place_of(lift, i, size, kind.bytes * first)
    if not first:
        lift.record_addresses(place.address, place.inside)
    check_inside(lift, place, size)
    site = lift.site(Window.GLOBAL)
    alignment = kind.bytes if count > 1 else 0
    return Access(Window.GLOBAL, place.address, size, site, alignment=alignment), place.inside


def write(lift: Lift, i: Instruction, values: list[Value]) -> None:
    """What was loaded (i32) to registers."""
    for k, value in enumerate(values):
        lift.set_vgpr(i.fields["vdata"] + k, value)
