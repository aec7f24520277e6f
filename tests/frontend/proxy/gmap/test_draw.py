"""Algorithm 1: beside a twin that follows the paper's text line by line."""

from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
import pytest

from gmap_models import launched, random_tuple
from lockstep.frontend.proxy.gmap import draw
from lockstep.frontend.proxy.gmap.ctas import KEPT, CtaGenerator
from lockstep.frontend.proxy.gmap.distributions import Histograms
from lockstep.frontend.proxy.gmap.sites import LINE_BYTES, LINE_MASK, ORDINAL_BITS


def sampled(histogram, number):
    """The value whose share of all counts ``number``, of 2**32, falls into; 0 if there is none."""
    values, counts = (part.tolist() for part in histogram)
    if not values:
        return 0
    target = number * sum(counts) >> 32
    return next(v for v, upto in zip(values, accumulate(counts)) if upto > target)


def twin(known, launch, counting):
    """The lines of each warp of each CTA, by dictionaries and lists."""
    starts = launch.bases[known.sites["allocation"]] // LINE_BYTES + known.sites["base"]
    base = dict(enumerate(starts.tolist()))
    shares = np.arange(len(known.paths)), known.paths.warps
    columns = 1 + len(known.sites)
    found = []
    for cta in range(np.prod(launch.grid)):
        stream = launch.seed, launch.number
        walk = draw.draws(*stream, draw.WALK, cta, launch.warps * columns).tolist()
        paths = [sampled(shares, walk[w * columns]) for w in range(launch.warps)]
        count = 2 * int(known.path_accesses[paths].sum())
        numbers = iter(draw.draws(*stream, draw.ACCESS, cta, count).tolist())
        for w, path in enumerate(paths):
            offsets = walk[w * columns + 1 : (w + 1) * columns]
            found.append(warp_lines(known, path, base, offsets, numbers, counting))
    return found


def warp_lines(known, path, base, offsets, numbers, counting):
    """Lines 3 to 21 for one warp; ``base`` is shared by all."""
    last, lines = {}, []
    for entry in known.paths[path].tolist():
        k = entry >> ORDINAL_BITS
        if known.markers[k]:
            continue
        first, second = next(numbers), next(numbers)
        if k not in last:
            base[k] = (base[k] + sampled(known.inter[k], offsets[k])) & LINE_MASK
            last[k] = base[k]
            lines.append(base[k])
            continue
        back = sampled(known.reuse[path], first)
        candidates = lines[::-1] if counting == draw.PUBLISHED else list(dict.fromkeys(lines[::-1]))
        if 0 <= back < len(candidates):
            again = candidates[back]
            if again - lines[-1] in known.intra[k][0].tolist():
                lines.append(again)
                continue
        last[k] = (last[k] + sampled(known.intra[k], second)) & LINE_MASK
        lines.append(last[k])
    return lines


@pytest.mark.parametrize("counting", draw.REUSES)
@pytest.mark.parametrize("seed", range(12))
def test_lines_are_those_of_the_paper(seed, counting):
    known, launch = random_tuple(seed), launched(seed=seed, number=3)
    generator = CtaGenerator(known, launch, launch.grid, counting)
    found = []
    for cta in range(np.prod(launch.grid)):
        _, begin, lines = generator.lines(cta)
        found += [lines[a:b].tolist() for a, b in pairwise(begin)]
    assert found == twin(known, launch, counting)
    assert any(found)


def lines_of(known, cta=0, counting=draw.PUBLISHED, **more):
    launch = launched(**more)
    return CtaGenerator(known, launch, launch.grid, counting).lines(cta)[2].tolist()


def test_reuse_of_distinct_lines_is_not_that_of_accesses():
    published, stack = (lines_of(random_tuple(1), counting=each) for each in draw.REUSES)
    assert published != stack


def test_ctas_are_the_same_in_any_order():
    launch = launched(grid=(3 * KEPT, 1, 1), seed=9)
    in_order, other = (CtaGenerator(random_tuple(5), launch, launch.grid) for _ in range(2))
    lines = [in_order.lines(cta)[2].tolist() for cta in range(launch.grid[0])]
    for cta in (2 * KEPT + 3, 0, 1, KEPT, KEPT - 1, 2 * KEPT + 2, 5):
        assert other.lines(cta)[2].tolist() == lines[cta], cta


@pytest.mark.parametrize("other", [{"seed": 1}, {"number": 1}])
def test_another_seed_or_launch_draws_otherwise(other):
    known = random_tuple(5)
    assert lines_of(known) == lines_of(known)
    assert lines_of(known) != lines_of(known, **other)


def test_other_bases_move_what_is_accessed_and_change_nothing_else():
    known, launch = random_tuple(5), launched()
    moved = replace(launch, bases=launch.bases + 7 * LINE_BYTES)
    found = (CtaGenerator(known, each, each.grid).lines(3)[2] for each in (launch, moved))
    first, second = found
    assert (second - first == 7).all()


def test_lines_stay_numbers_of_as_many_bits_as_addresses_have():
    known = random_tuple(5)
    far = replace(known, inter=Histograms.of([(np.array([-LINE_MASK]), np.array([1]))] * 6))
    assert all(0 <= line <= LINE_MASK for line in lines_of(far, cta=9))


@pytest.mark.long
def test_what_is_drawn_has_the_shares_that_were_counted():
    table = draw.table_of(Histograms.of([(np.array([3, 5, 9]), np.array([1, 2, 5]))]))
    numbers = draw.draws(0, 0, draw.ACCESS, 0, 80_000)
    found = np.array([draw.draw(table, 0, number) for number in numbers])
    for value, share in ((3, 1 / 8), (5, 2 / 8), (9, 5 / 8)):
        assert abs((found == value).mean() - share) < 0.01


def test_the_highest_and_the_lowest_number_draw_the_ends():
    none = np.zeros(0, np.int64)
    histograms = [(none, none), (np.array([-7, 0, 2**40]), np.array([1, 1, 1]))]
    table = draw.table_of(Histograms.of(histograms))
    assert draw.draw(table, 0, 5) == 0  # of nothing
    assert draw.draw(table, 1, 0) == -7
    assert draw.draw(table, 1, 2**32 - 1) == 2**40


def test_counts_that_are_too_large_to_draw_from_keep_their_proportions():
    histograms = Histograms.of([(np.array([1, 2]), np.array([1 << 40, 3 << 40]))])
    _, counts = histograms[0]
    assert counts.sum() < 1 << 31
    assert counts[1] / counts[0] == pytest.approx(3)
