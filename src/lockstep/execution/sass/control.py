"""Branches, convergence barriers, CTA barriers, special registers."""

from llvmlite import ir

from lockstep.execution.lanes import sleep as lanes
from lockstep.execution.lanes.builder import HALF, POINTER, WORD
from lockstep.execution.lanes.integer import shift_left
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.sass.graph import asks_convergence, jumps_anywhere
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import SHARED_WINDOW
from lockstep.isa.instruction import ALL_LANES, WARP_SIZE
from lockstep.isa.sass.encoding.instruction import BYTES, Instruction
from lockstep.isa.sass.encoding.operand import Constant, Immediate, Name, Operand, Register, Target


@opcode(
    "NOP", "YIELD", "WARPSYNC", "BSYNC", "DEPBAR", "LDGDEPBAR", "CCTL", "CCTLL", "MEMBAR",
    "ERRBAR", "CGAERRBAR", "FENCE", "PREEXIT", "ACQBULK", "ENDCOLLECTIVE", "BPT",
    "UCGABAR_ARV", "UCGABAR_WAIT",
    modifiers="TRAP LE SC ALL VC CTA GPU SYS IVALL ALL.GPU ALL.CTA EXCLUSIVE COLLECTIVE NOINC "
    "SYNCS G KEEPREFCOUNT PREEMPTED IVALLP IVALLTD D C U VIEW ASYNC S T NOWARP E PF1 PF2 PML2 "
    "DML2 RML2 WARP",
)  # fmt: skip
def no_result(lift: Lift, i: Instruction) -> None:
    """Nothing is computed: order and convergence are the scheduler's business."""


@opcode("EXIT", modifiers="KEEPREFCOUNT PREEMPTED")
def leave(lift: Lift, i: Instruction) -> None:
    """Lanes end for which guard and predicate operand hold."""
    choose(lift, i)


@opcode("USETMAXREG", modifiers="DEALLOC TRY_ALLOC CTAPOOL")
def change_registers(lift: Lift, i: Instruction) -> None:
    """There are always enough."""
    for target in i.operands[: i.results]:
        lift.write_predicate(target, lift.b.constant(PRED, 1))


@opcode("NANOSLEEP", modifiers="WARP SYNCS")
def sleep(lift: Lift, i: Instruction) -> None:
    """The warp sleeps for the time that it names; a stream keeps one that is no immediate.

    With SYNCS it is woken by a barrier object: it only lets others run.
    """
    choose(lift, i)
    woken, named = "SYNCS" in i.modifiers, i.operands[-1]
    time = lanes.sleep(lift.b, lift.b.constant(I32, 0) if woken else lift.read(named))
    if lift.stream is not None and not isinstance(named, Immediate) and not woken:
        lift.stream.addresses(lift.number, time)


@opcode("BRA", "JMP", modifiers="U ANY DIV CONV INC DEC")
def branch(lift: Lift, i: Instruction) -> None:
    """A predicate operand chooses lanes as the guard does.

    With U all lanes jump or none: if all of them are chosen, with ANY if one of them is.
    """
    if asks_convergence(i):
        branch_on_convergence(lift, i)
    elif jumps_anywhere(i):
        indirect(lift, i)
    else:
        choose(lift, i)
    if "U" in i.modifiers:
        b = lift.b
        chosen = b.bits_of(b.active)
        none = ir.Constant(chosen.type, 0)
        relation, other = ("!=", none) if "ANY" in i.modifiers else ("==", b.mask_bits)
        jump = b.ir.icmp_unsigned(relation, chosen, other)
        b.active = b.lanes_of(b.ir.select(jump, b.mask_bits, none))


def branch_on_convergence(lift: Lift, i: Instruction) -> None:
    """All lanes jump, with DIV if they are not those of a mask that live, with CONV if they are.

    Lanes that guard and predicate keep out do not count as having come: so those are told whose
    masks differ.
    """
    choose(lift, i)
    b = lift.b
    named = next((o for o in i.operands if isinstance(o, Register) and o.file == "UR"), None)
    mask = b.ir.trunc(b.field("warp", "alive"), b.mask_type)
    if named is not None:
        word = b.ir.extract_element(lift.read(named).ir, ir.Constant(HALF, 0))
        mask = b.ir.and_(mask, word)
    relation = "==" if "CONV" in i.modifiers else "!="
    jumps = b.ir.icmp_unsigned(relation, b.bits_of(b.active), mask)
    b.active = b.lanes_of(b.ir.select(jumps, b.mask_bits, ir.Constant(b.mask_type, 0)))


