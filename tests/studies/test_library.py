"""Which studies there are, and that each is sound."""

import pytest

from lockstep import api, kernels
from lockstep.errors import LockstepError
from lockstep.kernels import opencl
from lockstep.metrics import registry
from lockstep.studies import find, names


def test_a_misspelt_name_is_refused_with_the_nearest():
    with pytest.raises(LockstepError, match=r"'dram-schedulin'; did you mean dram-scheduling\?"):
        find("dram-schedulin")
    with pytest.raises(LockstepError, match="lockstep study --list has them all"):
        find("x")


@pytest.mark.parametrize("name", names())
def test_a_study_names_what_there_is(name):
    study = find(name)
    assert study.name == name
    gpus = [api.gpu(v.gpu or study.gpu, v.changes) for v in study.variants]
    assert {c.name for gpu in gpus for c in registry.columns(gpu)} >= set(study.counters)
    for program in study.programs:
        (opencl if study.opencl else kernels).load(program.name)
        assert 0 < program.small <= program.large
    figures = {figure.name for figure in study.figures}
    assert len(figures) == len(study.figures)
    for chart in study.charts:
        assert {name for bar in chart.bars for name in bar.figures} <= figures


@pytest.mark.parametrize("name", names())
def test_programs_and_variants_occur_once(name):
    study = find(name)
    for group in (study.programs, study.variants, study.charts):
        assert len({each.name for each in group}) == len(group)


@pytest.mark.parametrize("name", names())
def test_without_a_program_that_counts_every_claim_is_unknown_and_says_no_number(name, outcome_of):
    claims = outcome_of(name, {}).claims
    assert {claim.verdict.value for claim in claims} == {"unknown"}
    assert not [claim for claim in claims if "nan" in (claim.here + claim.reason)]
