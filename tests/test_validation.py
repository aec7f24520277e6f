"""Cycles and counters of recorded programs against hardware, and counters against Accel-Sim's.

``python benchmarks/validate.py`` prints the same numbers as tables, those of long traces too.
"""

import pytest

import lockstep

CYCLES = {"ffma-sm90": 0.10, "vecadd-f64-sm61": 0.15}  # relative tolerance, by the trace's name
SECTORS = 0.01
NOTHING_HITS_IN_L1 = ("vecadd", "vectoradd", "ffma")


@pytest.fixture(scope="module")
def validate(repository, load_script):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository / "benchmarks")
        yield load_script(repository / "benchmarks" / "validate.py")


@pytest.fixture(scope="module")
def compared(validate, shared):
    return validate.hardware(shared)


@pytest.fixture(scope="module")
def counted(validate, shared):
    """(reference, our counters) of each recorded trace; generated ones are not at hand."""
    rows = [r for r in validate.references(shared, None) if r.path.is_dir()]
    return [(row, validate.counted(row)) for row in rows]


def test_nothing_is_left_out(compared, counted):
    assert not compared.skipped
    assert len(compared.figures) == 7
    assert {row.trace for row, _ in counted} >= {"bfs-sm80", "vectoradd-sm80", "matmul-sm61"}


def test_cycles_are_those_of_the_hardware(compared):
    figures = [f for f in compared.figures if f.what.endswith("cycles")]
    for name, tolerance in CYCLES.items():
        errors = {f.what: f.error for f in figures if f.what.startswith(name)}
        assert errors
        assert all(abs(e) <= tolerance for e in errors.values()), errors


def test_l2_sectors_are_those_of_the_hardware(compared):
    errors = {f.what: f.error for f in compared.figures if f.what.endswith("sectors")}
    assert len(errors) == 2
    assert all(abs(e) <= SECTORS for e in errors.values()), errors


@pytest.mark.parametrize("counter", ["warp_instructions", "thread_instructions"])
def test_every_instruction_is_executed(counted, counter):
    for row, ours in counted:
        assert ours[counter] == row.values[counter], row.trace


def test_l1_accesses_are_those_of_accel_sim(counted):
    rows = [(row, ours) for row, ours in counted if row.gpu == "QV100"]
    assert len(rows) >= 4
    for row, ours in rows:
        assert ours["l1_accesses"] == row.values["l1_accesses"], row.trace


def test_l2_accesses_are_those_of_accel_sim(counted):
    for row, ours in counted:
        exact = row.trace.startswith(NOTHING_HITS_IN_L1)
        expected = pytest.approx(row.values["l2_accesses"], rel=0 if exact else 0.05)
        assert ours["l2_accesses"] == expected, row.trace


# mgpusim, scripts/simulation_data_nvidia: cycles on an H100 PCIe by ncu.
@pytest.mark.parametrize(("blocks", "cycles"), [(1024, 5055), (4096, 8314)])
def test_an_empty_kernel_takes_as_long_as_its_blocks_take_to_start(validate, blocks, cycles):
    workload = validate.microbenchmarks.empty(blocks, 256)
    assert lockstep.simulate(workload, "H100").cycles == pytest.approx(cycles, rel=0.02)


@pytest.mark.parametrize(
    ("blocks", "threads", "rounds", "cycles"),
    [(1, 128, 20, 14822), (300, 128, 10, 9770), (600, 128, 10, 15070), (200, 1024, 1, 6536)],
)
def test_chains_in_many_blocks(validate, shared, blocks, threads, rounds, cycles):
    trace = shared / "data" / "traces" / "ffma-sm90-10"
    workload = validate.microbenchmarks.chains(trace, blocks, threads, rounds)
    assert lockstep.simulate(workload, "H100").cycles == pytest.approx(cycles, rel=0.02)


def test_the_recorded_chain_is_one_of_them(validate, shared):
    trace = shared / "data" / "traces" / "ffma-sm90-20"
    made = validate.microbenchmarks.chains(trace.with_name("ffma-sm90-10"), 1, 32, 20)
    recorded = lockstep.simulate(trace, "H100")
    again = lockstep.simulate(made, "H100")
    assert again.cycles == recorded.cycles
    assert again.warp_instructions == recorded.warp_instructions
    assert again.thread_instructions == recorded.thread_instructions


def test_every_measurement_has_a_probe(validate):
    gpu = lockstep.gpu("QV100")
    probes = validate.probes
    made = {
        "LATENCIES": {p.name for p in probes.latencies()},
        "LANES": set(probes.ARITHMETIC),
        "FRACTIONS": {p.name for p in probes.rates(gpu)},
    }
    for table, names in made.items():
        for board, rows in getattr(validate, table).items():
            assert board in lockstep.gpu_names()
            assert rows and {row.probe for row in rows} <= names


def test_latencies_of_an_a100_are_those_measured(validate):
    found = validate.latencies("A100")
    assert [f.what for f in found.figures] == [m.probe for m in validate.LATENCIES["A100"]]
    assert all(abs(f.error) < 0.02 for f in found.figures)
    assert len(found.skipped) == len(validate.probes.latencies()) - len(found.figures)


def test_errors_are_summed_up(validate):
    figures = [validate.Figure("a", 11, 10, ""), validate.Figure("b", 97, 100, "")]
    summary = validate.Comparison("t", figures, ["c: absent"]).summary()
    assert "mean 6.50 %" in summary
    assert "worst 10.00 %" in summary
    assert summary.endswith("2 of 3 compared")


def test_a_zero_that_should_be_one_is_exact_or_wrong(validate):
    assert validate.Figure("a", 0, 0, "").error == 0
    assert validate.Figure("a", 3, 0, "").error == 1
