import math

import pytest

from lockstep.report import figures


def test_numbers_on_a_terminal():
    assert figures.count(1234567) == "1,234,567"
    assert figures.percent(12.34) == "12.3 %"
    assert figures.decimal(1234.5) == "1,234.50"
    for show in (figures.count, figures.percent, figures.decimal):
        assert show(math.nan) == figures.NONE


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (999, "999.00 B"),
        (1000, "1.00 kB"),
        (2.5e9, "2.50 GB"),
        (5.5e-6, "5.50 µB"),
        (1e-12, "0.00 nB"),
        (-2e3, "-2.00 kB"),
        (1e30, "1,000,000,000,000,000.00 PB"),
        (math.nan, "–"),
    ],
)
def test_scaled_picks_a_prefix(value, text):
    assert figures.scaled(value, "B") == text


@pytest.mark.parametrize(
    ("dimensions", "text"),
    [((80, 1, 1), "80"), ((16, 8, 1), "16x8"), ((1, 1, 1), "1"), ((4, 1, 2), "4x1x2")],
)
def test_sizes_drop_trailing_ones(dimensions, text):
    assert figures.size(dimensions) == text


def test_bars_stay_in_their_width():
    for value in (-5, 0, 33.3, 100, 250, math.nan):
        assert len(figures.bar(value, 10)) == 10
    assert figures.bar(50, 4) == "██··"


def test_names_cannot_control_the_terminal():
    assert figures.clean("a\x1b[31mb\nc") == "a?[31mb?c"


def test_models_of_dependences_are_counted_where_they_differ():
    assert figures.dependences([]) == ""
    assert figures.dependences(["control"] * 3) == "control bits"
    both = figures.dependences(["control", "scoreboard", "control"])
    assert both == "control bits (2 kernels), scoreboard (1 kernels)"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lib::detail::scan<int>", "lib::detail::scan<int>"),
        ("lib::V_3::detail::sort::histogram<lib::Two<int, 4>>", "histogram<Two<int, 4>>"),
        ("lib::V_3::detail::sort::distribute<int>", "distribute<int>"),
        ("lib::(anonymous namespace)::Shape<ns::A>::fill", "fill"),
        ("a_kernel_of_the_program_itself", "a_kernel_of_the_program_…"),
        ("lib::detail::Pointer::operator-><int>", "lib::detail::Pointer::op…"),
    ],
)
def test_long_names_are_brief(name, text):
    assert figures.kernel_name(name, 25) == text
