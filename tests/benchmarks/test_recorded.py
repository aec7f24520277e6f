"""Machine code executed here does what a real GPU's tracer recorded."""

import pytest


@pytest.fixture(scope="module")
def recorded(repository, load_script):
    return load_script(repository / "benchmarks" / "recorded.py")


@pytest.fixture(scope="module")
def rows(recorded, shared, tmp_path_factory):
    """Rows of a program, by its name."""
    folder, data = tmp_path_factory.mktemp("recorded"), shared / "data"

    def compare(name):
        ours = recorded.executed(name, data, folder / f"{name}.lst")
        return recorded.compare(name, ours, recorded.recorded(name, data))

    return compare


def test_a_vector_addition_is_the_recorded_one(rows):
    (row,) = rows("vectoradd-sm80")
    assert row.warp_instructions == (26_601, 26_601)
    assert row.thread_instructions == (801_056, 801_056)
    assert row.accesses == (4_689, 4_689) and row.same == 4_689
    assert row.mix == {}


@pytest.mark.long
def test_a_search_accesses_what_the_recorded_one_did(rows):
    found = rows("bfs-sm80")
    assert [row.kernel for row in found] == ["expand", "advance"] * 8
    for row in found:
        assert row.same == row.accesses[0] == row.accesses[1]
        for here, there in (row.warp_instructions, row.thread_instructions):
            assert abs(here - there) < 0.13 * there, "compilers differ"
        assert set(row.mix) <= {"EXIT", "IADD3", "IMAD", "LEA", "PRMT", "SHF"}


def test_the_table(recorded):
    row = recorded.Row("k", (1000, 900), (5, 5), (10, 10), 9, {"IMAD": (3, 5)})
    assert list(recorded.markdown("p", [row]))[-1] == (
        "| 1 k | 1,000 / 900 | 5 / 5 | 10 / 10 | 90.0 % | IMAD -2 |"
    )
