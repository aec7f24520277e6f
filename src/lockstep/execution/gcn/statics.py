"""The static instruction records of a kernel, for the timing model and the profile.

They list no registers: what waits for memory waits by ``s_waitcnt``, and nothing else has to.
"""

import re
from collections.abc import Sequence

import numpy as np

from lockstep.execution.gcn.formats import CHANNELS
from lockstep.isa.gcn.instruction import Format, Instruction
from lockstep.isa.instruction import CachePolicy, OpClass, Space, blank

Access = tuple[OpClass, Space, int]  # class, memory, bytes of a lane; 0 = it accesses nothing

_SCALAR = (Format.SOP1, Format.SOP2, Format.SOPC, Format.SOPK)
_PROGRAM = {
    "s_endpgm": OpClass.EXIT,
    "s_barrier": OpClass.BARRIER,
    "s_waitcnt": OpClass.WAIT_COUNT,
    "s_branch": OpClass.BRANCH,
}
_WORD_BYTES = {
    "byte": 1, "ubyte": 1, "sbyte": 1, "short": 2, "ushort": 2, "sshort": 2, "dword": 4,
    "dwordx2": 8, "dwordx4": 16, "dwordx8": 32, "dwordx16": 64, "x": 4, "xy": 8, "xyz": 12,
    "xyzw": 16, "b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b64": 8, "u64": 8,
    "i64": 8, "f64": 8,
}  # fmt: skip
_ELEMENTARY = re.compile(r"v_(rcp|rsq|sqrt|sin|cos|exp|log)_")
_PRODUCTS = re.compile(r"v_(mul_(lo|hi)_[iu]32|mad_[iu]64_[iu]32)$")  # of 32 bits, at a quarter
_DOUBLE = re.compile(r"_f64")


def static_code(code: Sequence[Instruction]) -> tuple[np.ndarray, list[str]]:
    """INSTRUCTION records, one an instruction, and the display texts that they refer to."""
    numbers: dict[str, int] = {}
    records = blank(len(code))
    for record, instruction in zip(records, code):
        record["pc"] = instruction.offset
        record["text"] = numbers.setdefault(instruction.name, len(numbers))
        record["op"], record["space"], record["width"] = access_of(instruction)
        record["cache"] = cache_of(instruction)
        if instruction.name == "s_waitcnt":
            record["immediate"] = instruction.fields["simm16"]
    return records, list(numbers)


def access_of(i: Instruction) -> Access:
    """Class, memory space and width of an instruction."""
    if i.format in (Format.DS, Format.MUBUF, Format.MTBUF, Format.MIMG):
        return _memory(i)
    if i.format == Format.SMRD:
        width = _WORD_BYTES.get(i.name.rpartition("_")[2], 0)
        return OpClass.SCALAR_LOAD, Space.GLOBAL if width else Space.NONE, width
    if i.format in _SCALAR:
        return OpClass.SCALAR, Space.NONE, 0
    if i.format == Format.SOPP:
        branch = OpClass.BRANCH if i.name.startswith("s_cbranch") else OpClass.NOP
        return _PROGRAM.get(i.name, branch), Space.NONE, 0
    return vector_class(i.name), Space.NONE, 0


def vector_class(name: str) -> OpClass:
    """What a vector instruction does, by its rate."""
    if name.startswith("v_cvt"):
        return OpClass.FP64 if _DOUBLE.search(name) else OpClass.CONVERT
    if _ELEMENTARY.match(name):
        return OpClass.SFU
    if _PRODUCTS.match(name):
        return OpClass.IMAD
    if _DOUBLE.search(name):
        return OpClass.FP64
    if name.startswith(("v_mov", "v_read", "v_write", "v_cndmask")):
        return OpClass.MOVE
    return OpClass.FP32 if "_f32" in name else OpClass.INT32


def _memory(i: Instruction) -> Access:
    """What an access is, and the bytes of a lane at an address, of which LDS forms have two."""
    space = Space.SHARED if i.format == Format.DS else Space.GLOBAL
    words = i.name.split("_")
    width = _WORD_BYTES.get(words[-1], 4)
    if i.format == Format.MIMG:
        width = 4 * (CHANNELS if "gather4" in words else i.fields["dmask"].bit_count())
    if "x2" in words:
        width = 8
    if not {"load", "sample", "gather4", "read", "read2", "read2st64"}.isdisjoint(words):
        op = OpClass.LOAD
    elif not {"store", "write", "write2", "write2st64"}.isdisjoint(words):
        op = OpClass.STORE
    elif "wbinvl1" in words:
        return OpClass.CACHE_CONTROL, Space.NONE, 0
    elif i.name == "image_get_resinfo":
        return OpClass.MOVE, Space.NONE, 0
    elif i.name == "ds_swizzle_b32":
        return OpClass.SHUFFLE, Space.NONE, 0
    else:
        returns = "rtn" in words or i.fields.get("glc", 0)
        op = OpClass.ATOMIC if returns else OpClass.REDUCTION
    return op, space, width


def cache_of(i: Instruction) -> CachePolicy:
    """GLC goes past the L1, SLC streams through the L2."""
    policy = CachePolicy.DEFAULT
    if i.fields.get("glc", 0) and "atomic" not in i.name:
        policy |= CachePolicy.BYPASS_L1
    if i.fields.get("slc", 0):
        policy |= CachePolicy.STREAMING
    if i.name.startswith("buffer_wbinvl1"):
        policy |= CachePolicy.INVALIDATE
    return policy
