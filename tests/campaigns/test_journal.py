"""Journals: what is read again, and what is cut off or none."""

import math
from pathlib import Path

import pytest

from lockstep.campaigns import Attempt, PointJournal
from lockstep.errors import InputError


@pytest.fixture
def path(tmp_path):
    """A journal of two points."""
    path = tmp_path / "new" / "journal"
    with PointJournal(path) as journal:
        journal.add("a", Attempt({"x": 0.1 + 0.2, "y": math.nan, "z": "text"}, "", 1.5), 1)
        journal.add("b", Attempt({}, "failed", 0.5), 2)
    return path


def test_values_are_read_as_they_were(path):
    with PointJournal(path) as journal:
        found = journal.get("a")
        assert (found.values["x"], found.values["z"], found.seconds) == (0.1 + 0.2, "text", 1.5)
        assert math.isnan(found.values["y"])
        assert journal.get("b") == Attempt({}, "failed", 0.5)
        assert journal.get("c") is None


def test_what_was_cut_off_is_forgotten_wherever_it_was(path):
    content = path.read_bytes()
    ends = [n for n, byte in enumerate(content, 1) if byte == ord("\n")]
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        with PointJournal(path) as journal:
            assert (journal.get("a") is not None) == (length >= ends[1])
            assert (journal.get("b") is not None) == (length >= ends[2])
            journal.add("c", Attempt({"x": 1.0}), 1)
        with PointJournal(path) as journal:
            assert journal.get("c").values == {"x": 1.0}


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"digest,error\n", "line 1"),
        (b"PAR1", "line 1"),
        (b'{"lockstep campaign": 2}\n', "line 1"),
        (b'{"lockstep campaign": 1}\n{}\n', "line 2"),
        (b'{"lockstep campaign": 1}\n[1]\n', "line 2"),
        (b'{"lockstep campaign": 1}\n\xff\xfe\n', "line 2"),
    ],
)
def test_what_is_no_journal_is_left_as_it_is(tmp_path, content, where):
    path = tmp_path / "journal"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{where}: no journal of a campaign"):
        PointJournal(path)
    assert path.read_bytes() == content


def test_a_folder_is_no_journal(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        PointJournal(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_by_the_name_of_the_journal(path):
    full = open("/dev/full", "wb")  # noqa: SIM115 (closed by the journal)
    told = pytest.raises(InputError, match="journal: cannot write: No space left on device")
    with told, PointJournal(path) as journal:
        journal._file.close()
        journal._file = full
        journal.add("c", Attempt({}, "", 0.0), 1)
