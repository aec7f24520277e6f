"""What levels of privacy replace, round and blur, by both methods."""

from dataclasses import replace

import numpy as np
import pytest

from gmap_models import proxy_of, random_tuple
from lockstep.builder import KernelBuilder
from lockstep.errors import WorkloadError
from lockstep.frontend.proxy import LEVELS, Proxy, ProxyCopy, container
from lockstep.frontend.proxy.affine import AffineModel
from lockstep.frontend.proxy.gmap import GmapModel
from lockstep.proxies import profile
from lockstep.proxies.leaks import AccessTraces
from lockstep.proxies.levels import at_level
from lockstep.proxies.levels.hidden import FIRST, INTERLEAVING
from lockstep.proxies.levels.literals import has_literals
from lockstep.workload import MemoryCopy, Workload

BASES = (0x7F1234500000, 0x7F5A6B7C8100, 0x7F9D8E7F6000)
PITCH = 41 * 128  # bytes of a row: no multiple of a sixteenth of a power of two
METHODS = ("affine", "gmap")


def program(seed=None):
    """Two launches over three allocations; with a seed, a gather of irregular addresses."""
    k = KernelBuilder("secret_matrix_kernel", grid=(37, 2), block=64, stream=0x7F00C0FFEE)
    for base in BASES[:2]:
        with k.loop(40):
            k("LDG.E R4, [R2]", address=k.coalesced(base, step=PITCH))
    if seed is not None:
        with k.loop(12):
            k("LDG.E R4, [R2]", address=k.random(BASES[0], 1 << 20, seed=seed))
    k("STG.E [R2], R4", address=k.coalesced(BASES[2]))
    copies = [MemoryCopy(base, 1 << 20) for base in BASES]
    return Workload("secret_app", [*copies, k.kernel(1), k.kernel(2)])


def proxy(method, level, seed=None, **more):
    return profile(program(seed), method, level=level, **more)


def numbers(given, tmp_path):
    """All numbers that its file has, and its header as text."""
    path = tmp_path / "app.proxy"
    given.save(path)
    assert Proxy.load(path).level == given.level
    document, groups = container.read(path)
    columns = [column for group in groups for column in group.values()]
    return np.concatenate(columns), str(document)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", LEVELS)
def test_names_and_addresses_are_in_plain_files_alone(method, level, tmp_path):
    found, text = numbers(proxy(method, level), tmp_path)
    told = level == "plain"
    assert ("secret" in text) == told
    pages = {base >> 12 for base in BASES}
    assert bool(pages & set((found >> 12).tolist())) == told
    assert (0x7F00C0FFEE in found) == told


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_original_lines_are_in_plain_proxies_alone(method):
    given = AccessTraces()
    given.take(program())
    for level, share in (("plain", 0.5), ("hidden", 0.0), ("blurred", 0.0)):
        made = AccessTraces()
        made.take(proxy(method, level).workload())
        lines = given.leaks(made).lines
        assert lines >= share if share else lines == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_hidden_allocations_keep_their_sizes_and_places_in_what_is_interleaved(method):
    plain, hidden = proxy(method, "plain"), proxy(method, "hidden")
    assert sorted((a.bytes, a.base % INTERLEAVING) for a in hidden.allocations) == sorted(
        (a.bytes, a.base % INTERLEAVING) for a in plain.allocations
    )
    ranges = sorted((a.base, a.base + a.bytes) for a in hidden.allocations)
    assert ranges[0][0] >= FIRST
    assert all(end <= begin for (_, end), (begin, _) in zip(ranges, ranges[1:]))  # noqa: RUF007


@pytest.mark.parametrize("method", METHODS)
def test_what_a_hidden_proxy_accesses_has_only_moved(method):
    """Each line of the plain one, by its allocation, is the same line of the hidden one."""
    plain = proxy(method, "plain")
    random = np.random.default_rng(3)
    hidden = at_level(plain, "hidden", random=random)
    assert list(relative(hidden)) == list(relative(plain))


def relative(given):
    """Sizes of copies, and the lines of accesses counted from their allocations."""
    base = np.array([a.base for a in given.allocations])
    size = np.array([a.bytes for a in given.allocations])
    order = np.argsort(base)
    for command in given.workload().commands:
        if isinstance(command, MemoryCopy):
            yield command.bytes
            continue
        for cta in command.ctas():
            first = cta.addresses["first"]
            at = order[np.maximum(np.searchsorted(base[order], first, side="right") - 1, 0)]
            yield sorted(zip((first - base[at]).tolist(), size[at].tolist()))


