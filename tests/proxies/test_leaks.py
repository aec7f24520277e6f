"""Shares of lines and sequences, beside sets of Python."""

import numpy as np
import pytest

from gmap_models import kernel_of, random_tuple
from lockstep.builder import KernelBuilder
from lockstep.caches.coalescer import Coalescer
from lockstep.proxies import leaks
from lockstep.proxies.leaks import GRAM, AccessTraces
from lockstep.workload import Workload

BASE = 1 << 40


def traces(*kernels):
    found = AccessTraces()
    found.take(Workload("w", list(kernels)))
    return found


def twin(kernel):
    """Lines, and sequences of distances of each instruction."""
    lines, order = set(), {}
    coalesce = Coalescer(kernel)
    for cta in kernel.ctas():
        accesses = coalesce(cta)
        for step in accesses.steps:
            for k in range(step["lines"]):
                line = int(accesses.lines["line"][step["first"] + k])
                lines.add(line)
                order.setdefault(int(step["site"]), []).append(line)
    grams = set()
    for each in order.values():
        distance = np.diff(each).tolist()
        grams |= {tuple(distance[i : i + GRAM]) for i in range(len(distance) - GRAM + 1)}
    return lines, grams


@pytest.mark.parametrize("together", [1, 1 << 16])
@pytest.mark.parametrize("seed", range(4))
def test_as_sets_have_it(seed, together, monkeypatch):
    monkeypatch.setattr(leaks, "_TOGETHER", together)
    known = random_tuple(seed)
    a, b = kernel_of(known, seed=1), kernel_of(known, seed=2)
    (lines, grams), (others, other_grams) = twin(a), twin(b)
    found = traces(a).leaks(traces(b))
    assert found.lines == pytest.approx(len(lines & others) / len(lines))
    assert found.sequences == pytest.approx(len(grams & other_grams) / max(len(grams), 1))


def regular(base=BASE, step=4096):
    k = KernelBuilder("k", grid=8, block=64)
    with k.loop(4):
        k("LDG.E R4, [R2]", address=k.coalesced(base, step=step))
    return k.kernel()


def test_what_has_moved_shares_sequences_and_no_lines():
    assert traces(regular()).leaks(traces(regular(base=3 * BASE))) == (0.0, 1.0)
    assert traces(regular()).leaks(traces(regular())) == (1.0, 1.0)
    assert traces(regular()).leaks(traces(regular(step=8192))).sequences == 0.0


@pytest.mark.long
def test_many_elements_are_sampled(monkeypatch):
    known = random_tuple(3)
    a, b = kernel_of(known, (400, 1, 1), seed=1), kernel_of(known, (400, 1, 1), seed=2)
    exact = traces(a).leaks(traces(b))
    monkeypatch.setattr(leaks, "MOST", 600)
    monkeypatch.setattr(leaks, "_TOGETHER", 1000)
    for whole, part in zip(exact, traces(a).leaks(traces(b))):
        assert part == pytest.approx(whole, abs=0.06)


def test_of_nothing_nothing_leaks():
    assert traces().leaks(traces(regular())) == (0.0, 0.0)
