"""Clusters give the table that processes of this machine give, whatever becomes of workers."""

import sys

import pandas
import pytest

from campaign_points import Square, square
from lockstep.campaigns import campaign
from lockstep.campaigns.executors import executor
from lockstep.campaigns.runner import evaluated
from lockstep.errors import LockstepError

TROUBLE = {1: "fails", 2: "dies once", 4: "fails once", 5: "raises"}


def table(folder, name, **options):
    folder.mkdir()
    points = [Square(n, str(folder), TROUBLE.get(n, "")) for n in range(7)]
    return campaign(points, square, executor=name, workers=2, **options), points


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return table(tmp_path_factory.mktemp("local") / "log", "local")[0]


@pytest.mark.parametrize(("name", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_gives_the_same_table(tmp_path, local, monkeypatch, name, library):
    pytest.importorskip(library)
    monkeypatch.setenv("PYTHONPATH", _path(), prepend=":")
    found, points = table(tmp_path / "log", name, journal=tmp_path / "journal")
    pandas.testing.assert_frame_equal(found, local)
    assert [p.attempts() for p in points][1:3] == [2, 2]


def test_whoever_kills_its_worker_takes_no_other_point_with_it(tmp_path, monkeypatch):
    """On Dask a point may kill its worker as often as it is tried, and others are tried once."""
    pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", _path(), prepend=":")
    points = [Square(n, str(tmp_path), "dies" if n in (2, 5) else "") for n in range(9)]
    workers = executor("dask", square, workers=2)
    found = {number: (outcome, tries) for number, outcome, tries in evaluated(points, workers)}
    workers.close()
    assert [found[n][1] for n in range(9)] == [1, 1, 2, 1, 1, 2, 1, 1, 1]
    assert [n for n in range(9) if "its worker was lost" in found[n][0].error] == [2, 5]


def _path():
    """Workers of a cluster do not get this process's path."""
    return ":".join(sys.path)


@pytest.mark.parametrize(("name", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_that_is_not_installed_is_named(monkeypatch, tmp_path, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(LockstepError, match=rf"needs {library}: pip install .*gpu\[{name}\]"):
        table(tmp_path / "log", name)
