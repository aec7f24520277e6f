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


@pytest.mark.long
@pytest.mark.parametrize("rule", sorted(set(LIFTED) - {"memory_latency"}))
def test_a_kernel_without_the_problem_gains_less(tried, outcome, rule):
    name = LIFTED[rule]
    clean = what_if(outcome(rule, True), [lift(name)]).of(name)
    assert clean.speedup < tried(rule).speedup


def spilled(pairs):
    """Rounds with a store and a load of local memory."""
    where = {"address": lambda at: at.i * 4 + 0 * at.thread}
    return pairs.mixed("k", extra=[("STL [R1], R9", where), ("LDL R9, [R1]", where)])


TWINS = {
    "lines": ("coalescing", lambda p: p.mixed("k", stride=128, work=14),
              lambda p: p.mixed("k", work=14), (145757, 11034, 10673)),
    "words": ("coalescing", lambda p: p.mixed("k", stride=8, work=14),
              lambda p: p.mixed("k", work=14), (20490, 10430, 10673)),
    "structures": ("coalescing", lambda p: p.mixed("k", stride=16, work=14),
                   lambda p: p.mixed("k", work=14), (38158, 10377, 10673)),
    "conflicts": ("shared_banks", lambda p: p.shared("k", p.KernelBuilder.bank_conflict(16)),
                  lambda p: p.shared("k", p.CONFLICT_FREE), (52133, 14457, 14457)),
    "registers": ("registers", lambda p: p.mixed("k", registers=200, loops=20),
                  lambda p: p.mixed("k", loops=20), (84342, 45004, 45004)),
    "operands": ("register_banks", lambda p: p.operands("k", 1),
                 lambda p: p.operands("k", 2), (11869, 8015, 8015)),
    "constants": ("constant_cache", lambda p: p.constants("k", 64),
                  lambda p: p.constants("k", 4), (37407, 10605, 10876)),
    "spills": ("local_memory", spilled, lambda p: p.mixed("k"), (16610, 12806, 13293)),
    "atomics": ("atomics", lambda p: p.atomics("k", p.SAME),
                lambda p: p.atomics("k", p.SPREAD), (51312, 7094, 5172)),
}  # fmt: skip
"""A limit, a kernel that it holds up, the same rewritten, and the cycles in docs/advice.md."""


@pytest.mark.long
@pytest.mark.parametrize("name", TWINS)
def test_a_prediction_is_near_the_kernel_that_was_rewritten(pairs, small, repository, name):
    limit, make, rewritten, cycles = TWINS[name]
    result = lockstep.simulate(make(pairs), small())
    without = what_if(result, [lift(limit)]).of(limit).cycles
    twin = lockstep.simulate(rewritten(pairs), small()).cycles
    assert (result.cycles, without, twin) == cycles
    page = (repository / "docs" / "advice.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(f'{n:,}' for n in cycles)} |" in page
    if name != "atomics":  # its twin uses all slices
        assert without == pytest.approx(twin, rel=0.04)


def test_results_do_not_depend_on_threads(outcome):
    result = outcome("uncoalesced", False)
    lifts = [lift("coalescing"), lift("dram_bandwidth")]
    assert what_if(result, lifts, threads=1) == what_if(result, lifts, threads=3)


@pytest.mark.parametrize(("gpu", "cycles"), [("QV100", 5769), ("H100_SXM", 4472)])
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
