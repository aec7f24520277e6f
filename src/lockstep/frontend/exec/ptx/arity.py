"""How many operands instructions take: LLVM must not see an operation that lacks one.

Counts are those that ptxas 13.0 takes. Instructions that are not here check their own.
"""

from lockstep.frontend.exec.ptx.graph import refuse
from lockstep.isa.ptx.syntax import Function, Instruction, Module

_COUNTS = {
    0: "membar griddepcontrol exit trap brkpt",
    1: "activemask nanosleep prefetch prefetchu setmaxnreg stacksave stackrestore",
    2: "abs applypriority bfind brev clz cnot cos cvta discard elect ex2 getctarank isspacep"
    " ldmatrix lg2 mov movmatrix neg not popc rcp rsqrt sin sqrt stmatrix tanh"
    " testp ld ldu st red cvt",
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
    "cp.async.bulk.prefetch.tensor": (1,),
    "cp.async.bulk.prefetch": (2,),
    "cp.async.bulk.tensor": (2,),
    "cp.reduce.async.bulk.tensor": (2,),
    "cp": (3, 4),
    "tensormap.replace": (2, 3),
    "tensormap": (3,),
}
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
    if i.opcode in ("bar", "barrier", "mbarrier", "cp", "tensormap"):
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
            added += "tensor" in words and "mbarrier::complete_tx::bytes" in words
            return tuple(count + added for count in counts)
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
    return sum(word in ("L2::cache_hint", "cas", "async") for word in words)


def check_operands(module: Module, function: Function) -> None:
    """Raise :class:`InputError` for the first instruction with too few or too many operands."""
    for i in function.instructions:
        counts = counts_of(i)
        if counts and len(i.operands) not in counts:
            wanted = " or ".join(map(str, counts))
            raise refuse(module, i, f"{i.name} takes {wanted} operands, not {len(i.operands)}")
