"""What the timing model sees of a PTX instruction: its class, memory space, width and policy.

PTX is a virtual instruction set, so each instruction is taken as one machine instruction of its
class; ptxas makes several of some (division, 64-bit arithmetic) and none of others.
"""

import re
from collections.abc import Sequence

from lockstep.execution.ptx.barrier import numbers
from lockstep.execution.ptx.matrix import fragment_width
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.isa.ptx.syntax import Immediate, Instruction, Operand, Register, type_bytes

_FIXED = {
    "setp": OpClass.INT32, "set": OpClass.INT32, "selp": OpClass.INT32, "slct": OpClass.INT32,
    "mul24": OpClass.IMAD, "mad24": OpClass.IMAD, "madc": OpClass.IMAD,
    "dp4a": OpClass.IMAD, "dp2a": OpClass.IMAD,
    "popc": OpClass.SFU, "brev": OpClass.SFU, "bfind": OpClass.SFU, "clz": OpClass.SFU,
    "rcp": OpClass.SFU, "sqrt": OpClass.SFU, "rsqrt": OpClass.SFU, "sin": OpClass.SFU,
    "cos": OpClass.SFU, "lg2": OpClass.SFU, "ex2": OpClass.SFU, "tanh": OpClass.SFU,
    "cvt": OpClass.CONVERT, "mov": OpClass.MOVE, "cvta": OpClass.MOVE,
    "shfl": OpClass.SHUFFLE, "movmatrix": OpClass.SHUFFLE,
    "vote": OpClass.VOTE, "match": OpClass.MATCH, "activemask": OpClass.VOTE,
    "redux": OpClass.REDUX, "elect": OpClass.VOTE,
    "atom": OpClass.ATOMIC, "red": OpClass.REDUCTION,
    "ld": OpClass.LOAD, "ldu": OpClass.LOAD, "ldmatrix": OpClass.LOAD, "tex": OpClass.TEXTURE,
    "tld4": OpClass.TEXTURE, "txq": OpClass.TEXTURE, "suq": OpClass.TEXTURE,
    "suld": OpClass.SURFACE, "sust": OpClass.SURFACE, "sured": OpClass.SURFACE,
    "st": OpClass.STORE, "stmatrix": OpClass.STORE, "tensormap": OpClass.STORE,
    "prefetch": OpClass.CACHE_CONTROL, "prefetchu": OpClass.CACHE_CONTROL,
    "discard": OpClass.CACHE_CONTROL, "applypriority": OpClass.CACHE_CONTROL,
    "bra": OpClass.BRANCH, "brx": OpClass.BRANCH, "call": OpClass.BRANCH, "ret": OpClass.BRANCH,
    "exit": OpClass.EXIT, "trap": OpClass.EXIT,
    "nanosleep": OpClass.SLEEP, "pragma": OpClass.NOP,
}  # fmt: skip
_SPACES = {
    "global": Space.GLOBAL, "shared": Space.SHARED, "local": Space.LOCAL,
    "const": Space.CONSTANT, "param": Space.CONSTANT,
}  # fmt: skip
_POLICIES = {
    "cg": CachePolicy.BYPASS_L1, "cs": CachePolicy.STREAMING, "lu": CachePolicy.STREAMING,
    "cv": CachePolicy.VOLATILE, "volatile": CachePolicy.VOLATILE, "wt": CachePolicy.VOLATILE,
    "relaxed": CachePolicy.BYPASS_L1, "acquire": CachePolicy.BYPASS_L1,
    "L1::no_allocate": CachePolicy.NO_ALLOCATE, "L1::evict_first": CachePolicy.STREAMING,
    "L1::evict_last": CachePolicy.KEEP,
}  # fmt: skip
_ORDERS = {
    "acquire": CachePolicy.ACQUIRE, "release": CachePolicy.RELEASE,
    "acq_rel": CachePolicy.ACQUIRE | CachePolicy.RELEASE,
    "sc": CachePolicy.ACQUIRE | CachePolicy.RELEASE, "cta": CachePolicy.OF_CTA,
}  # fmt: skip
_ACCESSES = (
    OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION, OpClass.ASYNC_COPY,
    OpClass.BULK_COPY, OpClass.BULK_STORE, OpClass.TILE_COPY, OpClass.TILE_STORE,
    OpClass.TEXTURE, OpClass.SURFACE, OpClass.OBJECT_WAIT,
)  # fmt: skip
_QUERIES = ("txq", "suq")  # of what describes a texture, which is in no memory here
_GROUP_CLASSES = {
    "mma_async": OpClass.GMMA, "fence": OpClass.GMMA_ARRIVE,
    "commit_group": OpClass.NOP, "wait_group": OpClass.GMMA_WAIT,
}  # fmt: skip
_GROUP_SHAPE = re.compile(r"m64n(\d+)k\d+")
_NUMBERS = ("f16", "bf16", "f16x2", "bf16x2")


