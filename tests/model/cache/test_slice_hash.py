"""Slice hash: no conflicts on powers of two, nothing lost, the definitions by long division."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.model.cache import slice_hash
from lockstep.model.cache.slice_hash import PRIMITIVE

pytestmark = pytest.mark.plain

COUNTS = st.integers(1, 200)
KINDS = st.sampled_from(["linear", "xor", "ipoly"])
NUMBERS = st.integers(0, (1 << 50) - 1)


def remainder_of_polynomials(number, divisor):
    """Long division over GF(2)."""
    while number.bit_length() >= divisor.bit_length():
        number ^= divisor << (number.bit_length() - divisor.bit_length())
    return number


def fold(number, width):
    """Exclusive-or of the digits of a number."""
    result = 0
    while number and width:
        result ^= number & ((1 << width) - 1)
        number >>= width
    return result


def split(count):
    """An index count as its odd factor and the exponent of its power of two."""
    power = (count & -count).bit_length() - 1
    return count >> power, power


def naive(kind, count, number):
    """The definitions of the module's docstring, one by one."""
    odd, power = split(count)
    q, r = divmod(number, odd)
    if kind == "linear":
        f = q % (1 << power)
    elif kind == "xor":
        f = fold(q, power)
    else:
        f = remainder_of_polynomials(q, PRIMITIVE[power]) if power else 0
    return odd * f + r


@given(KINDS, COUNTS, NUMBERS)
def test_an_index_is_what_the_definition_says(kind, count, number):
    index = slice_hash.index_of(slice_hash.build(kind, count), number)
    assert index == naive(kind, count, number)
    assert 0 <= index < count


@given(COUNTS, NUMBERS)
def test_linear_is_the_remainder(count, number):
    assert slice_hash.index_of(slice_hash.build("linear", count), number) == number % count


@given(COUNTS, st.integers(0, 24), st.integers(0, 1 << 16))
def test_ipoly_has_no_conflict_on_any_power_of_two_stride(count, exponent, start):
    hash_ = slice_hash.build("ipoly", count)
    numbers = [((start * count + i) << exponent) for i in range(count)]
    assert len({int(slice_hash.index_of(hash_, n)) for n in numbers}) == count


def test_linear_has_conflicts_where_ipoly_has_none():
    numbers = [i * 32 for i in range(32)]
    linear, ipoly = (slice_hash.build(kind, 32) for kind in ("linear", "ipoly"))
    assert {int(slice_hash.index_of(linear, n)) for n in numbers} == {0}
    assert len({int(slice_hash.index_of(ipoly, n)) for n in numbers}) == 32


@given(KINDS, COUNTS, st.integers(0, 1 << 20), st.sampled_from([1, 96, 128, 256, 4096]))
def test_index_and_local_block_give_the_block_back(kind, count, group, unit):
    """The blocks of one aligned group are on all indices, once, at the same local position."""
    hash_ = slice_hash.build(kind, count, unit)
    blocks = range(group * count, (group + 1) * count)
    last_byte = unit - 1
    assert {int(slice_hash.local_block(hash_, b * unit + last_byte)) for b in blocks} == {group}
    found = {int(slice_hash.index_of(hash_, b * unit + last_byte)) for b in blocks}
    assert found == set(range(count))


@given(st.sampled_from([64, 128, 256]), NUMBERS)
def test_all_bytes_of_a_unit_are_on_one_slice(unit, number):
    hash_ = slice_hash.build("ipoly", 24, unit)
    start = number // unit * unit
    assert slice_hash.index_of(hash_, start) == slice_hash.index_of(hash_, start + unit - 1)


@pytest.mark.parametrize("degree", range(1, len(PRIMITIVE)))
def test_the_polynomials_are_primitive(degree):
    """x generates all residues but 0: x**(2**k - 1) == 1, and no power below does."""
    polynomial = PRIMITIVE[degree]
    assert polynomial.bit_length() == degree + 1
    order = (1 << degree) - 1

    def power(exponent):
        result, base = 1, remainder_of_polynomials(2, polynomial)
        while exponent:
            result = multiply(result, base) if exponent & 1 else result
            base, exponent = multiply(base, base), exponent >> 1
        return result

    def multiply(a, b):
        product = 0
        for bit in range(b.bit_length()):
            product ^= (a << bit) if b >> bit & 1 else 0
        return remainder_of_polynomials(product, polynomial)

    assert power(order) == 1
    primes = [p for p in range(2, order + 1) if order % p == 0 and is_prime(p)]
    assert all(power(order // p) != 1 for p in primes if p != 1 and order > 1)


def is_prime(number):
    return all(number % d for d in range(2, int(number**0.5) + 1))


def test_a_users_hash_names_the_slice_modulo_their_number():
    asked = []

    def choose(address, slices):
        asked.append((int(address), int(slices)))
        return address // 128 + 5

    hash_ = slice_hash.build("user", 3, 256)
    assert [slice_hash.slice_of(hash_, a, choose) for a in (0, 128, 256)] == [2, 0, 1]
    assert asked == [(0, 3), (128, 3), (256, 3)]


def test_random_addresses_spread_evenly():
    hash_ = slice_hash.build("ipoly", 48, 256)
    addresses = np.random.default_rng(1).integers(0, 1 << 34, 4800)
    loads = np.bincount([slice_hash.index_of(hash_, int(a)) for a in addresses], minlength=48)
    assert loads.min() > 50 and loads.max() < 150
