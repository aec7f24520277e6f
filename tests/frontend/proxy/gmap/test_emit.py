"""Instructions and addresses of lines that were drawn: a coalescer finds the lines again."""

import numpy as np
import pytest

from gmap_models import kernel_of, launched, only, random_tuple
from lockstep.caches.accesses import ATOMIC, BARRIER, INVALIDATE, READ, WRITE
from lockstep.caches.coalescer import Coalescer
from lockstep.frontend.proxy.gmap.ctas import CtaGenerator
from lockstep.frontend.proxy.gmap.sites import ORDINAL_BITS
from lockstep.isa.instruction import OpClass, verify

KINDS = {
    OpClass.LOAD: READ,
    OpClass.STORE: WRITE,
    OpClass.ATOMIC: ATOMIC,
    OpClass.BARRIER: BARRIER,
    OpClass.CACHE_CONTROL: INVALIDATE,
}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("warp_size", [32, 64])
def test_a_coalescer_finds_the_lines_that_were_drawn(seed, warp_size):
    known, launch = random_tuple(seed), launched(warp_size=warp_size, seed=seed)
    made = kernel_of(known, seed=seed, warp_size=warp_size)
    generator = CtaGenerator(known, launch, launch.grid)
    coalesce = Coalescer(made)
    for number, cta in enumerate(made.ctas()):
        chosen, begin, lines = generator.lines(number)
        found = coalesce(cta)
        assert found.lines["line"].tolist() == lines.tolist()
        for w, path in enumerate(chosen.tolist()):
            steps = found.steps[found.first[w] : found.first[w + 1]]
            entries = known.paths[path]
            sites = np.repeat(steps["site"], np.maximum(steps["lines"], 1))
            assert sites.tolist() == (entries >> ORDINAL_BITS).tolist()
            kinds = [KINDS[OpClass(op)] for op in known.sites["op"][steps["site"]]]
            assert steps["kind"].tolist() == kinds
            assert steps["lines"].sum() == begin[w + 1] - begin[w]


@pytest.mark.parametrize("seed", range(4))
def test_every_sector_of_a_site_is_touched_where_lanes_suffice(seed):
    known = random_tuple(seed)
    made = kernel_of(known)
    for cta in made.ctas():
        found = Coalescer(made)(cta)
        step = np.repeat(np.arange(len(found.steps)), found.steps["lines"])
        site = found.steps["site"][step]
        assert found.lines["sectors"].tolist() == known.sites["sectors"][site].tolist()


def wide(lines, stride=1, **site):
    """A kernel of one warp that executes an instruction of so many lines."""
    known = random_tuple(0, sites=1)
    for name, value in site.items():
        known.sites[name] = value
    found = only(
        known,
        np.arange(lines),
        intra=(np.array([stride]), np.array([1])),
        reuse=(np.array([-1]), np.array([1])),
    )
    return kernel_of(found, (1, 1, 1), (32, 1, 1))


@pytest.mark.parametrize(
    ("lines", "sectors"), [(8, 0b1111), (9, 0b0111), (16, 0b0011), (17, 0b0001), (32, 0b0001)]
)
def test_lanes_that_do_not_suffice_leave_the_last_sectors_out(lines, sectors):
    made = wide(lines, sectors=0b1111, op=OpClass.LOAD)
    (cta,) = made.ctas()
    found = Coalescer(made)(cta)
    assert found.steps["lines"].tolist() == [lines]
    assert set(found.lines["sectors"].tolist()) == {sectors}


@pytest.mark.parametrize(("lines", "lanes"), [(4, 32), (5, 20)])
def test_two_lanes_write_a_whole_sector_where_lanes_suffice(lines, lanes):
    made = wide(lines, sectors=0b1111, op=OpClass.STORE, whole=1)
    assert made.code.instructions["width"][0] == 16
    (cta,) = made.ctas()
    assert int(cta.runs["mask"][0]).bit_count() == lanes


def test_a_line_that_repeats_begins_another_instruction():
    made = wide(4, stride=0, op=OpClass.LOAD)
    (cta,) = made.ctas()
    assert Coalescer(made)(cta).steps["lines"].tolist() == [1, 1, 1, 1]


def test_the_code_can_be_executed_and_ends():
    made = kernel_of(random_tuple(3, sites=12))
    verify(made.code.instructions, made.code.texts)
    assert made.code.instructions["op"][-1] == OpClass.EXIT
    for cta in made.ctas():
        last = cta.warps["first_run"] + cta.warps["runs"] - 1
        assert (cta.runs["static"][last] == len(made.code) - 1).all()


def test_reading_again_gives_the_same():
    made = kernel_of(random_tuple(4), seed=2)
    first, again = list(made.ctas()), list(made.ctas())
    for a, b in zip(first, again):
        assert a.addresses.tobytes() == b.addresses.tobytes()
        assert a.pool.tobytes() == b.pool.tobytes()
        assert a.warps.tobytes() == b.warps.tobytes()
