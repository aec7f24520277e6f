"""Litmus tests by seeds: a sample; ``scripts/coherence.py litmus`` runs ten thousand of each."""

import pytest

from coherence_twin.litmus import HOST, Litmus, parse, shows
from coherence_twin.litmus_tests import TESTS
from lockstep.model.coherence.library import load


@pytest.mark.long
@pytest.mark.parametrize("test", TESTS, ids=lambda test: f"{test.protocol}: {test.name}")
def test_what_is_forbidden_does_not_happen_and_what_is_allowed_does(test):
    protocol = load(test.protocol)
    if test.verdict == "seen":
        assert any(shows(protocol, test, seed) for seed in range(1000))
    else:
        assert not any(shows(protocol, test, seed) for seed in range(100))


def test_a_release_is_a_fence_before_and_an_acquire_one_after():
    assert [i.what for i in parse("st.release.gpu x 1")] == ["fence", "store_glc"]
    assert [i.what for i in parse("ld.acquire.sys x a; need a")] == ["load_slc", "fence", "need"]
    assert [i.what for i in parse("st.cta x 1; ld y b")] == ["store", "load"]


def test_each_verdict_and_each_scope_is_tried():
    assert {test.verdict for test in TESTS} == {"forbidden", "seen", "unseen"}
    code = [i for test in TESTS for _, text in test.threads for i in parse(text)]
    assert {i.scope for i in code if i.what == "fence"} == {"cta", "gpu", "sys"}
    assert any(l1 == HOST for test in TESTS for l1, _ in test.threads)


def test_a_run_ends_with_what_its_threads_did():
    test = Litmus("", "vi", ((0, "st x 5; ld x a"),), "a=5 x=5", "seen")
    assert all(shows(load("vi"), test, seed) for seed in range(20))
