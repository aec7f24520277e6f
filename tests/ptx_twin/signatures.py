"""Which types the operands of a pure instruction have, and which operation it is."""

from functools import lru_cache

from ptx_twin.table import OPERATIONS, is_float, typed

COUNTED = {"bfe": 1, "shl": 1, "shr": 1, "szext": 1, "bfi": 2, "shf": 2}
DOUBLE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
TO_U32 = ("popc", "clz", "bfind")
ALL_B32 = ("fns", "bmsk", "prmt", "lop3", "dp4a", "dp2a")


@lru_cache(None)
def name_of(opcode, words):
    """The key in the table."""
    if opcode == "cvt" and "pack" in words:
        return "cvt.pack"
    if opcode in OPERATIONS:
        return opcode
    kinds = typed(words)
    key = f"{opcode}.{'float' if kinds and is_float(kinds[-1]) else 'int'}"
    return key if key in OPERATIONS else None


@lru_cache(None)
def signature(opcode, words, count):
    """``(kind, result types, source types)`` for ``count`` source operands."""
    kinds = typed(words) or ("b32",)
    kind = kinds[-1]
    if opcode in COUNTED:
        plain = COUNTED[opcode]
        return kind, [kind], [kind] * plain + ["u32"] * (count - plain)
    if opcode in ALL_B32:
        sources = ["b32"] * min(count, 4) + ["pred"] * (count - 4)
        return kind, ["b32", "pred"], sources
    if opcode in TO_U32:
        return kind, ["u32"], [kind]
    if opcode in ("set", "setp"):
        result = kinds[0] if opcode == "set" else "pred"
        return kind, [result, "pred"], [kind, kind, "pred"][:count]
    if opcode == "cvt" and "pack" in words:
        return kind, ["b32"], ["b32"] * count
    if opcode == "cvt":
        return kind, [kinds[-2]], [kind] * count
    return _others(opcode, words, count, kinds)


def _others(opcode, words, count, kinds):
    kind = kinds[-1]
    if opcode == "testp":
        return kind, ["pred"], [kind]
    if opcode == "selp":
        return kind, [kind], [kind, kind, "pred"]
    if opcode == "slct":
        return kind, [kinds[0]], [kinds[0], kinds[0], kind]
    if "wide" in words:
        return kind, [DOUBLE[kind]], [kind, kind, DOUBLE[kind]][:count]
    return kind, [kind], [kind] * count
