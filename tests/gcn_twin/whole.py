"""Twins of the integer operations of the vector unit, element by element with Python's integers."""

import numpy as np

WORD, LONG = (1 << 32) - 1, (1 << 64) - 1


def signed(x, bits=32):
    """The two's complement reading of the low bits."""
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> bits - 1 else x


def each(function, bits=32):
    """A twin from a function of integers; a tuple's second result is a predicate."""
    kind = np.dtype(f"uint{bits}")

    def twin(*arrays):
        rows = [function(*row) for row in zip(*(a.tolist() for a in arrays))]
        if isinstance(rows[0], tuple):
            first, second = zip(*rows)
            return (
                np.array([v & (1 << bits) - 1 for v in first], kind),
                np.array(second, bool),
            )
        return np.array([v & (1 << bits) - 1 for v in rows], kind)

    return twin


def _carry(total):
    return total, total >> 32 != 0


def low24(x, is_signed):
    return signed(x, 24) if is_signed else x & 0xFFFFFF


def both(x, y, is_signed):
    return (signed(x), signed(y)) if is_signed else (x, y)


INTEGER = {
    "v_add_i32": each(lambda x, y: _carry(x + y)),
    "v_sub_i32": each(lambda x, y: _carry(x - y)),
    "v_subrev_i32": each(lambda x, y: _carry(y - x)),
    "v_addc_u32": each(lambda x, y, c: _carry(x + y + c)),
    "v_subb_u32": each(lambda x, y, c: _carry(x - y - c)),
    "v_subbrev_u32": each(lambda x, y, c: _carry(y - x - c)),
    "v_mul_lo_u32": each(lambda x, y: x * y),
    "v_mul_lo_i32": each(lambda x, y: x * y),
    "v_sad_u32": each(lambda x, y, z: abs(x - y) + z),
}
for _letter, _is in (("u", False), ("i", True)):
    INTEGER |= {
        f"v_mul_hi_{_letter}32": each(
            lambda x, y, s=_is: both(x, y, s)[0] * both(x, y, s)[1] >> 32
        ),
        f"v_mul_{_letter}32_{_letter}24": each(lambda x, y, s=_is: low24(x, s) * low24(y, s)),
        f"v_mul_hi_{_letter}32_{_letter}24": each(
            lambda x, y, s=_is: low24(x, s) * low24(y, s) >> 32
        ),
        f"v_mad_{_letter}32_{_letter}24": each(
            lambda x, y, z, s=_is: low24(x, s) * low24(y, s) + z
        ),
        f"v_min_{_letter}32": each(lambda x, y, s=_is: min(both(x, y, s))),
        f"v_max_{_letter}32": each(lambda x, y, s=_is: max(both(x, y, s))),
    }
    for _name, _place in (("min3", 0), ("med3", 1), ("max3", 2)):
        INTEGER[f"v_{_name}_{_letter}32"] = each(
            lambda x, y, z, s=_is, k=_place: sorted([signed(v) if s else v for v in (x, y, z)])[k]
        )


def leading(x, bits=32):
    """Zeros above the highest bit that is set, -1 if there is none."""
    return bits - x.bit_length() if x else -1


def leading_of_sign(x, bits=32):
    return leading(~x & (1 << bits) - 1 if x >> bits - 1 else x, bits)


def lowest(x):
    return (x & -x).bit_length() - 1


def mirrored(x, bits=32):
    return int(f"{x:0{bits}b}"[::-1], 2)


def field(x, start, length, is_signed, bits=32):
    """The field from a bit on, which may go beyond the top."""
    if length == 0:
        return 0
    part = (signed(x, bits) if is_signed else x) >> start
    if start + length >= bits:
        return part
    return signed(part, length) if is_signed else part & (1 << length) - 1


def below(lane, x, first):
    return (x & (1 << max(0, min(32, lane % 64 - first))) - 1).bit_count()


def counted_below(first):
    def twin(x, total):
        counts = [below(k, int(v), first) for k, v in enumerate(x)]
        return total + np.array(counts, np.uint32)

    return twin


BITS = {
    "v_and_b32": each(lambda x, y: x & y),
    "v_or_b32": each(lambda x, y: x | y),
    "v_xor_b32": each(lambda x, y: x ^ y),
    "v_lshl_b32": each(lambda x, n: x << n % 32),
    "v_lshr_b32": each(lambda x, n: x >> n % 32),
    "v_ashr_i32": each(lambda x, n: signed(x) >> n % 32),
    "v_lshlrev_b32": each(lambda n, x: x << n % 32),
    "v_lshrrev_b32": each(lambda n, x: x >> n % 32),
    "v_ashrrev_i32": each(lambda n, x: signed(x) >> n % 32),
    "v_lshl_b64": each(lambda x, n: x << n % 64, 64),
    "v_lshr_b64": each(lambda x, n: x >> n % 64, 64),
    "v_ashr_i64": each(lambda x, n: signed(x, 64) >> n % 64, 64),
    "v_bfm_b32": each(lambda length, start: (1 << length % 32) - 1 << start % 32),
    "v_bcnt_u32_b32": each(lambda x, total: x.bit_count() + total),
    "v_mbcnt_lo_u32_b32": counted_below(0),
    "v_mbcnt_hi_u32_b32": counted_below(32),
    "v_mov_b32": each(lambda x: x),
    "v_not_b32": each(lambda x: ~x),
    "v_bfrev_b32": each(mirrored),
    "v_ffbh_u32": each(leading),
    "v_ffbh_i32": each(leading_of_sign),
    "v_ffbl_b32": each(lowest),
    "v_bfe_u32": each(lambda x, start, length: field(x, start % 32, length % 32, False)),
    "v_bfe_i32": each(lambda x, start, length: field(x, start % 32, length % 32, True)),
    "v_bfi_b32": each(lambda chosen, x, y: chosen & x | ~chosen & y),
    "v_alignbit_b32": each(lambda high, low, n: (high << 32 | low) >> n % 32),
    "v_alignbyte_b32": each(lambda high, low, n: (high << 32 | low) >> 8 * (n % 4)),
    "v_cndmask_b32": each(lambda x, y, mask: y if mask else x),
}


def parts(x, bits=8, count=4):
    return [x >> bits * k & (1 << bits) - 1 for k in range(count)]


def apart(x, y, bits=8, masked=False):
    """The sum of absolute differences of parts."""
    pairs = zip(parts(x, bits, 32 // bits), parts(y, bits, 32 // bits))
    return sum(abs(p - q) for p, q in pairs if q or not masked)


def _packed(values, bits):
    return sum((v & (1 << bits) - 1) << bits * k for k, v in enumerate(values))


def _four_sums(x, y, totals):
    sums = parts(totals, 16)
    return _packed([apart(x >> 8 * k & WORD, y, masked=True) + sums[k] for k in range(4)], 16)


def _means(x, y, z):
    return _packed([p + q + (r & 1) >> 1 for p, q, r in zip(parts(x), parts(y), parts(z))], 8)


PACKED = {
    "v_sad_u8": each(lambda x, y, z: apart(x, y) + z),
    "v_sad_u16": each(lambda x, y, z: apart(x, y, 16) + z),
    "v_sad_hi_u8": each(lambda x, y, z: (apart(x, y) << 16) + z),
    "v_msad_u8": each(lambda x, y, z: apart(x, y, masked=True) + z),
    "v_lerp_u8": each(_means),
    "v_mqsad_pk_u16_u8": each(_four_sums, 64),
}
