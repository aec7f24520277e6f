"""Bandwidth of links between modules: what is said of numbers made by hand."""

from lockstep import api
from lockstep.gpus import library
from lockstep.studies import find
from lockstep.studies.chiplets import GPU


def test_bandwidths_and_nothing_else_differ():
    gpus = {v.name: api.gpu(GPU, v.changes) for v in find("chiplet-bandwidth").variants}
    ring = gpus["unlimited"]
    assert ring.modules.bandwidth == 0 and ring.launch.l2 == "flush"
    for bandwidth in (384, 768, 1536):
        limited = gpus[f"{bandwidth} GB/s"]
        assert limited == library.replace(ring, **{"modules.bandwidth": float(bandwidth)})
    assert gpus["monolithic"] == library.replace(
        ring, **{"modules.count": 1, "modules.bandwidth": 768.0}
    )
    shape = gpus["no distance"].modules
    assert (shape.count, shape.topology, shape.hop_latency, shape.bandwidth) == (4, "full", 0, 0)


def outcome(outcome_of, no_distance=1.0):
    """A program that needs bandwidth and one that does not."""

    def variant(cycles, dram):
        counters = {"sim__sol_dram.pct": dram, "sim__module_remote.pct": 75.0}
        counters |= {"sim__sol_module_link.pct": 90.0, "sim__module_link_bytes.sum": 1e6}
        return counters | {"cycles": cycles, "sim__module_link_wait.avg": 12.0}

    def program(dram, *factors):
        names = ("monolithic", "no distance", "unlimited", "1536 GB/s", "768 GB/s", "384 GB/s")
        return {name: variant(1000 * f, dram) for name, f in zip(names, factors)}

    runs = {
        "needy": program(80, 1, no_distance, 1.1, 1.25, 1.1, 2.53),
        "idle": program(10, 1, 1.0, 1.0, 1.0, 1.0, 1.0),
    }
    return outcome_of("chiplet-bandwidth", runs)


def test_claims_are_of_the_programs_that_need_bandwidth(outcome_of):
    wide, middle, narrow, same = outcome(outcome_of).claims
    assert (wide.paper, wide.here, wide.verdict.value) == ("1.14 times", "1.14 times", "met")
    assert (middle.here, middle.verdict.value) == ("1.00 times", "not met")
    assert (narrow.paper, narrow.here, narrow.verdict.value) == ("2.33 times", "2.30 times", "met")
    assert "in use 90" in narrow.reason and "waits 12 cycles" in narrow.reason
    assert (same.here, same.verdict.value) == ("2 of 2 programs", "met")


def test_modules_that_are_not_as_one_chip_are_told(outcome_of):
    *_, same = outcome(outcome_of, no_distance=0.95).claims
    assert (same.here, same.verdict.value) == ("1 of 2 programs", "not met")
    assert "-5.00 %" in same.reason
