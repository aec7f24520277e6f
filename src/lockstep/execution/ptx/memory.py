"""Loads, stores and addresses.

Cache operators, eviction priorities, prefetches and orders change no value: the lanes of all
threads access one memory, one after the other.
"""

import functools

from llvmlite import ir

from lockstep.execution.lanes import memory as lanes
from lockstep.execution.lanes.builder import POINTER
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.ptx.calls import load_words, store_words
from lockstep.execution.ptx.lift import Lift, is_signed, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import access_of, elements, space_of, window_of
from lockstep.execution.state import (
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    RANK_MASK,
    SHARED_WINDOW,
    TAG_SHIFT,
    WINDOW_BYTES,
    Window,
)
from lockstep.isa.ptx.syntax import Instruction, Memory, Symbol

_TYPES = "{b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64}"
_L1 = "[.L1::{evict_normal,evict_unchanged,evict_first,evict_last,no_allocate}]"
_L2 = ".L2::{evict_normal,evict_first,evict_last}"
_HINT, _AHEAD = "[.L2::cache_hint]", "[.L2::{64B,128B,256B}]"
_SCOPE = ".{cta,cluster,gpu,sys}"
_SHARED = "shared,shared::cta,shared::cluster"
_SOURCE = f"[.{{const,global,local,param,param::entry,param::func,{_SHARED}}}]"
_TARGET = f"[.{{global,local,param,param::func,{_SHARED}}}]"
_COMMON = f"[.{{global,{_SHARED}}}]"  # to several threads
_LENGTHS = ("[.{v2,v4}]." + _TYPES, ".v8.{b8,u8,s8,b32,u32,s32,f32}", ".b128")
_WIDE = (".v8.{b32,u32,s32,f32}", ".v4.{b64,u64,s64,f64}")  # what priorities of the L2 are for


def _forms(*heads: str) -> list[str]:
    return [head + length for head in heads for length in _LENGTHS]


def _hinted(head: str, *ahead: str) -> list[str]:
    """Accesses of global memory, with hints for the caches."""
    hints = "".join((_HINT, *ahead))
    prior = [f"{head}{_L1}{_L2}{hints}{length}" for length in _WIDE]
    return [*_forms(f"{head}{_L1}{hints}"), *prior]


