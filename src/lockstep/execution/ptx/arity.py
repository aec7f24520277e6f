"""How many operands instructions take: LLVM must not see an operation that lacks one.

Counts are those that ptxas 13.0 takes.
"""

from lockstep.execution.ptx.graph import entry_of, labels_of, members_of, refuse
from lockstep.execution.ptx.opcodes import PtxOpcode
from lockstep.isa.ptx.syntax import (
    Function,
    Immediate,
    Instruction,
    Module,
    Pair,
    Register,
    Sink,
    Vector,
)

_COUNTS = {
    0: "membar griddepcontrol exit trap brkpt ret",
    1: "activemask bra nanosleep pmevent prefetch prefetchu setmaxnreg stacksave stackrestore",
    2: "abs applypriority bfind brev brx clz cnot cos cvta discard elect ex2 getctarank"
    " isspacep istypep ldmatrix lg2 mov movmatrix neg not popc rcp rsqrt sin sqrt stmatrix suld"
    " suq sured sust tanh testp txq ld ldu st red cvt",
    3: "add addc and bmsk copysign div mapa match mul mul24 or redux rem shl shr sub subc szext xor"
    " atom set setp",
    4: "bfe dp2a dp4a fma fns mad mad24 madc prmt sad selp shf slct vmad mma",
    5: "bfi lop3 shfl",
}
_PLAIN = {name: count for count, names in _COUNTS.items() for name in names.split()}
_BY_NAME = {  # the first part of a name that fits counts
    "barrier.cluster": (0,),
    "bar.warp": (1,),
    "mbarrier.arrive": (2, 3),
    "mbarrier.arrive_drop": (2, 3),
    "mbarrier.inval": (1,),
    "mbarrier.test_wait": (3,),
    "mbarrier.try_wait": (3, 4),
    "mbarrier": (2,),
    "cp.async.commit_group": (0,),
    "cp.async.wait_all": (0,),
    "cp.async.wait_group": (1,),
    "cp.async.bulk.commit_group": (0,),
    "cp.async.bulk.wait_group": (1,),
    "cp.async.mbarrier": (1,),
    "cp.async.ca": (3, 4),
    "cp.async.cg": (3, 4),
    "createpolicy.fractional": (1, 2),
    "createpolicy.range": (4,),
    "createpolicy.cvt": (2,),
    "cp.async.bulk.prefetch.tensor": (1,),
    "cp.async.bulk.prefetch": (2,),
    "tensormap.replace": (2, 3),
    "tensormap": (3,),
    "fence.proxy.tensormap::generic.acquire": (2,),
    "fence": (0,),
    "tex.level": (3, 4, 5),
    "tex.grad": (4, 5, 6),
    "tex": (2, 3, 4),
    "tld4": (2, 3, 4),
    "wmma.load": (2, 3),
    "wmma.store": (2, 3),
    "wmma.mma": (4,),
    "wgmma.fence": (0,),
    "wgmma.commit_group": (0,),
    "wgmma.wait_group": (1,),
    "wgmma.mma_async.sp": (6, 8, 9, 10),
    "wgmma.mma_async": (4, 6, 7, 8),
}
_NAMED = {name.partition(".")[0] for name in _BY_NAME}
_ADDED = ("L2::cache_hint", "multicast::cluster", "im2col")
_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vset", "vshl", "vshr")
_TWO_SOURCES = ("f16x2", "bf16x2", "e4m3x2", "e5m2x2")


def counts_of(i: Instruction) -> tuple[int, ...]:
    """The numbers of operands that an instruction may have; empty if that is not known here."""
    words = i.modifiers
    if i.opcode in ("min", "max"):
        return (3, 4) if words[-1] == "f32" else (3,)
    if i.opcode == "alloca":
        return 2, 3
    if i.opcode.rstrip("24") in _VIDEO:
        single = i.opcode[-1] not in "24" and words[-1] not in ("add", "min", "max")
        return (3, 4) if single else (4,)
    if i.opcode == "vote":
        return (3,) if "sync" in words else (2,)
    if i.opcode in _NAMED:
        return _named(i)
    if i.opcode not in _PLAIN:
        return ()
    return (_PLAIN[i.opcode] + _more(i),)


def _named(i: Instruction) -> tuple[int, ...]:
    words = i.modifiers
    for name, counts in _BY_NAME.items():
        if f"{i.name}.".startswith(f"{name}."):
            if "expect_tx" in words[1:] or "noComplete" in words:
                return (3,)
            added = sum(word in _ADDED for word in words)
            return tuple(count + added for count in counts)
    if i.opcode == "cp":  # a bulk copy
        counts = (2 if "tensor" in words else 3) + ("bulk_group" not in words)
        return (counts + sum(word in _ADDED for word in words),)
    if "red" in words:
        return 3, 4
    return (2,) if "arrive" in words else (1, 2)


def _more(i: Instruction) -> int:
    """Operands that modifiers add."""
    words = i.modifiers
    if i.opcode == "cvt":
        if "pack" in words:
            return 2 if words[-1] == "b32" else 1
        return int(words[-1] == "f32" and words[-2] in _TWO_SOURCES)
    if i.opcode == "mma":
        return 2 * words[0].startswith("sp")
    if i.opcode == "shfl":
        return 0 if "sync" in words else -1
    if i.opcode in ("set", "setp", "lop3"):
        return int(any(word in ("and", "or", "xor") for word in words))
    added = sum(word in ("L2::cache_hint", "cas", "level") for word in words)
    return added + ("async" in words)


_VALUES = {  # places of the operands that have as many elements as the modifiers say
    "ld": (0,), "ldu": (0,), "st": (1,), "suld": (0,), "sust": (1,), "atom": (0, 2), "red": (1,),
    "tex": (0,), "tld4": (0,), "ldmatrix": (0,), "stmatrix": (1,),
}  # fmt: skip
_LENGTHS = {"v2": 2, "v4": 4, "v8": 8, "x2": 2, "x4": 4}


def _wrong_lengths(i: Instruction) -> str:
    """What there is against the lengths of vector operands, "" if nothing."""
    length = next((_LENGTHS[word] for word in i.modifiers if word in _LENGTHS), 1)
    for place in _VALUES.get(i.opcode, ()):
        operand = i.operands[place]
        operand = operand.first if isinstance(operand, Pair) else operand
        found = len(operand.elements) if isinstance(operand, Vector) else 1
        if found != length and not isinstance(operand, Sink):
            wanted = f"a vector of {length} elements" if length > 1 else "a single register"
            return f"{i.name} takes {wanted}, not {found}"
    return ""


def check_operands(module: Module, function: Function, i: Instruction) -> PtxOpcode:
    """The table's entry of an instruction of a function.

    Raises :class:`InputError` if there is none, if it has too few or too many operands, names its
    members by something else than a register or number, or branches to no label.
    """
    entry, counts = entry_of(module, i), counts_of(i)
    if counts and len(i.operands) not in counts:
        wanted = " or ".join(map(str, counts))
        raise refuse(module, i, f"{i.name} takes {wanted} operands, not {len(i.operands)}")
    if problem := _wrong_lengths(i):
        raise refuse(module, i, problem)
    members = members_of(i, entry)
    if members is not None and not isinstance(members, (Register, Immediate)):
        raise refuse(module, i, f"{i.name} needs a register or number of its members")
    labels_of(module, function, i)
    return entry