@opcode("CALL", modifiers="REL ABS NOINC")
def call(lift: Lift, i: Instruction) -> None:
    """A jump: the return address is in registers already."""
    branch(lift, i)


@opcode("LEPC")
def program_counter(lift: Lift, i: Instruction) -> None:
    """The pc that is named, or where the instruction itself is."""
    named = [o.address for o in i.operands if isinstance(o, Target)]
    lift.write(i.operands[0], lift.b.constant(I64, named[0] if named else i.pc))


@opcode("RET", "BRX", "BRXU", "JMX", "JMXU", modifiers="REL ABS NODEC INC DEC")
def indirect(lift: Lift, i: Instruction) -> None:
    """Each lane goes to the block of the pc that a register pair and a displacement add up to."""
    choose(lift, i)
    b, displacement = lift.b, 0
    target = next(o for o in i.operands if isinstance(o, (Target, Constant)))
    if isinstance(target, Constant):
        pc = lift.read(target, I64)
    else:
        pc, displacement = lift.join(lift.words(target.base, 2)), target.address
    if i.mnemonic.startswith("BRX"):  # decoded as they print, without the pc they count from
        displacement += i.pc + BYTES
    lift.go_to(Value(b.ir.add(pc.ir, b.constant(I64, displacement).ir), I64))


def choose(lift: Lift, i: Instruction) -> None:
    """A predicate operand chooses lanes as the guard does."""
    for predicate in _choosing(i):
        lift.restrict(lift.predicate(predicate))


def _choosing(i: Instruction) -> list[Register]:
    return [o for o in i.operands if isinstance(o, Register) and o.file in ("P", "UP")]


@opcode("BSSY")
def begin_convergence(lift: Lift, i: Instruction) -> None:
    """The barrier register takes the lanes that will meet at the BSYNC."""
    barrier = next(o for o in i.operands if isinstance(o, Register) and o.file == "B")
    lift.assign(f"B{barrier.number}", lift.b.splat(lift.b.bits_of(lift.b.active), I32))


@opcode("BREAK")
def leave_convergence(lift: Lift, i: Instruction) -> None:
    """The scheduler takes those who execute it out of every lane's copy of the register."""
    choose(lift, i)


@opcode("BMOV.32", "BMOV.64", modifiers="CLEAR PQUAD")
def move_barrier(lift: Lift, i: Instruction) -> None:
    """Between a barrier register and a general one, or a pair whose upper word is unused."""
    target, source = i.operands[:2]
    words = [_barrier_state(lift, source)]
    if "64" in i.modifiers:
        words.append(lift.b.constant(I32, 0))
    barrier = barrier_name(target)
    if barrier:
        lift.assign(barrier, words[0])
    elif isinstance(target, Register) and target.file == "R":
        lift.write_words(target, words)
    else:
        raise lift.refuse("this state cannot be written")
    if "CLEAR" in i.modifiers:
        lift.assign(barrier_name(source), lift.b.constant(I32, 0))


def barrier_name(operand: Operand) -> str:
    """``B0`` for the convergence barrier that an operand is, else nothing."""
    if isinstance(operand, Register) and operand.file == "B":
        return f"B{operand.number}"
    word = operand.word if isinstance(operand, Name) else ""
    return word if word[:1] == "B" and word[1:].isdigit() else ""


def _barrier_state(lift: Lift, source: Operand) -> Value:
    if barrier_name(source):
        return lift.current(barrier_name(source), I32)
    if isinstance(source, Name) and source.word == "MACTIVE":
        return lift.b.splat(lift.b.mask_bits, I32)
    if isinstance(source, Name):
        raise lift.refuse(f"{source.word} is not supported")
    return lift.read(source)


