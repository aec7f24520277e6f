"""Fewer accesses, and more: counted exactly."""

from fractions import Fraction

import numpy as np
import pytest

from gmap_models import kernel_of, launched, only, proxy_of, random_tuple
from lockstep.caches.coalescer import Coalescer
from lockstep.errors import WorkloadError
from lockstep.frontend.proxy.gmap.scale import longest_loop, scaled, shortened
from lockstep.frontend.proxy.gmap.sites import ORDINAL_BITS
from lockstep.isa.instruction import OpClass


def path(text):
    """An instruction a letter."""
    return np.array([(ord(c) - ord("a")) << ORDINAL_BITS for c in text], np.int64)


def text(entries):
    return "".join(chr(ord("a") + (e >> ORDINAL_BITS)) for e in entries)


@pytest.mark.parametrize(
    ("given", "loop"),
    [
        ("abcbcbcd", (1, 2, 3)),
        ("aaaa", (0, 1, 4)),
        ("abcd", (0, 4, 1)),
        ("", (0, 0, 1)),
        ("a", (0, 1, 1)),
        ("abbbcabbbcabbbcd", (0, 5, 3)),  # of nested loops, the one that saves more
        ("xabababyabz", (1, 2, 3)),
    ],
)
def test_the_longest_loop(given, loop):
    assert longest_loop(path(given)) == loop


def test_a_turn_begins_with_the_first_line_of_an_instruction():
    wide = [0, 1, 2]  # three lines
    entries = np.array([1 << ORDINAL_BITS, *wide, *wide, *wide], np.int64)
    assert longest_loop(entries) == (1, 3, 3)
    assert shortened(entries[2:], Fraction(1, 2)).tolist() == [1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("share", "left"),
    [("1/2", "abcbcbcd"), ("1/8", "abcd"), ("9/10", "abcbcbcbcbcbcd"), ("1", "abcbcbcbcbcbcbcd")],
)
def test_whole_turns_are_left_out(share, left):
    assert text(shortened(path("abcbcbcbcbcbcbcd"), Fraction(share))) == left


def loads(given):
    known = random_tuple(0, sites=4)
    known.sites["op"], known.sites["sectors"] = OpClass.LOAD, 15
    return only(known, path(given))


@pytest.mark.parametrize(
    ("given", "share", "length", "ctas"),
    [
        ("abababababababab", "1/8", 2, 64),  # turns do it all
        ("abababab", "1/8", 2, 32),  # turns save a quarter, CTAs a half
        ("abcd", "1/8", 4, 8),  # there is no loop
        ("abcd", "1/1000", 4, 1),  # one CTA stays
        ("abab", "3", 4, 192),
    ],
)
def test_what_turns_do_not_save_ctas_do(given, share, length, ctas):
    known, launch = loads(given), launched(grid=(8, 8, 1), scale=Fraction(share))
    paths, grid = scaled(known, launch)
    assert len(paths[0]) == length
    assert np.prod(grid) == ctas
    assert grid == ((8, 8, 1) if ctas == 64 else (ctas, 1, 1))


@pytest.mark.parametrize("share", ["1/2", "1/4", "1/8", "1/16"])
def test_as_many_accesses_as_were_asked_for(share):
    known = loads("ab" * 32)
    kernel = proxy_of(known, (40, 1, 1), (64, 1, 1)).workload(share).kernels[0]
    found = sum(len(Coalescer(kernel)(cta).lines) for cta in kernel.ctas())
    assert found == 40 * 2 * 64 * Fraction(share)


def test_a_workload_grows_by_ctas_whose_strides_go_on():
    known = loads("ab")
    whole, large = (proxy_of(known).workload(scale).kernels[0] for scale in (1, 3))
    assert large.n_ctas == 3 * whole.n_ctas
    for ours, theirs in zip(whole.ctas(), large.ctas()):
        assert ours.addresses.tobytes() == theirs.addresses.tobytes()


@pytest.mark.parametrize("scale", ["1025", "0", "-1", "x"])
def test_a_scale_that_cannot_be_is_refused(scale):
    with pytest.raises(WorkloadError, match="at most 1024"):
        proxy_of(loads("ab")).workload(scale)


def test_occupancy_is_what_it_was():
    more = {"registers": 77, "shared_bytes": 5000}
    whole = kernel_of(loads("ababab"), **more)
    small = proxy_of(loads("ababab"), **more).workload("1/4").kernels[0]
    for kernel in (whole, small):
        assert (kernel.registers, kernel.shared_bytes, kernel.threads) == (77, 5000, 96)
    assert small.n_ctas < whole.n_ctas


def test_of_scale_one_nothing_changes():
    known = random_tuple(3)
    assert scaled(known, launched()) == (known.paths, (5, 2, 1))
