"""What went over links, over time: by counters and spans that were written by hand."""

import numpy as np
import pytest

from link_runs import of_modules, of_system
from lockstep.report import links


def test_each_link_between_modules_has_its_bytes_of_each_interval():
    result = of_modules(samples=4)
    # cumulative bytes are 3000 * (k / 4)^2
    assert links.module_bytes(result) == {"0_1": [187, 563, 937, 1313], "1_0": [0, 0, 0, 0]}


def test_the_share_is_of_what_the_link_could_carry_in_the_interval():
    result = of_modules(bandwidth=10.0)
    found = links.of_modules(result)
    assert [row["name"] for row in found["rows"]] == ["module 0 > 1", "module 1 > 0"]
    assert found["start"] == [row["start"] for row in result.intervals]
    for share, moved, row in zip(found["series"][0], (187, 563, 937, 1313), result.intervals):
        capacity = 10 * (row["end"] - row["start"])  # 10 GB/s are 10 bytes a cycle of 1 ns
        assert share == pytest.approx(100 * moved / capacity, abs=0.01)
    assert found["series"][1] == [0] * 4


def test_without_a_limit_they_are_bytes_a_second():
    found = links.of_modules(of_modules(bandwidth=0.0))
    assert found["what"] == "GB/s" and found["rows"][0]["gb_per_s"] is None
    assert sum(found["series"][0]) > 0


def test_long_series_are_added_up_to_as_many_steps_as_are_shown(monkeypatch):
    monkeypatch.setattr(links, "STEPS", 2)
    result = of_modules(bandwidth=0.0, samples=5)
    found = links.of_modules(result)
    rows = result.intervals
    assert found["start"] == [rows[0]["start"], rows[3]["start"]]
    ends = [rows[3]["start"], rows[-1]["end"]]
    rates = zip(found["series"][0], found["start"], ends)
    assert sum(rate * (end - start) for rate, start, end in rates) == pytest.approx(3000, rel=0.05)


def test_without_intervals_there_are_only_the_sums():
    found = links.of_modules(of_modules(samples=0))
    assert len(found["rows"]) == 2 and found["start"] == found["series"] == []


def test_one_chip_has_no_links(synthetic):
    result = synthetic.make_result()
    assert links.of_modules(result) is None and links.module_bytes(result) == {}


def test_a_link_of_a_system_is_busy_while_its_spans_last():
    found = links.of_system(of_system())
    assert [row["name"] for row in found["rows"]] == ["GPU 0 > GPU 1"], "the other carried nothing"
    assert found["rows"][0]["share"] == 10
    busy = [start for start, share in zip(found["start"], found["series"][0]) if share == 100]
    assert busy[0] == pytest.approx(10, abs=0.01) and busy[-1] == pytest.approx(19.667, abs=0.01)
    assert sum(found["series"][0]) == pytest.approx(100 * links.STEPS * 0.1)


def test_time_in_spans_is_that_of_a_loop():
    draw = np.random.default_rng(3)
    edges = np.cumsum(draw.integers(1, 50, 20))
    spans = [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
    times = np.concatenate([[0], draw.integers(0, edges[-1] + 20, 200), edges])
    expected = [sum(max(0, min(b, t) - a) for a, b in spans) for t in times]
    assert links._busy_until(spans, times).tolist() == expected