def test_orders_of_allocations_differ_from_one_hidden_proxy_to_the_next():
    plain = proxy("gmap", "plain")
    known = {at_level(plain, "hidden").launches[0].allocations for _ in range(24)}
    assert len(known) > 1


def test_instructions_of_hidden_distributions_are_renumbered():
    five = random_tuple(1)
    five.sites["pc"] += 0x5550
    hidden = at_level(proxy_of(five), "hidden").models[0].five
    used = {entry >> 5 for entry in five.paths.entries.tolist()}
    assert hidden.sites["pc"].tolist() == [16 * n for n in range(len(used))]
    assert len(hidden.paths.entries) == len(five.paths.entries)
    longest = int(np.argmax(np.diff(five.paths.first)))
    ours, theirs = five.paths[longest] >> 5, hidden.paths[longest] >> 5
    assert five.sites["op"][ours].tolist() == hidden.sites["op"][theirs].tolist()
    for a, b in set(zip(ours.tolist(), theirs.tolist())):
        for name in ("inter", "intra"):
            mine, other = getattr(five, name)[a], getattr(hidden, name)[b]
            assert [part.tolist() for part in mine] == [part.tolist() for part in other]


@pytest.mark.parametrize("method", METHODS)
def test_blurred_strides_and_extents_have_four_digits_of_two(method, tmp_path):
    plain, _ = numbers(proxy(method, "plain"), tmp_path)
    blurred, _ = numbers(proxy(method, "blurred"), tmp_path)
    stride, other = (PITCH, 42 * 128) if method == "affine" else (41, 42)
    assert (stride in plain, other in plain) == (True, False)
    assert (stride in blurred, other in blurred) == (False, True)
    grids = {launch.grid for launch in proxy(method, "blurred").launches}
    assert grids == {(38, 2, 1)}


def test_the_header_says_what_a_level_is(tmp_path):
    for level, known in (("hidden", {"replaced"}), ("blurred", {"rounded", "noise", "epsilon"})):
        privacy = proxy("gmap", level, epsilon=0.5).facts["privacy"]
        assert known <= set(privacy)
    assert privacy["epsilon"] == "0.5"
    assert "privacy" not in proxy("gmap", "plain").facts


def test_noise_differs_each_time_and_is_large_where_epsilon_is_small():
    five = random_tuple(2)
    given = proxy_of(replace(five, paths=replace(five.paths, warps=five.paths.warps + 1000)))

    def counts(epsilon):
        return at_level(given, "blurred", epsilon).models[0].five.paths.warps

    assert counts(0.1).tolist() != counts(0.1).tolist()
    assert np.abs(counts(1e6) - given.models[0].five.paths.warps).max() == 0
    assert np.abs(counts(0.01) - given.models[0].five.paths.warps).mean() > 5


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
def test_irregular_accesses_are_told_word_by_word_in_plain_files_alone(level):
    found = proxy("affine", level, seed=5)
    kinds = {type(model) for model in found.models}
    assert kinds == {AffineModel if level == "plain" else GmapModel}
    assert any(map(has_literals, found.models)) == (level == "plain")
    regular = proxy("affine", level)
    assert {type(model) for model in regular.models} == {AffineModel}


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "level", "more", "message"),
    [
        (lambda: proxy("affine", "plain", seed=5), "hidden", {}, "word by word"),
        (lambda: proxy("gmap", "hidden"), "blurred", {}, "only a plain proxy"),
        (lambda: proxy("gmap", "plain"), "secret", {}, "no level of proxies"),
        (lambda: proxy("gmap", "plain"), "blurred", {"epsilon": 0}, "epsilon 0"),
        (lambda: proxy("gmap", "plain"), "blurred", {"epsilon": float("nan")}, "epsilon nan"),
    ],
)
def test_what_cannot_be_is_refused(given, level, more, message):
    with pytest.raises(WorkloadError, match=message):
        at_level(given(), level, **more)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_every_blurred_proxy_can_be_read_and_generated(method, seed, tmp_path):
    path = tmp_path / "app.proxy"
    at_level(proxy(method, "plain"), "blurred", 0.05, np.random.default_rng(seed)).save(path)
    found = Proxy.load(path)
    assert any(isinstance(command, ProxyCopy) for command in found.commands)
    for kernel in found.workload().kernels:
        assert len(list(kernel.ctas())) == kernel.n_ctas
