"""What a program gains without a limit: simulated, so the same on any number of threads."""

import pytest

import lockstep
from lockstep.advice.advise import examined
from lockstep.advice.lifts import LIFTS, NAMES, lift
from lockstep.advice.rules import RULES
from lockstep.advice.what_if import what_if
from lockstep.errors import LockstepError
from lockstep.gpus import library

LIFTED = {rule.name: rule.lift for rule in RULES if rule.lift}


@pytest.fixture(scope="module")
def tried(outcome):
    """Function from a rule to what its kernel with the problem gains without the rule's limit."""
    return lambda rule: what_if(outcome(rule, False), [lift(LIFTED[rule])]).of(LIFTED[rule])


@pytest.mark.parametrize("rule", LIFTED)
def test_a_kernel_gains_where_its_limit_is_lifted(tried, outcome, rule):
    found = tried(rule)
    assert found.speedup > 1.03
    assert found.cycles * found.speedup == pytest.approx(outcome(rule, False).cycles)


@pytest.mark.parametrize("rule", sorted(set(LIFTED) - {"memory_latency"}))
def test_a_kernel_without_the_problem_gains_less(tried, outcome, rule):
    name = LIFTED[rule]
    clean = what_if(outcome(rule, True), [lift(name)]).of(name)
    assert clean.speedup < tried(rule).speedup


def test_without_conflicts_a_kernel_takes_what_its_twin_without_takes(pairs, small):
    ways = {n: lockstep.KernelBuilder.bank_conflict(n) for n in (1, 16)}
    one, many = (lockstep.simulate(pairs.shared("k", ways[n]), small()) for n in (1, 16))
    assert what_if(many, [lift("shared_banks")]).of("shared_banks").cycles == one.cycles
    assert what_if(one, [lift("shared_banks")]).of("shared_banks").speedup == 1


def test_more_registers_are_what_a_kernel_of_fewer_has(pairs, small):
    few, many = (
        lockstep.simulate(pairs.mixed("k", registers=n, loops=20), small()) for n in (32, 200)
    )
    assert what_if(many, [lift("registers")]).of("registers").cycles == few.cycles


def test_results_do_not_depend_on_threads(outcome):
    result = outcome("uncoalesced", False)
    lifts = [lift("coalescing"), lift("dram_bandwidth")]
    assert what_if(result, lifts, threads=1) == what_if(result, lifts, threads=3)


@pytest.mark.parametrize(("gpu", "cycles"), [("QV100", 5769), ("H100_SXM", 4467)])
def test_a_gpu_with_all_its_limits_is_as_it_was(repository, gpu, cycles):
    assert not any(vars_of(library.gpu(gpu).ideal))
    assert lockstep.simulate(repository / "examples" / "vecadd", gpu).cycles == cycles


def vars_of(spec):
    return [getattr(spec, name) for name in spec.__struct_fields__]


@pytest.mark.parametrize("name", library.names())
def test_every_limit_can_be_lifted_of_every_gpu(name):
    gpu = library.gpu(name)
    for each in LIFTS:
        if (each.name, gpu.dram.scheduler) == ("dram_bandwidth", "fixed"):
            continue  # it has none to lift
        assert library.digest(each.of(gpu)) != library.digest(gpu), each.name


def test_a_limit_that_does_not_exist_is_told_with_those_that_do():
    with pytest.raises(LockstepError, match=r"no limit is named 'bank'.*shared_banks"):
        lift("bank")


def test_advice_has_what_was_simulated(outcome):
    result = outcome("bank_conflicts", False)
    advice = lockstep.advise(result, "found")
    item = next(i for i in advice.items if i.rule.name == "bank_conflicts")
    found = advice.what_if.of("shared_banks", item.kernel)
    assert (item.simulated, item.simulated_cycles) == (found.speedup, found.cycles)
    assert {row["lift"] for row in result.advice["what_if"]} == {
        i.lift for i in examined(result).items if i.lift
    }
    assert result.to_dict()["advice"] == result.advice


def test_limits_are_chosen_by_name(outcome):
    result = outcome("compute", True)
    advice = lockstep.advise(result, ("launch", "units"))
    assert [p.lift for p in advice.what_if.predictions if not p.kernel] == ["launch", "units"]
    assert lockstep.advise(result, "launch").what_if.table["lift"].unique().tolist() == ["launch"]
    assert len(NAMES) == len(set(NAMES)) == len(LIFTS)


def test_what_a_device_ran_is_simulated_from_its_trace(small, tmp_path):
    from lockstep import kernels

    with lockstep.Device(small(), timing=True, source=True) as device:
        with device.record(tmp_path / "t.lst"):
            kernels.load("transpose_naive").run(device, 64)
            device.drain()
        result = device.result
    with pytest.raises(LockstepError, match="record a trace"):
        lockstep.advise(result, "all")
    advice = lockstep.advise(result, "coalescing", lockstep.load(tmp_path / "t.lst"))
    item = next(i for i in advice.items if i.rule.name == "uncoalesced")
    assert item.found.spot.file.endswith("transpose_naive.cu") and item.found.spot.line == 8
    assert item.simulated > 1
