import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from lockstep.report.columns import ALWAYS, Column, Kind, table

NUMBERS = st.integers(0, 10**12).map("{:,}".format)
WORDS = st.text("abcdefgh<>:,_", min_size=1, max_size=70)


def shown(columns, rows, width):
    console = Console(file=io.StringIO(), width=max(width, 40), color_system=None)
    console.print(table(columns, rows, width))
    return console.file.getvalue().splitlines()


@given(st.data(), st.integers(1, 7), st.integers(40, 200))
def test_numbers_are_whole_or_absent(data, count, width):
    """The first column is a name, of the others the last always stays."""
    ranks = data.draw(st.permutations(range(count)))
    columns = [Column("name", Kind.NAME)]
    columns += [Column(f"n{k}", rank=rank) for k, rank in enumerate(ranks[:-1])]
    columns.append(Column("last"))
    rows = data.draw(st.lists(st.tuples(WORDS, *[NUMBERS] * count), min_size=1, max_size=4))
    head, *lines = shown(columns, rows, width)
    assert len(lines) == len(rows) and max(map(len, [head, *lines])) <= width
    kept = [k for k, column in enumerate(columns) if column.heading in head.split()]
    assert kept[0] == 0 and kept[-1] == count
    for line, row in zip(lines, rows):
        assert line.split()[1:] == [row[k] for k in kept[1:]]
        name = line.split()[0]
        assert name == row[0] or (name.endswith("…") and row[0].startswith(name[:-1]))
    gone = [c.rank for k, c in enumerate(columns) if k not in kept]
    ranked = [columns[k].rank for k in kept if columns[k].rank != ALWAYS]
    assert not gone or not ranked or max(gone) < min(ranked)


def test_a_name_is_shortened_before_a_number_goes():
    columns = [Column("kernel", Kind.NAME), Column("cycles", rank=1), Column("IPC")]
    rows = [["k" * 60, "1,234,567", "1.50"]]
    assert shown(columns, rows, 40)[1].split() == ["k" * 22 + "…", "1,234,567", "1.50"]


def test_prose_goes_on_in_the_next_line():
    columns = [Column("a", Kind.WORD), Column("b", Kind.PROSE)]
    lines = shown(columns, [["x", "one two three four five six seven eight nine ten"]], 40)
    assert len(lines) == 3 and " ".join(lines[1].split()[1:] + lines[2].split()).endswith("ten")


def test_a_table_without_headings_has_no_head():
    assert shown([Column("", Kind.WORD), Column("")], [["x", "1"]], 40) == ["x  1"]
