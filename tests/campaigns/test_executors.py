"""Clusters give the table that processes of this machine give, whatever becomes of workers."""

import sys

import pandas
import pytest

from campaign_points import Square, square
from lockstep.campaigns import campaign
from lockstep.errors import LockstepError

TROUBLE = {1: "fails", 2: "dies once", 4: "fails once", 5: "raises"}


def table(folder, executor, **options):
    folder.mkdir()
    points = [Square(n, str(folder), TROUBLE.get(n, "")) for n in range(7)]
    return campaign(points, square, executor=executor, workers=2, **options), points


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return table(tmp_path_factory.mktemp("local") / "log", "local")[0]


@pytest.mark.parametrize(("executor", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_gives_the_same_table(tmp_path, local, monkeypatch, executor, library):
    pytest.importorskip(library)
    monkeypatch.setenv("PYTHONPATH", _path(), prepend=":")
    found, points = table(tmp_path / "log", executor, journal=tmp_path / "journal")
    pandas.testing.assert_frame_equal(found, local)
    assert [p.attempts() for p in points][1:3] == [2, 2]


def _path():
    """Workers of a cluster do not get this process's path."""
    return ":".join(sys.path)


@pytest.mark.parametrize(("executor", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_that_is_not_installed_is_named(monkeypatch, tmp_path, executor, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(LockstepError, match=rf"needs {library}: pip install .*gpu\[{executor}\]"):
        table(tmp_path / "log", executor)
