"""Cycles and counters of recorded programs against hardware, and counters against Accel-Sim's.

``lockstep validate`` prints the same numbers as tables, those of long traces too.
"""

import pytest

import lockstep
from lockstep.validation import builtins, document, grids, measured, probes, sections, triton

CYCLES = {"ffma-sm90": 0.10, "vecadd-f64-sm61": 0.15}  # relative tolerance, by the trace's name
SECTORS = 0.01
NOTHING_HITS_IN_L1 = ("vecadd", "vectoradd", "ffma")


@pytest.fixture(scope="module")
def sources(shared):
    return sections.Sources(shared / "data")


@pytest.fixture(scope="module")
def compared(sources):
    return sections.hardware(sources)


@pytest.fixture(scope="module")
def counted(sources):
    """(reference, our counters) of each recorded trace; generated ones are not at hand."""
    rows = [r for r in sections.references(sources) if r.path.is_dir()]
    return [(row, sections.counted(row)) for row in rows]


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
def test_an_empty_kernel_takes_as_long_as_its_blocks_take_to_start(blocks, cycles):
    workload = grids.empty(blocks, 256)
    assert lockstep.simulate(workload, "H100").cycles == pytest.approx(cycles, rel=0.02)


@pytest.mark.parametrize(
    ("blocks", "threads", "rounds", "cycles"),
    [(1, 128, 20, 14822), (300, 128, 10, 9770), (600, 128, 10, 15070), (200, 1024, 1, 6536)],
)
def test_chains_in_many_blocks(shared, blocks, threads, rounds, cycles):
    trace = shared / "data" / "traces" / "ffma-sm90-10"
    workload = grids.chains(trace, blocks, threads, rounds)
    assert lockstep.simulate(workload, "H100").cycles == pytest.approx(cycles, rel=0.02)


def test_the_recorded_chain_is_one_of_them(shared):
    trace = shared / "data" / "traces" / "ffma-sm90-20"
    made = grids.chains(trace.with_name("ffma-sm90-10"), 1, 32, 20)
    recorded = lockstep.simulate(trace, "H100")
    again = lockstep.simulate(made, "H100")
    assert again.cycles == recorded.cycles
    assert again.warp_instructions == recorded.warp_instructions
    assert again.thread_instructions == recorded.thread_instructions


def test_every_measurement_has_a_probe():
    gpu = lockstep.gpu("QV100")
    made = {
        "LATENCIES": {p.name for p in probes.latencies()},
        "LANES": set(probes.ARITHMETIC),
        "FRACTIONS": {p.name for p in probes.rates(gpu)},
    }
    for table, names in made.items():
        for board, rows in getattr(measured, table).items():
            assert board in lockstep.gpu_names()
            assert rows and {row.probe for row in rows} <= names


def test_latencies_of_an_a100_are_those_measured():
    found = sections.latencies("A100")
    assert [f.what for f in found.figures] == [m.probe for m in measured.LATENCIES["A100"]]
    assert all(abs(f.error) < 0.02 for f in found.figures)
    assert len(found.skipped) == len(probes.latencies()) - len(found.figures)


def test_what_is_not_at_hand_is_named():
    nothing = sections.Sources()
    assert not sections.hardware(nothing).figures
    assert len(sections.hardware(nothing).skipped) == len(measured.RECORDED)
    assert sections.grids(nothing).coverage == "0 of 1 compared"
    assert [c.summary() for c in sections.counters([])] == ["0 of 0 compared"] * 5


def test_the_page_has_a_place_for_every_table(repository):
    text = (repository / "docs" / "validation.md").read_text(encoding="utf-8")
    keys = {f"latencies {gpu}" for gpu in measured.LATENCIES}
    keys |= {f"lanes {gpu}" for gpu in measured.LANES}
    keys |= {f"bandwidths {gpu}" for gpu in measured.FRACTIONS}
    keys |= {"recorded", "grids", *(f"peer {name}" for name in sections.COUNTERS)}
    own = {
        builtins.key(state, size, counter)
        for state, known in builtins.STATES.items()
        for size in builtins.SIZES
        for counter in known.counters
    }
    own |= {triton.key(state, c) for state in triton.STATES for c in triton.COUNTERS}
    shown = document.keys(text)
    assert len(shown) == len(set(shown))
    assert keys <= set(shown) <= keys | own


def test_the_tables_of_the_page_show_every_measurement(repository):
    text = (repository / "docs" / "validation.md").read_text(encoding="utf-8")
    for kind, table in (
        ("latencies", "LATENCIES"),
        ("lanes", "LANES"),
        ("bandwidths", "FRACTIONS"),
    ):
        for gpu, rows in getattr(measured, table).items():
            shown = text[text.index(f"<!-- table: {kind} {gpu} -->") :].partition("<!-- end")[0]
            cells = [line.split(" | ") for line in shown.splitlines() if line.startswith("| ")][2:]
            assert [c[0].removeprefix("| ") for c in cells] == [row.probe for row in rows]
            assert [c[2] for c in cells] == [f"{row.value:,.5g}" for row in rows]
