import pytest

from lockstep.validation import document
from lockstep.validation.comparison import Comparison, Figure, as_counted

FIGURES = [Figure("a", 11, 10, "here"), Figure("b", 9700, 10000, "there")]
PAGE = """\
Text before.
<!-- table: one -->
old
<!-- end -->
Between.
<!-- table: two -->
<!-- end -->
After.
"""


def test_errors_are_summed_up():
    summary = Comparison("k", "t", FIGURES, ["c: absent"]).summary()
    assert summary.startswith("error: mean 6.50 %, median 6.50 %, 90th percentile 9.30 %")
    assert summary.endswith("worst 10.00 %; 2 of 3 compared")
    assert Comparison("k", "t", [], ["c: absent"]).summary() == "0 of 1 compared"


def test_a_peer_is_summed_up_beside_it():
    found = Comparison("k", "t", FIGURES, [], ("Other", [-0.2, 0.1]))
    assert "; Other on the same: mean 15.00 %, median 15.00 %" in found.summary()


def test_a_zero_that_should_be_one_is_exact_or_wrong():
    assert Figure("a", 0, 0, "").error == 0
    assert Figure("a", 3, 0, "").error == 1


def test_a_table_in_markdown():
    lines = Comparison("k", "t", FIGURES, ["c: absent", "d: absent"]).markdown()
    assert lines[:4] == [
        "| what | lockstep | reference | difference | reference from |",
        "| --- | ---: | ---: | ---: | --- |",
        "| a | 11 | 10 | +10.00 % | here |",
        "| b | 9,700 | 10,000 | -3.00 % | there |",
    ]
    assert lines[4] == ""
    assert lines[5].startswith("Error: mean 6.50 %")
    assert lines[5].endswith("2 of 4 compared; 2 absent.")


def test_a_source_of_all_stands_below_the_table():
    lines = Comparison("k", "t", FIGURES[:1]).markdown()
    assert lines[2] == "| a | 11 | 10 | +10.00 % |"
    assert lines[-1].startswith("Reference: here. Error: mean 10.00 %")


def test_tables_are_renewed_in_place(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    assert document.keys(PAGE) == ["one", "two"]
    document.renew(path, [Comparison("two", "t", FIGURES), Comparison("three", "t", FIGURES)])
    first, second = path.read_text().split("Between.\n")
    assert first == PAGE.split("Between.\n")[0]
    assert "| a | 11 | 10 |" in second and second.endswith("compared.\n<!-- end -->\nAfter.\n")
    document.renew(path, [Comparison("two", "t", FIGURES)])
    assert path.read_text().split("Between.\n")[1] == second


@pytest.mark.parametrize(
    ("data", "problem"), [(b"text", "no place for a table"), (b"\xff", "UTF-8")]
)
def test_a_file_without_tables_is_refused(tmp_path, data, problem):
    path = tmp_path / "page.md"
    path.write_bytes(data)
    with pytest.raises(document.InputError, match=problem):
        document.read(path)
    with pytest.raises(document.InputError, match="cannot read"):
        document.read(tmp_path / "absent.md")


def test_dram_sectors_are_seen_in_steps_of_eight_and_nothing_else_is():
    read = "dram__sectors_read.sum"
    assert [as_counted(read, n) for n in (0.0, 7.0, 8.0, 27.0)] == [0, 0, 8, 24]
    assert as_counted("gpc__cycles_elapsed.max", 1234.5) == 1234.5