_RECORDS = {
    "SR_CTAID.X": ("cta", "ctaid_x"), "SR_CTAID.Y": ("cta", "ctaid_y"),
    "SR_CTAID.Z": ("cta", "ctaid_z"), "SR_NTID.X": ("launch", "ntid_x"),
    "SR_NTID.Y": ("launch", "ntid_y"), "SR_NTID.Z": ("launch", "ntid_z"),
    "SR_NCTAID.X": ("launch", "nctaid_x"), "SR_NCTAID.Y": ("launch", "nctaid_y"),
    "SR_NCTAID.Z": ("launch", "nctaid_z"), "SR_VIRTUALSMID": ("cta", "sm"),
    "SR_SMEMSZ": ("launch", "shared_bytes"), "SR_CgaCtaId": ("cta", "rank"),
}  # fmt: skip
_MASKS = {
    "SR_LANEMASK_EQ": lambda k: 1 << k,
    "SR_EQMASK": lambda k: 1 << k,
    "SR_LTMASK": lambda k: (1 << k) - 1,
    "SR_LEMASK": lambda k: (2 << k) - 1,
    "SR_GTMASK": lambda k: ~((2 << k) - 1) & ALL_LANES,
    "SR_GEMASK": lambda k: ~((1 << k) - 1) & ALL_LANES,
}
# SR_LMEMHIOFF bounds the stack from below, which ends at the first byte of local memory.
_ZERO = ("SR_LMEMHIOFF", "SRZ", "SR_ESR_PC", *(f"SR_PM{k}" for k in range(8)))
_CLOCKS = {  # field and lowest bit
    "SR_CLOCK": ("clock", 0), "SR_CLOCKLO": ("clock", 0), "SR_CLOCKHI": ("clock", 32),
    "SR_GLOBALTIMERLO": ("nanoseconds", 0), "SR_GLOBALTIMERHI": ("nanoseconds", 32),
}  # fmt: skip
# The warp's number, and how many there are, from bit 8 on: all that compilers read of them.
_FROM_EIGHT = {"SR_VIRTID": ("warp", "index"), "SR_VIRTCFG": ("launch", "warps")}


@opcode("S2R", "S2UR", "CS2R", modifiers="32")
def special(lift: Lift, i: Instruction) -> None:
    target, source = i.operands[0], i.operands[1]
    if source.word in ("SRZ", "SR_CLOCKLO", "SR_GLOBALTIMERLO") and _is_wide(i):
        lift.write(target, _wide_special(lift, source.word))
        return
    lift.write(target, _special(lift, source.word))


def _is_wide(i: Instruction) -> bool:
    return i.mnemonic == "CS2R" and "32" not in i.modifiers


def _wide_special(lift: Lift, name: str) -> Value:
    if name == "SRZ":
        return lift.b.constant(I64, 0)
    return lift.b.splat(lift.time(_CLOCKS[name][0]), I64)


def _special(lift: Lift, name: str) -> Value:
    b = lift.b
    if name.startswith("SR_TID."):
        threads = b.ir.inttoptr(b.field("warp", "threads"), POINTER)
        return b.load_vector(b.offset(threads, "XYZ".index(name[-1]) * 4 * WARP_SIZE), I32)
    if name == "SR_TID":
        x, y, z = (_special(lift, f"SR_TID.{axis}") for axis in "XYZ")
        shifted = (b.ir.shl(v.ir, b.constant(I32, k).ir) for v, k in ((x, 0), (y, 16), (z, 26)))
        first, second, third = shifted
        return Value(b.ir.or_(b.ir.or_(first, second), third), I32)
    if name in _RECORDS:
        return lift.scalar_field(*_RECORDS[name], I32)
    if name in _CLOCKS:
        field, low = _CLOCKS[name]
        word = b.ir.lshr(lift.time(field), ir.Constant(WORD, low))
        return b.splat(b.ir.trunc(word, ir.IntType(32)), I32)
    if name in _FROM_EIGHT:
        return shift_left(b, lift.scalar_field(*_FROM_EIGHT[name], I32), 8)
    if name == "SR_LANEID":
        return b.each(I32, list(range(WARP_SIZE)))
    if name in _MASKS:
        return b.each(I32, [_MASKS[name](k) for k in range(WARP_SIZE)])
    if name == "SR_SWINHI":
        return b.constant(I32, SHARED_WINDOW >> 32)
    if name in _ZERO:
        return b.constant(I32, 0)
    raise lift.refuse(f"special register {name} is not supported")
