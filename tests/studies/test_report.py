"""What a terminal shows of a study."""

import io

from rich.console import Console

from lockstep.studies.report import DocumentedOutcome, listed, views


def printed(*items, width=200):
    target = io.StringIO()
    console = Console(file=target, width=width, highlight=False, markup=False)
    for item in items:
        console.print(item)
    return target.getvalue()


def test_programs_means_and_claims(scheduling):
    lines = printed(*views(scheduling, 200)).splitlines()
    assert lines[0].endswith("QV100, size small, 12 runs.")
    assert "2 of 3 programs" in lines[1]
    table = {line.split()[0]: line.split()[1:3] for line in lines[4:8]}
    assert table == {
        "a": ["1.10", "2.00"],
        "b": ["1.40", "3.12"],
        "idle*": ["9.00", "9.00"],
        "mean": ["1.24", "2.50"],
    }
    text = "\n".join(lines)
    assert "2.5 times" in text and "2.50 times" in text and "met" in text


def test_a_narrow_terminal_cuts_no_number(scheduling):
    text = printed(*views(scheduling, 60), width=60)
    assert "1.24" in text and "2.50" in text
    assert "waiting" not in text


def test_all_studies_are_listed():
    text = printed(listed(200))
    assert "dram-scheduling" in text and "new FR-FCFS" in text


def test_a_document_has_both_tables(scheduling):
    documented = DocumentedOutcome(scheduling)
    assert documented.key == "dram-scheduling"
    lines = documented.markdown()
    assert lines[0].startswith("| the paper | says | here |")
    assert lines[3].startswith("| FR-FCFS over FCFS in the new memory system | 2.5 times | 2.50")
    assert lines[6].startswith("| program | old gain | new gain |")
    assert "| a | 1.10 | 2.00 |" in lines[8]
    assert lines[10].startswith("| idle\\* |") and lines[11].startswith("| mean | 1.24 | 2.50 |")
    assert lines[-1].endswith("; * marks the others.")
