"""Figures, means and claims of rows made by hand."""

import json
import math

import pytest

from lockstep.metrics import output


def test_figures_are_of_each_program(scheduling):
    assert scheduling.figures["a"]["old gain"] == pytest.approx(1.1)
    assert scheduling.figures["b"]["new gain"] == pytest.approx(3.125)
    assert scheduling.figures["b"]["new FCFS DRAM"] == 20


def test_means_are_over_programs_that_need_bandwidth(scheduling):
    assert scheduling.counted == ["a", "b"]  # more than 50 percent, not 50
    assert scheduling.means["old gain"] == pytest.approx(math.sqrt(1.1 * 1.4))
    assert scheduling.means["new gain"] == pytest.approx(2.5)
    assert scheduling.means["new FR-FCFS DRAM"] == 70


def test_a_mean_without_programs_is_undefined(outcome_of):
    outcome = outcome_of("dram-scheduling", {})
    assert math.isnan(outcome.means["old gain"])
    assert {claim.verdict.value for claim in outcome.claims} == {"unknown"}


def test_what_was_not_run_has_no_figure(scheduling):
    scheduling.rows = [row for row in scheduling.rows if row.variant != "old FCFS"]
    assert math.isnan(scheduling.figures["a"]["old gain"])
    assert "old gain" not in [figure.name for figure in scheduling.shown]


def test_an_outcome_is_a_document_and_a_table(scheduling, tmp_path):
    output.write_json(tmp_path / "o.json", scheduling.to_dict())
    document = json.loads((tmp_path / "o.json").read_text())
    assert document["means"]["new gain"] == pytest.approx(2.5)
    assert document["counted"] == ["a", "b"]
    assert len(document["claims"]) == len(scheduling.claims)
    table = scheduling.table
    assert len(table) == 12 and table["cycles"].sum() == sum(
        row.counters["cycles"] for row in scheduling.rows
    )
