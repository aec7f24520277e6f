"""Outcomes of rows made by hand."""

import pytest

from lockstep.studies import find
from lockstep.studies.outcome import Outcome
from lockstep.studies.rows import StudyRow


@pytest.fixture
def outcome_of():
    """Makes the outcome of a study from counters: program, then variant, then counter."""

    def make(name, runs, measured=None):
        study = find(name)
        rows = [
            StudyRow(
                name, "small", program, 1, variant, "QV100", "", f"{program}{variant}", counters
            )
            for program, variants in runs.items()
            for variant, counters in variants.items()
        ]
        return Outcome(study, "small", study.gpu, rows, measured or {})

    return make


@pytest.fixture
def scheduling(outcome_of):
    """Two programs that need bandwidth and one that does not; gains 1.1 x 1.4 and 2 x 3.125."""

    def variant(cycles, busy):
        counters = {"cycles": cycles, "sim__sol_dram.pct": busy, "sim__dram_row_hit_rate.pct": 90.0}
        return counters | {"sim__dram_read_queue.avg": 8.0}

    def program(old, new, busy):
        return {
            "old FCFS": variant(old * 1000, busy / 2),
            "old FR-FCFS": variant(1000, busy),
            "new FCFS": variant(new * 1000, busy / 4),
            "new FR-FCFS": variant(1000, busy),
        }

    return outcome_of(
        "dram-scheduling",
        {"a": program(1.1, 2, 60), "b": program(1.4, 3.125, 80), "idle": program(9, 9, 50)},
    )
