"""Advice as it is printed."""

import io

import pytest
from rich.console import Console

from lockstep.advice.rule import Evidence
from lockstep.report.advice import ITEMS_SHOWN, print_advice, print_hint

ITEM = {
    "kernel": "_Z4axpyi", "rule": "uncoalesced", "title": "Uncoalesced accesses",
    "at_limit": False, "share": 0.496, "cycles": 1700, "what": "Scattered accesses.",
    "todo": "Use a tile.", "file": "a.cu", "line": 8, "pc": 64, "text": "LDG.E", "gain": 1.26,
    "lift": "coalescing", "simulated_cycles": None, "simulated": None,
    "evidence": [Evidence("sectors a request", 32.0, "sectors")._asdict(),
                 Evidence("sim__sol_l1.pct", 12.34, "%")._asdict()],
}  # fmt: skip


@pytest.fixture
def printed(synthetic):
    """Function from items, and what was simulated, to the lines that are printed."""

    def run(*items, what_if=(), width=100):
        result = synthetic.make_result()
        result.advice = {"items": list(items), "what_if": list(what_if)}
        written = io.StringIO()
        print_advice(result, Console(file=written, width=width))
        return [line.rstrip() for line in written.getvalue().splitlines()]

    return run


def test_an_item_says_what_where_and_what_to_do(printed):
    assert printed(ITEM) == [
        "",
        "Advice",
        "1. Uncoalesced accesses in axpy: 49.6 % of its time",
        "   Scattered accesses.",
        "   Most of it: a.cu:8",
        "   Use a tile.",
        "   Estimated: 1.26 times as fast (--what-if simulates coalescing).",
        "   sectors a request 32; sim__sol_l1.pct 12.3 %",
    ]


def test_what_was_simulated_stands_in_the_place_of_the_estimate(printed):
    runs = [
        {"lift": "units", "kernel": "", "cycles": 8000, "speedup": 1.0},
        {"lift": "coalescing", "kernel": "", "cycles": 6407, "speedup": 1.346},
        {"lift": "coalescing", "kernel": "axpy", "cycles": 6407, "speedup": 1.346},
    ]
    tried = ITEM | {"simulated": 1.346, "simulated_cycles": 6407}
    lines = printed(tried, what_if=runs)
    told = "   Simulated without coalescing as a limit: 6,407 cycles, 1.35 times as fast."
    assert told in lines and not any("Estimated" in line for line in lines)
    assert [line.split() for line in lines[-2:]] == [
        ["coalescing", "6,407", "1.35x"],
        ["units", "8,000", "1.00x"],
    ]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"line": 0}, "   Most of it: 0x0040 LDG.E"),
        ({"kernel": ""}, "1. Uncoalesced accesses in the run: 49.6 % of the time"),
        (
            {"at_limit": True},
            "1. Uncoalesced accesses in axpy: at its limit in 49.6 % of its time",
        ),
        ({"lift": ""}, "   Estimated: 1.26 times as fast."),
    ],
)
def test_an_item_tells_what_is_known(printed, change, line):
    assert line in printed(ITEM | change)


def test_of_a_limit_no_gain_is_estimated(printed):
    assert not any("Estimated" in line for line in printed(ITEM | {"at_limit": True}))


def test_only_the_first_items_are_shown(printed):
    lines = printed(*[ITEM] * (ITEMS_SHOWN + 3))
    assert lines[1] == f"Advice: the first {ITEMS_SHOWN} of {ITEMS_SHOWN + 3}"
    assert sum(". Uncoalesced" in line for line in lines) == ITEMS_SHOWN


def test_nothing_found_is_said(printed):
    assert printed() == ["", "Advice: no rule has found anything."]


@pytest.mark.parametrize("width", [40, 60, 200])
def test_lines_fit_the_width(printed, width):
    assert max(map(len, printed(ITEM, width=width))) <= width


def test_a_hint_names_what_was_found(synthetic):
    result = synthetic.make_result()
    written = io.StringIO()
    print_hint(result, Console(file=written, width=200))
    assert written.getvalue().startswith("\nSlow because of: slow units in kernel_")
    assert written.getvalue().endswith(". --advice tells more.\n")
    assert result.advice == {}
