"""Controllers and channels: what is said of numbers made by hand."""

from lockstep import api
from lockstep.gpus import library
from lockstep.studies import find
from lockstep.studies.cases.memory_controllers import FIXED, PAGES, SHAPES, name_of


def runs(slowness):
    """Counters of a program that takes ``slowness(controllers, channels, page)`` times as long."""
    made = {name_of(*s, page): slowness(*s, page) for s in SHAPES for page in PAGES} | {FIXED: 1}
    counters = {"sim__dram_row_hit_rate.pct": 75.0, "sim__sol_dram.pct": 40.0}
    return {name: {"cycles": 1000 * factor, **counters} for name, factor in made.items()}


def test_all_shapes_have_the_same_l2_and_as_many_bytes_a_channel():
    study = find("memory-controllers")
    variants = {v.name: api.gpu(study.gpu, v.changes) for v in study.variants}
    for controllers, channels in SHAPES:
        gpu = variants[name_of(controllers, channels, "open")]
        slices = gpu.dram.channels * gpu.l2.slices_per_channel
        assert slices * gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes == 256 * 1024
        assert (gpu.dram.channels, gpu.dram.bus_bytes) == (controllers, 4 * channels)
        assert gpu.dram.bus_bytes * gpu.dram.burst_length == gpu.l2.line_bytes
        assert library.totals(gpu).dram_gb_per_s == 12 * controllers * channels
        closed = variants[name_of(controllers, channels, "closed")]
        assert library.replace(gpu, **{"dram.page": "closed"}) == closed
    assert variants[FIXED].dram.scheduler == "fixed"


def test_claims_are_judged_program_by_program(outcome_of):
    bound = runs(lambda x, y, page: 8 / (x * y))  # as fast as there are channels
    idle = runs(lambda x, y, page: 1)
    apart = runs(lambda x, y, page: 8 / x - (page == "closed"))  # controllers alone count
    programs = {"reduction": bound, "simple_convolution": idle, "floyd_warshall": apart}
    two, four, more, open_, insensitive = outcome_of("memory-controllers", programs).claims
    assert (two.here, two.verdict.value) == ("2 of 3", "in part")
    assert (four.here, four.verdict.value) == ("2 of 3", "in part")
    assert (more.here, more.verdict.value) == ("2 of 3", "met")
    assert (open_.here, open_.verdict.value) == ("12 of 18", "in part")
    assert (insensitive.here, insensitive.verdict.value) == ("0.0 %", "met")
    assert "1MC-2PC open: 75.0 % row hits, 40.0 % of the bandwidth" in two.reason
