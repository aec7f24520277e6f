"""docs/gpus.md is up to date."""

from pathlib import Path

from lockstep.gpus import library, reference

PAGE = Path(__file__).parents[2] / "docs" / "gpus.md"


def test_the_tables_of_the_page_are_what_the_specification_says():
    text = PAGE.read_text(encoding="utf-8")
    assert reference.renew(text) == text, "run python -m lockstep.gpus.reference docs/gpus.md"


def test_the_page_names_every_gpu_and_kind_of_parameter():
    text = PAGE.read_text(encoding="utf-8")
    for name in library.names():
        assert f"| `{name}` |" in text
    for row in library.describe(library.gpu("QV100")):
        if not row.name.startswith(("sm.units.", "dram.timing.")):
            assert f"| `{row.name}` | {row.unit} | {row.range} |" in text
    for general in ("sm.units.UNIT.intervals.CLASS", "dram.timing.NAME"):
        assert f"| `{general}` |" in text


def test_renewing_repairs_a_table_and_keeps_the_text():
    damaged = "a\n<!-- gpus: begin -->\nstale\n<!-- gpus: end -->\nb\n"
    renewed = reference.renew(damaged)
    assert renewed.startswith("a\n<!-- gpus: begin -->\n| name |")
    assert "<!-- gpus: end -->\nb\n" in renewed
    assert "stale" not in renewed
