import os
import subprocess
import sys

import pytest

from lockstep import store
from lockstep.store import places

SHOW = """
from lockstep.store import places
for place in places.places():
    print(place.path, "refused" if place.refused else "writable" if place.writable else "read")
"""


def show(*named, **environment):
    """Places and their state in a process of its own, and what it says."""
    environment = os.environ | {store.VARIABLE: ":".join(map(str, named))} | environment
    done = subprocess.run(
        [sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr.splitlines()


@pytest.fixture
def own(tmp_path):
    """The user's own cache, if nothing else is named."""
    return {"XDG_CACHE_HOME": str(tmp_path / "own")}


def test_a_place_is_made_and_no_other_is_needed(tmp_path, own):
    assert show(tmp_path / "a" / "b", **own) == ([f"{tmp_path}/a/b writable"], [])
    assert (tmp_path / "a").stat().st_mode & 0o022 == 0


def test_all_named_places_are_searched(tmp_path, own):
    lines, _ = show(tmp_path / "one", tmp_path / "two", **own)
    assert lines == [f"{tmp_path}/one writable", f"{tmp_path}/two writable"]


def test_the_user_s_own_is_the_default(tmp_path, own):
    assert show(**own) == ([f"{tmp_path}/own/lockstep writable"], [])


@pytest.mark.parametrize("inner", ["", "model"])
def test_a_place_that_others_could_write_is_refused_in_one_line(tmp_path, own, inner):
    (tmp_path / "open" / inner).mkdir(parents=True)
    (tmp_path / "open" / inner).chmod(0o777)
    lines, said = show(tmp_path / "open", **own)
    assert lines == [f"{tmp_path}/open refused", f"{tmp_path}/own/lockstep writable"]
    (line,) = said
    assert line.startswith(f"lockstep: the cache {tmp_path}/open is not used: ")
    assert "can be written by others (mode 0777)" in line and store.VARIABLE in line


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path, own):
    (tmp_path / "file").write_text("no folder")
    lines, (line,) = show(tmp_path / "file", **own)
    assert lines[0] == f"{tmp_path}/file refused" and "File exists" in line


def test_a_kind_that_does_not_exist_is_a_mistake(place):
    with pytest.raises(AssertionError):
        places.Place(place.path).kind("unknown")
