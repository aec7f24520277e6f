"""Textures: TEX, TLD, TLD4, TXD, TXQ.

An instruction reads a list of words: the layer, the coordinates, the handle if it is in a vector
register (.B), the level, the offsets in one word. Operand A is the first register of the layer and
the coordinates, B that of the rest; with .SCR each has half of the list, A the larger one. TXD has
the handle before the coordinates and the layer after them, all at A. Results are two pairs of
registers for those of the four channels that a mask names (seen in what ptxas makes of PTX for
sm_70 to sm_90).
"""

from lockstep.execution.lanes import texture as lanes
from lockstep.execution.lanes.fetch import CHANNELS
from lockstep.execution.lanes.filtering import Coordinates
from lockstep.execution.lanes.handles import Handles
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.levels import Detail
from lockstep.execution.lanes.types import F32, I32, I64, PRED, Type, Value
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Constant, Immediate, Name, Operand, Register

_AXES = {"1D": 1, "2D": 2, "3D": 3, "CUBE": 3}
_AXES |= {f"ARRAY_{name}": axes for name, axes in _AXES.items() if name != "3D"}
SAMPLERS = ("TEX", "TLD", "TLD4", "TXD")
_LAYERS = 0xFFFF  # a layer has 16 bits
_COMMON = "B NODEP EF EL LU EU NA"
_SAMPLED = "SCR F16 RN LZ LL AOFFI " + _COMMON


def handles_of(lift: Lift, i: Instruction, number: Value | None) -> Handles:
    """The handles of textures or surfaces; ``number`` where they are in a vector register."""
    if number is None:
        uniform = _registers(i, "UR")
        places = [o.value for o in i.operands[i.results :] if isinstance(o, Immediate)]
        if uniform:
            number = lift.register("UR", uniform[0].number)
        else:
            number = lift.constant(Constant(places[0], 4 * places[1]), I32)
    return Handles(resize(lift.b, number, I64), lift.site(Window.TEXTURE))


def _registers(i: Instruction, file: str) -> list[Register]:
    """The sources that are registers of a file."""
    sources = i.operands[i.results :]
    return [o for o in sources if isinstance(o, Register) and o.file == file]


def _words(lift: Lift, i: Instruction, first: int, rest: int) -> list[Value]:
    """The list of words: ``first`` of the layer and coordinates, and ``rest`` others."""
    a, *more = _registers(i, "R")
    if "SCR" in i.modifiers:
        total = first + rest
        first = (total + 1) // 2
        rest = total - first
    return lift.words(a, first) + (lift.words(more[0], rest) if rest else [])


def _where(lift: Lift, i: Instruction, kind: Type) -> tuple[Handles, Coordinates, Detail | None]:
    """Where lanes look, in which textures, and at which level."""
    shape = next(o.word for o in i.operands if isinstance(o, Name))
    if shape not in _AXES:
        raise lift.refuse(f"textures of shape {shape} are not supported")
    axes, layered, apart = _AXES[shape], shape.startswith("ARRAY"), _is_apart(i)
    number = layer = detail = None
    offsets: tuple[Value, ...] = ()
    if i.mnemonic == "TXD":
        a, behind = _registers(i, "R")
        words = lift.words(a, apart + axes + layered)
        number = words.pop(0) if apart else None
        layer = words[axes] if layered else None
        slopes = [lift.b.cast(w, F32) for w in lift.words(behind, 2 * axes)]
        detail = Detail(gradients=(tuple(slopes[::2]), tuple(slopes[1::2])))
    else:
        has_level, has_offset = "LL" in i.modifiers, "AOFFI" in i.modifiers
        words = _words(lift, i, layered + axes, apart + has_level + has_offset)
        layer = words.pop(0) if layered else None
        number = words[axes] if apart else None
        if has_level:
            detail = Detail(lift.b.cast(words[axes + apart], kind))
        if has_offset:
            offsets = _unpacked(lift, words[-1], axes, 8 if i.mnemonic == "TLD4" else 4)
    if layer is not None:
        layer = Value(lift.b.ir.and_(layer.ir, lift.b.constant(I32, _LAYERS).ir), I32)
    values = tuple(lift.b.cast(w, kind) for w in words[:axes])
    at = Coordinates(values, layer, offsets, cube=shape.endswith("CUBE"))
    return handles_of(lift, i, number), at, detail