@opcode(
    *_forms(
        f"ld[.weak]{_SOURCE}[.{{ca,cg,cs,lu,cv}}]",
        f"ld[.weak][.global].{{ca,cg,cs,lu,cv}}{_HINT}{_AHEAD}",
    ),
    *_hinted("ld[.weak][.global]", _AHEAD),
    *_hinted("ld.global[.{ca,cg,cs}].nc", _AHEAD),
    "ldu[.global][.v2]." + _TYPES,
    "ldu[.global].v4.{b8,b16,b32,u8,u16,u32,s8,s16,s32,f32}",
    "ldu[.global].b128",
)
def load(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    element, targets = type_of(kind), elements(i.operands[0])
    space = space_of(i)
    if space == "param" and (_load_parameter(lift, i, targets) or load_words(lift, i)):
        return
    access = access_of(lift, i.operands[1], space, element.bytes * len(targets))
    for target, value in zip(targets, lanes.load(lift.b, access, element, len(targets))):
        lift.write(target, value, is_signed(kind))


@opcode(
    *_forms(
        f"ld.volatile{_COMMON}",
        f"ld.volatile[.global]{_AHEAD}",
        f"ld.{{relaxed,acquire}}{_SCOPE}{_COMMON}",
    ),
    *_hinted(f"ld.{{relaxed,acquire}}{_SCOPE}[.global]", _AHEAD),
    f"ld.mmio.relaxed.sys[.global].{_TYPES}",
    polls=True,
)
def load_shared_data(lift: Lift, i: Instruction) -> None:
    """A load of what other threads write."""
    load(lift, i)


def _load_parameter(lift: Lift, i: Instruction, targets: tuple) -> bool:
    """A load from a constant place of the kernel's parameters: the same for all lanes."""
    memory, b = i.operands[1], lift.b
    if not isinstance(memory, Memory) or not isinstance(memory.base, Symbol):
        return False
    if window_of(lift, memory, "param") != Window.PARAMETER:
        return False
    element = type_of(i.modifiers[-1])
    first = lift.layout.parameters[memory.base.name] + memory.offset
    if first < 0 or first + element.bytes * len(targets) > lift.layout.parameter_bytes:
        raise lift.refuse(f"{i.name} reads outside the parameters")
    start = b.ir.inttoptr(b.field("launch", "parameters"), POINTER)
    for k, target in enumerate(targets):
        place = b.offset(start, first + k * element.bytes)
        scalar = b.ir.load(place, typ=element.element, align=1)
        lift.write(target, b.splat(scalar, element), is_signed(i.modifiers[-1]))
    return True


@opcode(
    *_forms(
        f"st[.weak]{_TARGET}[.{{wb,cg,cs,wt}}]",
        f"st[.weak][.global].{{wb,cg,cs,wt}}{_HINT}",
        f"st.volatile{_COMMON}",
        f"st.{{relaxed,release}}{_SCOPE}{_COMMON}",
    ),
    *_hinted("st[.weak][.global]"),
    *_hinted(f"st.{{relaxed,release}}{_SCOPE}[.global]"),
    "st[.weak][.global].v8.{b16,u16,s16}",
    f"st.mmio.relaxed.sys[.global].{_TYPES}",
    destinations=0,
)
def store(lift: Lift, i: Instruction) -> None:
    if space_of(i) == "param" and store_words(lift, i):
        return
    kind = i.modifiers[-1]
    element, sources = type_of(kind), elements(i.operands[1])
    access = access_of(lift, i.operands[0], space_of(i), element.bytes * len(sources))
    lanes.store(lift.b, access, [lift.read(s, kind) for s in sources])


# Addresses

_STARTS = {
    "shared": SHARED_WINDOW,
    "cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
    "param": PARAMETER_WINDOW,
}


@opcode(
    f"cvta.{{global,const,local,param,param::entry,{_SHARED}}}.u64",
    f"cvta.to.{{global,const,local,param,param::entry,{_SHARED}}}.u64",
)
def convert_address(lift: Lift, i: Instruction) -> None:
    b = lift.b
    value = lift.read(i.operands[1], "u64")
    start = b.constant(I64, _STARTS.get(space_of(i), 0))
    emit = b.ir.sub if "to" in i.modifiers else b.ir.add
    lift.write(i.operands[0], Value(emit(value.ir, start.ir), I64))


@opcode(f"isspacep.{{const,global,local,param,param::entry,{_SHARED}}}")
def is_in_space(lift: Lift, i: Instruction) -> None:
    """Parameters count as global memory too, as PTX has it; constants lie there, but do not."""
    b, space = lift.b, space_of(i)
    value = lift.read(i.operands[1], "u64")

    def within(start: Value, size: int) -> ir.Value:
        offset = b.ir.sub(value.ir, start.ir)
        return b.ir.icmp_unsigned("<", offset, b.constant(I64, size).ir)

    def inside(name: str) -> ir.Value:
        if name == "cluster":
            ctas = lift.scalar_field("launch", "cluster_ctas", I64)
            room = b.ir.shl(ctas.ir, b.constant(I64, TAG_SHIFT).ir)
            offset = b.ir.sub(value.ir, b.constant(I64, SHARED_WINDOW).ir)
            return b.ir.icmp_unsigned("<", offset, room)
        if name == "shared" and lift.layout.clustered:
            return within(lift.scalar_field("cta", "window", I64), 1 << TAG_SHIFT)
        if name != "const":
            return within(b.constant(I64, _STARTS[name]), WINDOW_BYTES)
        result = b.constant(PRED, 0).ir
        for variable in lift.module.variables.values():
            if variable.space == "const":
                start = lift.address(variable.name, 0)
                result = b.ir.or_(result, within(start, variable.bytes))
        return result

    if space == "global":
        windows = [_STARTS[name] for name in ("shared", "local")]
        others = [within(b.constant(I64, start), WINDOW_BYTES) for start in windows]
        others.append(inside("const"))
        result = b.ir.not_(functools.reduce(b.ir.or_, others))
    else:
        result = inside(space)
    lift.write(i.operands[0], Value(result, PRED))


@opcode("mapa[.shared::cluster].{u32,u64}")
def map_address(lift: Lift, i: Instruction) -> None:
    """The place of an address of shared memory, in the shared memory of another CTA."""
    b, kind = lift.b, i.modifiers[-1]
    address, rank = lift.read(i.operands[1], kind), lift.read(i.operands[2], "u32")
    own = b.constant(address.type, ~(RANK_MASK << TAG_SHIFT))
    rank = b.elementwise("umin", rank, b.constant(I32, RANK_MASK))  # an access there is a fault
    tag = b.ir.shl(resize(b, rank, address.type).ir, b.constant(address.type, TAG_SHIFT).ir)
    lift.write(i.operands[0], Value(b.ir.or_(b.ir.and_(address.ir, own.ir), tag), address.type))


@opcode("getctarank[.shared::cluster].{u32,u64}")
def cta_rank(lift: Lift, i: Instruction) -> None:
    b = lift.b
    address = resize(b, lift.read(i.operands[1], i.modifiers[-1]), I32)
    tag = b.ir.lshr(address.ir, b.constant(I32, TAG_SHIFT).ir)
    lift.write(i.operands[0], Value(b.ir.and_(tag, b.constant(I32, RANK_MASK).ir), I32))


# What has no effect on values

_PRIORITIES = "{L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged}"
_SECONDARY = "{L2::evict_first,L2::evict_unchanged}"


@opcode(
    f"createpolicy.fractional.{_PRIORITIES}[.{_SECONDARY}].b64",
    f"createpolicy.range[.global].{_PRIORITIES}[.{_SECONDARY}].b64",
    "createpolicy.cvt.L2.b64",
)
def create_policy(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lift.b.constant(I64, 0))


@opcode(
    "prefetch[.{global,local}].{L1,L2}",
    "prefetch[.global].{L2::evict_last,L2::evict_normal}",
    "prefetch[.{const,param}].tensormap",
    "prefetchu.L1",
    "applypriority[.global].L2::evict_normal",
    "discard[.global].L2",
    destinations=0,
)
def hint(lift: Lift, i: Instruction) -> None:
    """Caches are the timing model's."""


_PROXIES = (
    "{alias,async,async.global,async.shared::cta,async.shared::cluster,"
    "async::generic.acquire.sync_restrict::shared::cluster.cluster,"
    "async::generic.release.sync_restrict::shared::cta.cluster}"
)


@opcode(
    "membar.{cta,gl,sys}",
    f"membar.proxy.{_PROXIES}",
    f"fence[.{{sc,acq_rel,acquire,release}}]{_SCOPE}",
    "fence.acquire.sync_restrict::shared::cluster.cluster",
    "fence.release.sync_restrict::shared::cta.cluster",
    "fence.mbarrier_init.release.cluster",
    f"fence.proxy.{_PROXIES}",
    f"fence.proxy.tensormap::generic.{{acquire,release}}{_SCOPE}",
    destinations=0,
)
def fence(lift: Lift, i: Instruction) -> None:
    """Accesses are executed in order."""
