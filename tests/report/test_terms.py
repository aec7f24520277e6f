"""The words of a result: each kind of core has its own, and one that is new must bring some."""

from typing import get_args

import pytest

from lockstep.gpus import choices, library
from lockstep.report.terms import terms


@pytest.mark.parametrize(("gpu", "words"), [("QV100", "SM warp CTA"), ("HD7970", "CU wavefront")])
def test_a_gpu_has_the_words_of_its_maker(gpu, words):
    assert " ".join(terms(library.gpu(gpu))).startswith(words)


def test_each_kind_of_core_has_words():
    from lockstep.report import terms as module

    assert set(module._BY_CORE) == set(get_args(choices.Core))