def _unpacked(lift: Lift, word: Value, axes: int, step: int) -> tuple[Value, ...]:
    """Signed offsets of 4 bits, or of 6 in a byte."""
    emit, unused = lift.b.ir, 32 - min(step, 6)
    found = []
    for axis in range(axes):
        left = emit.shl(word.ir, lift.b.constant(I32, unused - step * axis).ir)
        found.append(Value(emit.ashr(left, lift.b.constant(I32, unused).ir), I32))
    return tuple(found)


def _is_apart(i: Instruction) -> bool:
    """Whether the handle is in a vector register; the first .B of TLD4 may be a channel."""
    words = list(i.modifiers)
    if i.mnemonic == "TLD4":
        words.remove(_component(i))
    return "B" in words


def channels_of(i: Instruction) -> int:
    """Mask of the channels that are wanted; the operand is absent for all of them."""
    last: Operand = i.operands[-1]
    return last.value if isinstance(last, Immediate) else (1 << CHANNELS) - 1


def _write(lift: Lift, i: Instruction, channels: list[Value]) -> None:
    """Two pairs of registers; and a predicate that says whether something is not resident."""
    mask = channels_of(i)
    wanted = [c for k, c in enumerate(channels) if mask >> k & 1]
    first = 2
    if "F16" in i.modifiers:
        wanted, first = lanes.halves(lift.b, wanted), 1
    *resident, high, low = i.operands[: i.results]
    lift.write_words(low, wanted[:first])
    lift.write_words(high, wanted[first:])
    for predicate in resident:
        lift.write_predicate(predicate, lift.b.constant(PRED, 0))


@opcode("TEX", modifiers=_SAMPLED)
@opcode("TXD", modifiers=_COMMON)
@opcode("TLD", modifiers=_SAMPLED + " CL")
def sample(lift: Lift, i: Instruction) -> None:
    """TLD takes integers as coordinates."""
    handles, at, detail = _where(lift, i, I32 if i.mnemonic == "TLD" else F32)
    channels, address = lanes.sample(lift.b, handles, at, detail)
    lift.record_addresses(address)
    _write(lift, i, channels)


@opcode("TLD4", modifiers="R G A SCR AOFFI " + _COMMON)
def gather(lift: Lift, i: Instruction) -> None:
    """One channel of four elements."""
    handles, at, _ = _where(lift, i, F32)
    corners = "RGBA".index(_component(i))
    channels, address = lanes.sample(lift.b, handles, at, corners=corners)
    lift.record_addresses(address)
    _write(lift, i, channels)


def _component(i: Instruction) -> str:
    """The channel comes before .B, which may be blue, or a handle in a register."""
    return next(m for m in i.modifiers if m in "RGBA")


_SIZES = ("width", "height", "depth", "levels")


@opcode("TXQ", modifiers=_COMMON)
def query(lift: Lift, i: Instruction) -> None:
    """The sizes of a level, and how many levels there are; operand A has handle and level."""
    apart = "B" in i.modifiers
    if "TEX_HEADER_DIMENSION" not in (o.word for o in i.operands if isinstance(o, Name)):
        raise lift.refuse("only the sizes of textures can be asked for")
    words = lift.words(_registers(i, "R")[0], 2 if apart else 1)
    handles, mask = handles_of(lift, i, words[0] if apart else None), channels_of(i)
    wanted = [name for k, name in enumerate(_SIZES) if mask >> k & 1]
    fields = [lanes.query(lift.b, handles, name, words[-1]) for name in wanted]
    high, low = i.operands[: i.results]
    lift.write_words(low, fields[:2])
    lift.write_words(high, fields[2:])
