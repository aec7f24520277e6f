"""The 5-tuple of a kernel: beside a twin of dictionaries, and for the patterns of the paper."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from gmap_models import BASES, kernel_of, random_tuple
from lockstep.builder.kernel import KernelBuilder
from lockstep.caches.accesses import BARRIER
from lockstep.caches.coalescer import Coalescer
from lockstep.frontend.proxy.gmap.sites import COLD, LINE_BYTES, LOCAL, NOTHING
from lockstep.isa.instruction import OpClass
from lockstep.proxies.gmap import profile
from lockstep.proxies.regions import Regions

BASE = 0x7F0000000000


def profiled(made):
    launch = profile.GmapProfile(made)
    for cta in made.ctas():
        launch.add(cta)
    base = np.array([0, *BASES, BASE])
    return launch.fitted(Regions(base, np.full(4, 1 << 40)))


def built(write, grid=4, block=64):
    k = KernelBuilder("k", grid=grid, block=block)
    write(k)
    return profiled(k.kernel()).model.five


class Twin:
    """Counts what a profile has, warp by warp and line by line."""

    def __init__(self, made):
        self.first, self.paths, last = {}, Counter(), {}
        self.inter, self.intra = defaultdict(Counter), defaultdict(Counter)
        self.reuse = defaultdict(Counter)
        coalesce = Coalescer(made)
        for cta in made.ctas():
            accesses = coalesce(cta)
            for w in range(len(accesses.first) - 1):
                self.see(accesses, accesses.steps[accesses.first[w] : accesses.first[w + 1]], last)

    def see(self, accesses, steps, before):
        path, last, stack, distances = [], {}, [], []
        for step in steps:
            site = int(step["site"])
            if step["kind"] >= BARRIER:
                path.append((site, 0))
            for k in range(step["lines"]):
                line = int(accesses.lines["line"][step["first"] + k])
                path.append((site, k))
                self.first.setdefault(site, line)
                if site in last:
                    self.intra[site][line - last[site]] += 1
                elif site in before:
                    self.inter[site][line - before[site]] += 1
                if site not in last:
                    before[site] = line
                last[site] = line
                distances.append(stack.index(line) if line in stack else COLD)
                stack = [line] + [other for other in stack if other != line]
        self.paths[tuple(path)] += 1
        self.reuse[tuple(path)].update(distances)


def counted(histogram):
    return dict(zip(*(part.tolist() for part in histogram)))


@pytest.mark.parametrize("together", [1, 100, 1 << 16])
@pytest.mark.parametrize("seed", range(6))
def test_as_a_twin_counts(seed, together, monkeypatch):
    monkeypatch.setattr(profile, "_MOST_LINES", together)
    monkeypatch.setattr(profile, "THRESHOLD", 2.0)  # each path stands for itself
    made = kernel_of(random_tuple(seed, length=12), seed=seed)
    found, twin = profiled(made), Twin(made)
    model = found.model.five
    source = model.sites["pc"] // 16  # sites of a drawn kernel, by number of the instruction
    paths = {}
    for i in range(len(model.paths)):
        entries = tuple((int(source[e >> 5]), e & 31) for e in model.paths[i].tolist())
        paths[entries] = int(model.paths.warps[i])
        assert counted(model.reuse[i]) == twin.reuse[entries]
    assert paths == twin.paths
    for site, number in enumerate(source.tolist()):
        assert counted(model.inter[site]) == twin.inter[number]
        assert counted(model.intra[site]) == twin.intra[number]
        if number in twin.first:
            at = found.regions[model.sites["allocation"][site]]
            base = (0, *BASES, BASE)[at] // LINE_BYTES
            assert model.sites["base"][site] + base == twin.first[number]
    assert found.model.distinct == len(paths)


def test_a_profile_of_what_was_drawn_has_the_distributions_again():
    model = random_tuple(2, length=25)
    again = profiled(kernel_of(model, (64, 8, 1))).model.five
    assert again.warp_accesses == pytest.approx(model.warp_accesses, rel=0.05)
    number = again.sites["pc"] // 16
    for site, original in enumerate(number.tolist()):
        assert set(again.inter[site][0].tolist()) <= set(model.inter[original][0].tolist())


def grid_stride(k):
    """BLK: 480 CTAs of 128 threads go over their options together."""
    with k.loop(4):
        k("LDG.E R4, [R2]", address=k.coalesced(BASE, step=480 * 128 * 4))


def rows(k):
    """kmeans: a thread goes along the 34 features of its point."""
    with k.loop(34):
        k("LDG.E R4, [R2]", address=k.strided(BASE, 34 * 4, step=4))


def vectors(k):
    """SP: 128 CTAs of 256 threads; a vector has 4096 elements, and each pass takes 1024 of them."""
    with k.loop(4):
        k("LDG.E R4, [R2]", address=k.coalesced(BASE, step=1024 * 4))


@pytest.mark.parametrize(
    ("write", "grid", "block", "inter", "intra"),
    [
        (grid_stride, 480, 128, 128, 245_760),
        (rows, 8, 128, 4352, 128),
        (vectors, 4, 256, 128, 4096),
    ],
)
def test_dominant_strides_of_the_papers_table(write, grid, block, inter, intra):
    model = built(write, grid=grid, block=block)
    for histograms, stride in ((model.inter, inter), (model.intra, intra)):
        values, counts = histograms[0]
        assert values[np.argmax(counts)] * LINE_BYTES == stride


def test_a_store_of_all_lanes_writes_whole_sectors_and_a_scattered_one_does_not():
    def write(k):
        k("STG.E [R2], R4", address=k.coalesced(BASE))
        k("STG.E [R2], R4", address=k.strided(BASE, 64))
        k("LDG.E R4, [R2]", address=k.coalesced(BASE))

    assert built(write).sites["whole"].tolist() == [1, 0, 0]


def test_the_sectors_of_a_site_are_those_it_touches_most_often():
    model = built(lambda k: k("LDG.E R4, [R2]", address=k.strided(BASE + 32, 128)))
    assert model.sites["sectors"].tolist() == [0b0010]
    assert model.sites["op"].tolist() == [OpClass.LOAD]


def test_local_memory_has_a_piece_for_each_cta():
    def write(k):
        k("LDG.E R4, [R2]", address=k.broadcast(BASE))
        with k.loop(2):
            k("STL [R2], R4", address=k.broadcast(0, step=4))

    k = KernelBuilder("k", grid=3, block=64)
    write(k)
    found = profiled(k.kernel())
    model = found.model.five
    # Two warps, two words a thread: four lines a CTA, the second word two lines behind.
    assert found.regions == (3,)
    assert model.sites[["allocation", "base"]].tolist() == [(0, 0), (NOTHING, LOCAL)]
    assert counted(model.inter[1]) == {1: 3, 3: 2}
    assert counted(model.intra[1]) == {2: 6}
    assert found.model.allocations == 1


def test_sites_know_the_allocations_that_they_begin_in():
    def write(k):
        k("LDG.E R4, [R2]", address=k.coalesced(BASE + 256))
        k("LDG.E R4, [R2]", address=k.coalesced(5 << 40))
        k("STG.E [R2], R4", address=k.coalesced(BASE))

    k = KernelBuilder("k", grid=4, block=64)
    write(k)
    found = profiled(k.kernel())
    assert found.regions == (2, 3)
    assert found.model.five.sites["allocation"].tolist() == [1, 0, 1]
    assert found.model.five.sites["base"].tolist() == [2, (2 << 40) // LINE_BYTES, 0]


def test_a_kernel_that_accesses_nothing():
    model = built(lambda k: k("MOV R1, R2"))
    assert model.warp_accesses == 0
    assert len(list(kernel_of(model).ctas())) == 10
