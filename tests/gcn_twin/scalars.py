"""Twins of the operations of the scalar unit, with Python's integers."""

from gcn_twin.whole import WORD, each, field, leading, leading_of_sign, lowest, mirrored, signed


def changed(function, bits=32, width=None):
    """With SCC: is the result, of ``width`` bits, not zero."""
    ones = (1 << (width or bits)) - 1

    def flagged(*operands):
        result = function(*operands) & ones
        return result, result != 0

    return each(flagged, bits)


def overflow(total):
    return total, signed(total) != total


def carry(total):
    return total, total < 0 or total > WORD


def immediate(x):
    return signed(x, 16)


def quads(x, bits):
    return [bool(x >> k & 15) for k in range(0, bits, 4)]


def mask_of(flags, step, unit):
    return sum(unit << step * k for k, flag in enumerate(flags) if flag)


def condition(function):
    """A comparison, whose only result is SCC."""
    twin = each(lambda *v: int(function(*v)))
    return lambda *arrays: twin(*arrays) != 0


SCALAR = {
    "s_add_u32": each(lambda x, y: carry(x + y)),
    "s_sub_u32": each(lambda x, y: carry(x - y)),
    "s_addc_u32": each(lambda x, y, c: carry(x + y + c)),
    "s_subb_u32": each(lambda x, y, c: carry(x - y - c)),
    "s_add_i32": each(lambda x, y: overflow(signed(x) + signed(y))),
    "s_sub_i32": each(lambda x, y: overflow(signed(x) - signed(y))),
    "s_addk_i32": each(lambda x, k: overflow(signed(x) + immediate(k))),
    "s_mulk_i32": each(lambda x, k: overflow(signed(x) * immediate(k))),
    "s_mul_i32": each(lambda x, y: x * y),
    "s_min_u32": each(lambda x, y: (min(x, y), x < y)),
    "s_max_u32": each(lambda x, y: (max(x, y), x > y)),
    "s_min_i32": each(lambda x, y: (min(signed(x), signed(y)), signed(x) < signed(y))),
    "s_max_i32": each(lambda x, y: (max(signed(x), signed(y)), signed(x) > signed(y))),
    "s_absdiff_i32": changed(lambda x, y: abs(signed(signed(x) - signed(y)))),
    "s_abs_i32": changed(lambda x: abs(signed(x))),
    "s_movk_i32": each(immediate),
    "s_cmovk_i32": each(lambda old, k, c: immediate(k) if c else old),
    "s_sext_i32_i8": each(lambda x: signed(x, 8)),
    "s_sext_i32_i16": each(lambda x: signed(x, 16)),
}
_LOGIC = {
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "andn2": lambda x, y: x & ~y,
    "orn2": lambda x, y: x | ~y,
    "nand": lambda x, y: ~(x & y),
    "nor": lambda x, y: ~(x | y),
    "xnor": lambda x, y: ~(x ^ y),
}
for _bits in (32, 64):
    _b, _ones = f"b{_bits}", (1 << _bits) - 1
    _how = {"bits": _bits}
    SCALAR |= {f"s_{name}_{_b}": changed(twin, **_how) for name, twin in _LOGIC.items()}
    for _letter, _is in (("u", False), ("i", True)):
        SCALAR[f"s_bfe_{_letter}{_bits}"] = changed(
            lambda x, p, n=_bits, s=_is: field(x, p % n, p >> 16 & 127, s, n), **_how
        )
    SCALAR |= {
        f"s_lshl_{_b}": changed(lambda x, k, n=_bits: x << k % n, **_how),
        f"s_lshr_{_b}": changed(lambda x, k, n=_bits: x >> k % n, **_how),
        f"s_ashr_i{_bits}": changed(lambda x, k, n=_bits: signed(x, n) >> k % n, **_how),
        f"s_not_{_b}": changed(lambda x: ~x, **_how),
        f"s_mov_{_b}": each(lambda x: x, _bits),
        f"s_brev_{_b}": each(lambda x, n=_bits: mirrored(x, n), _bits),
        f"s_wqm_{_b}": changed(lambda x, n=_bits: mask_of(quads(x, n), 4, 15), **_how),
        f"s_quadmask_{_b}": changed(lambda x, n=_bits: mask_of(quads(x, n), 1, 1), **_how),
        f"s_bcnt0_i32_{_b}": changed(lambda x, m=_ones: (x ^ m).bit_count()),
        f"s_bcnt1_i32_{_b}": changed(lambda x: x.bit_count()),
        f"s_ff0_i32_{_b}": each(lambda x, m=_ones: lowest(x ^ m)),
        f"s_ff1_i32_{_b}": each(lowest),
        f"s_flbit_i32_{_b}": each(lambda x, n=_bits: leading(x, n)),
        f"s_bitset0_{_b}": each(lambda k, old, n=_bits: old & ~(1 << k % n), _bits),
        f"s_bitset1_{_b}": each(lambda k, old, n=_bits: old | 1 << k % n, _bits),
        f"s_bitcmp0_{_b}": condition(lambda x, k, n=_bits: not x >> k % n & 1),
        f"s_bitcmp1_{_b}": condition(lambda x, k, n=_bits: x >> k % n & 1),
        f"s_cselect_{_b}": each(lambda x, y, c: x if c else y, _bits),
        f"s_cmov_{_b}": each(lambda x, old, c: x if c else old, _bits),
        f"s_bfm_{_b}": each(lambda k, at, n=_bits: (1 << k % n) - 1 << at % n, _bits),
    }
SCALAR["s_flbit_i32"] = each(leading_of_sign)
SCALAR["s_flbit_i32_i64"] = each(lambda x: leading_of_sign(x, 64))
_ORDERS = {
    "eq": lambda x, y: x == y,
    "lg": lambda x, y: x != y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
}
for _name, _order in _ORDERS.items():
    SCALAR |= {
        f"s_cmp_{_name}_i32": condition(lambda x, y, o=_order: o(signed(x), signed(y))),
        f"s_cmp_{_name}_u32": condition(lambda x, y, o=_order: o(x, y)),
        f"s_cmpk_{_name}_i32": condition(lambda x, k, o=_order: o(signed(x), immediate(k))),
        f"s_cmpk_{_name}_u32": condition(lambda x, k, o=_order: o(x, k & 0xFFFF)),
    }
