"""Textures: TEX, TLD, TLD4, TXD, TXQ.

An instruction reads a list of words: the layer, the coordinates, the handle if it is in a vector
register (.B), the level. Operand A is the first register of the layer and the coordinates, B that
of the rest; with .SCR each has half of the list, A the larger one. TXD has the handle before the
coordinates and the layer after them, all at A. Results are two pairs of registers for those of the
four channels that a mask names (seen in what ptxas makes of PTX for sm_70 to sm_90).

Textures have one level of detail; what asks for another gets that one.
"""

from lockstep.frontend.exec.lanes import texture as lanes
from lockstep.frontend.exec.lanes.integer import resize
from lockstep.frontend.exec.lanes.texture import CHANNELS, Coordinates, Handles
from lockstep.frontend.exec.lanes.types import F32, I32, I64, PRED, Type, Value
from lockstep.frontend.exec.sass.lift import Lift
from lockstep.frontend.exec.sass.opcodes import opcode
from lockstep.frontend.exec.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Constant, Immediate, Name, Operand, Register

_AXES = {"1D": 1, "2D": 2, "3D": 3, "ARRAY_1D": 1, "ARRAY_2D": 2}
SAMPLERS = ("TEX", "TLD", "TLD4", "TXD")
_LAYERS = 0xFFFF  # a layer has 16 bits
_COMMON = "B NODEP EF EL LU EU NA"
_SAMPLED = "SCR F16 RN LZ LL " + _COMMON


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


def _where(lift: Lift, i: Instruction, kind: Type) -> tuple[Handles, Coordinates]:
    """Where lanes look, and in which textures."""
    shape = next(o.word for o in i.operands if isinstance(o, Name))
    if shape not in _AXES:
        raise lift.refuse(f"textures of shape {shape} are not supported")
    axes, layered, apart = _AXES[shape], shape.startswith("ARRAY"), _is_apart(i)
    number = layer = None
    if i.mnemonic == "TXD":
        words = lift.words(_registers(i, "R")[0], apart + axes + layered)
        number = words.pop(0) if apart else None
        layer = words[axes] if layered else None
    else:
        words = _words(lift, i, layered + axes, apart + ("LL" in i.modifiers))
        layer = words.pop(0) if layered else None
        number = words[axes] if apart else None
    if layer is not None:
        layer = Value(lift.b.ir.and_(layer.ir, lift.b.constant(I32, _LAYERS).ir), I32)
    values = tuple(lift.b.cast(w, kind) for w in words[:axes])
    return handles_of(lift, i, number), Coordinates(values, layer)


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
    handles, at = _where(lift, i, I32 if i.mnemonic == "TLD" else F32)
    channels, address = lanes.sample(lift.b, handles, at)
    lift.record_addresses(address)
    _write(lift, i, channels)


@opcode("TLD4", modifiers="R G A SCR " + _COMMON)
def gather(lift: Lift, i: Instruction) -> None:
    """One channel of four elements."""
    handles, at = _where(lift, i, F32)
    channels, address = lanes.sample(lift.b, handles, at, "RGBA".index(_component(i)))
    lift.record_addresses(address)
    _write(lift, i, channels)


def _component(i: Instruction) -> str:
    """The channel comes before .B, which may be blue, or a handle in a register."""
    return next(m for m in i.modifiers if m in "RGBA")


_SIZES = ("width", "height", "depth")


@opcode("TXQ", modifiers=_COMMON)
def query(lift: Lift, i: Instruction) -> None:
    """The sizes of a texture."""
    number = lift.words(_registers(i, "R")[0], 1)[0] if "B" in i.modifiers else None
    handles, mask = handles_of(lift, i, number), channels_of(i)
    if "TEX_HEADER_DIMENSION" not in (o.word for o in i.operands if isinstance(o, Name)):
        raise lift.refuse("only the sizes of textures can be asked for")
    if mask >> len(_SIZES):
        raise lift.refuse("the number of levels cannot be asked for")
    fields = [lanes.query(lift.b, handles, s) for k, s in enumerate(_SIZES) if mask >> k & 1]
    high, low = i.operands[: i.results]
    lift.write_words(low, fields[:2])
    lift.write_words(high, fields[2:])