def class_of(i: Instruction) -> OpClass:
    """The operation class of an instruction."""
    words = i.modifiers
    if i.opcode in ("ld", "ldu", "st") and "param" in words:
        return OpClass.MOVE  # machine code has parameters as constant operands, or in registers
    if i.opcode == "mov" and _reads_special(i):
        return OpClass.SPECIAL_MOVE if _reads_clock(i) else OpClass.SPECIAL_REGISTER
    if i.opcode in ("bar", "barrier"):
        return _barrier_class(words)
    if i.opcode == "cp":
        return _copy_class(words)
    if i.opcode in ("mma", "wmma", "wgmma"):
        return _matrix_class(i)
    if i.opcode in ("membar", "fence"):
        local = not {"cta", "proxy", "mbarrier_init"}.isdisjoint(words)
        return OpClass.LOCAL_FENCE if local else OpClass.FENCE
    if i.opcode == "mbarrier":
        return _object_class(words)
    if i.opcode == "red" and space_of(i, OpClass.REDUCTION) == Space.SHARED:
        return OpClass.ATOMIC  # machine code has atomics only, and drops the result
    if i.opcode == "div":
        return OpClass.FP64 if "f64" in words else OpClass.SFU
    return _FIXED.get(i.opcode) or _arithmetic_class(i)


def _reads_special(i: Instruction) -> bool:
    source = i.operands[1]
    return isinstance(source, Register) and source.name.startswith(
        ("%tid", "%ctaid", "%laneid", "%warpid", "%smid", "%clock", "%globaltimer", "%lanemask")
    )


def _reads_clock(i: Instruction) -> bool:
    return i.operands[1].name.startswith(("%clock", "%globaltimer"))


def _barrier_class(words: tuple[str, ...]) -> OpClass:
    if "warp" in words:
        return OpClass.CONVERGENCE
    if "cluster" in words:
        return OpClass.CLUSTER_ARRIVE if "arrive" in words else OpClass.CLUSTER_WAIT
    return OpClass.ARRIVE if "arrive" in words else OpClass.BARRIER


def _object_class(words: tuple[str, ...]) -> OpClass:
    if "pending_count" in words:  # of a number, not of the object
        return OpClass.INT32
    return OpClass.ATOMIC if {"test_wait", "try_wait"}.isdisjoint(words) else OpClass.OBJECT_WAIT


def _copy_class(words: tuple[str, ...]) -> OpClass:
    if "mbarrier" in words:  # an arrival when the copies are done
        return OpClass.REDUCTION
    if "commit_group" in words:
        return OpClass.COMMIT_GROUP
    if "wait_group" in words or "wait_all" in words:
        return OpClass.WAIT_GROUP
    if "bulk" not in words:
        return OpClass.ASYNC_COPY
    if "prefetch" in words:
        return OpClass.CACHE_CONTROL
    if "global" not in words:  # from CTA to CTA
        return OpClass.BULK_COPY
    return OpClass.TILE_STORE if "bulk_group" in words else OpClass.TILE_COPY


def _matrix_class(i: Instruction) -> OpClass:
    if i.opcode == "wgmma":
        return next(_GROUP_CLASSES[word] for word in i.modifiers if word in _GROUP_CLASSES)
    if "load" in i.modifiers:
        return OpClass.LOAD
    if "store" in i.modifiers:
        return OpClass.STORE
    types = set(i.modifiers)
    if "f64" in types:
        return OpClass.DMMA
    return OpClass.IMMA if "s32" in types else OpClass.HMMA


