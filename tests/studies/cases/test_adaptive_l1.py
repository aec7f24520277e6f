"""An adaptive L1 against a fixed one: the variants, and what is said of numbers made by hand."""

import pytest

from lockstep import api, kernels
from lockstep.correlation.launches import CYCLES
from lockstep.device import Device
from lockstep.gpus.fields import flatten
from lockstep.studies import find
from lockstep.studies.cases import OLD, OLD_L1
from lockstep.studies.code import code_for

READS = "lts__t_sectors_srcunit_tex_op_read.sum"


def test_what_the_variants_differ_in():
    study = find("adaptive-l1")
    adaptive, fixed, old = (flatten(api.gpu(study.gpu, v.changes)) for v in study.variants)
    differ = {name for name in adaptive if adaptive[name] != fixed[name]}
    assert differ == {"l1.bytes", "l1.carveouts"}
    more = {name for name in fixed if fixed[name] != old[name]}
    assert more <= {change.partition("=")[0] for change in OLD_L1}
    assert {"l1.allocate", "l1.mshr_entries", "sm.memory.coalescer"} <= more


def test_the_old_l1_is_that_of_the_old_gpu():
    preset = flatten(api.gpu(OLD))
    ours = flatten(api.gpu("QV100", OLD_L1))
    named = {change.partition("=")[0] for change in OLD_L1} - {"l1.tag_banks"}
    assert {name: ours[name] for name in named} == {name: preset[name] for name in named}


@pytest.fixture
def runs():
    def variant(cycles, elapsed, hits, reads):
        return {"cycles": cycles, CYCLES: elapsed, "sim__l1_global_load_hit_rate.pct": hits,
                READS: reads}  # fmt: skip

    return {
        program: {
            "adaptive": variant(1000, 1100 * factor, 80, 100),
            "32 KB": variant(2000, 2000 * factor, 50, 200),
            "old L1": variant(4000, 5000 * factor, 10, 400),
        }
        for program, factor in (("a", 1), ("b", 1.1))
    }


def test_errors_are_those_of_all_cycles_beside_hardware(outcome_of, runs):
    hardware = {name: {CYCLES: 1000.0} for name in runs}
    outcome = outcome_of("adaptive-l1", runs, hardware)
    assert outcome.figures["a"]["adaptive error"] == pytest.approx(10)
    assert outcome.figures["b"]["old L1 error"] == pytest.approx(450)
    adaptive, old, slower = outcome.claims
    assert (adaptive.paper, adaptive.here, adaptive.verdict.value) == ("20.0 %", "15.5 %", "met")
    assert (old.paper, old.here, old.verdict.value) == ("400.0 %", "425.0 %", "met")
    assert (slower.here, slower.verdict.value) == ("4.00 times the cycles", "met")
    assert "L2 reads 4.00 times" in old.reason


def test_without_hardware_errors_are_unknown_and_not_shown(outcome_of, runs):
    outcome = outcome_of("adaptive-l1", runs)
    assert [claim.verdict.value for claim in outcome.claims] == ["unknown", "unknown", "met"]
    assert not [figure for figure in outcome.shown if "error" in figure.name]


def test_cycles_of_an_h100_are_known_at_both_sizes():
    study = find("adaptive-l1")
    for size in ("small", "large"):
        measured = study.measured("H100_SXM", size)
        assert all(measured[program.name][CYCLES] > 5000 for program in study.programs)
    assert study.measured("QV100", "large") == {}


@pytest.mark.parametrize("program", find("adaptive-l1").programs, ids=lambda p: p.name)
def test_machine_code_computes_what_the_program_should(program):
    kernel, gpu = kernels.load(program.name), api.gpu("H100_SXM")
    assert code_for(api.gpu("QV100"), program.name) is None
    with Device(gpu) as device:
        module = device.load_cubin(code_for(gpu, program.name))
        for check in kernel.run(device, kernel.small, module=module):
            check.verify()