def _arithmetic_class(i: Instruction) -> OpClass:
    kind = i.modifiers[-1] if i.modifiers else ""
    if kind in _NUMBERS:
        return OpClass.FP16
    if kind in ("f32", "tf32"):
        return OpClass.FP32
    if kind == "f64":
        return OpClass.FP64
    if i.opcode in ("mul", "mad") and not {"wide", "hi"}.isdisjoint(i.modifiers):
        return OpClass.IMAD_WIDE
    return OpClass.IMAD if i.opcode in ("mul", "mad", "sad") else OpClass.INT32


def space_of(i: Instruction, kind: OpClass) -> Space:
    """The memory that an instruction accesses."""
    if kind in (OpClass.TEXTURE, OpClass.SURFACE):
        return Space.TEXTURE
    if kind not in _ACCESSES:
        return Space.NONE
    if kind in (OpClass.ASYNC_COPY, OpClass.TILE_COPY, OpClass.TILE_STORE):
        return Space.GLOBAL
    if "shared::cluster" in i.modifiers:  # in machine code, too, addresses tell whose it is
        return Space.GENERIC
    words = (word.partition("::")[0] for word in i.modifiers)
    default = Space.SHARED if i.opcode in ("ldmatrix", "stmatrix", "mbarrier") else Space.GENERIC
    return next((_SPACES[w] for w in words if w in _SPACES), default)


def width_of(i: Instruction, kind: OpClass) -> int:
    """Bytes that a thread accesses; 0 for none."""
    if kind == OpClass.SLEEP:  # a time that a register holds is kept as an address is
        return 0 if isinstance(i.operands[0], Immediate) else 4
    if kind in (OpClass.BARRIER, OpClass.ARRIVE):  # ... and so is which barrier it is
        return 0 if all(isinstance(o, Immediate) for o in numbers(i)) else 4
    if kind not in _ACCESSES or i.opcode in _QUERIES:
        return 0
    if kind == OpClass.ASYNC_COPY:
        return next((o.value for o in i.operands[2:3] if hasattr(o, "value")), 4)
    if i.opcode in ("ldmatrix", "stmatrix"):
        return 16
    if i.opcode == "wmma":
        return fragment_width(i)
    sizes = [type_bytes(w) for w in i.modifiers if _is_type(w)]
    size = sizes[-1] if sizes else 8
    vectors = [int(w[1:]) for w in i.modifiers if w in ("v2", "v4", "v8")]
    return min(size * (vectors[0] if vectors else 1), 64)


def _is_type(word: str) -> bool:
    return word[:1] in "bsuf" and word[1:].partition("x")[0].isdigit()


def policy_of(i: Instruction) -> int:
    """CachePolicy bits that the modifiers ask for; of what accesses no memory, they say others."""
    if i.opcode in ("membar", "fence"):
        return _ordered_by(i.modifiers)
    if i.opcode == "barrier":
        return 0
    policy = 0
    for word in i.modifiers:
        policy |= _POLICIES.get(word, 0)
        if i.opcode in ("ld", "st", "atom", "red"):
            policy |= _ORDERS.get(word, 0)
    return policy


def _ordered_by(words: tuple[str, ...]) -> int:
    """What a fence orders: both ways, but for those of one; of other kinds nothing."""
    if not {"proxy", "mbarrier_init"}.isdisjoint(words):
        return 0
    both = CachePolicy.ACQUIRE | CachePolicy.RELEASE
    ways = sum({_ORDERS[word] for word in ("acquire", "release") if word in words})
    return (ways or both) | (CachePolicy.OF_CTA if "cta" in words else 0)


def immediate_of(i: Instruction) -> int:
    """Barrier number, groups that a wait leaves open, columns, nanoseconds; 0 if not constant."""
    if i.opcode in ("bar", "barrier"):
        return _constant(numbers(i)[:1])
    if i.opcode == "wgmma" and (shapes := list(filter(None, map(_GROUP_SHAPE.match, i.modifiers)))):
        return int(shapes[0][1])
    return _constant(i.operands[:1]) if i.opcode in ("cp", "nanosleep", "wgmma") else 0


def threads_of(i: Instruction) -> int:
    """The threads that a barrier waits for; 0 = all of the CTA, or not constant."""
    return _constant(numbers(i)[1:]) if i.opcode in ("bar", "barrier") else 0


def _constant(operands: Sequence[Operand]) -> int:
    return operands[0].value if operands and isinstance(operands[0], Immediate) else 0
