import os
import shutil
import time

import pytest

from lockstep.store import sources
from test_jit import run

SHOW = """
import builtins
from lockstep.store import sources

sources._STILL = {still}
read = []
opened = builtins.open
def open(name, *rest):
    read.append(str(name))
    return opened(name, *rest)
builtins.open = open
print(sources.digest(sources.closure("model/sm/sm.py")))
print(sum(name.endswith(".py") for name in read))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package that was made long ago, with a cache of its own."""
    copy = tmp_path / "lockstep"
    shutil.copytree(sources.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "cache").mkdir()
    time.sleep(sources._STILL / 1e9 + 0.1)
    return copy


def look(package, still=sources._STILL, **environment):
    """The digest of what a file of the copy imports from, and how many files were read for it.

    A file that was changed less than ``still`` ns before is not believed.
    """
    place = {"PYTHONPATH": str(package.parent), "LOCKSTEP_CACHE_DIR": str(package.parent / "cache")}
    digest, read = run(SHOW.format(still=still), **place | environment)
    return digest, int(read)


def test_files_are_read_once_and_again_where_they_change(package):
    first, read = look(package)
    assert read > 50
    assert look(package) == (first, 0)

    file = package / "model" / "core" / "fetch.py"
    told, content = file.stat(), file.read_bytes()
    assert content.count(b"the") > 0
    file.write_bytes(content.replace(b"the", b"teh", 1))
    os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))
    assert file.stat().st_size == told.st_size and file.stat().st_mtime_ns == told.st_mtime_ns
    just_now = 3600 * 10**9
    second, read = look(package, just_now)
    assert second != first and read == 1
    assert look(package, just_now) == (second, 1)  # nor is it believed the next time
    assert look(package, -just_now) == (second, 1)
    assert look(package) == (second, 0)

    file.write_bytes(content)
    assert look(package)[0] == first


def test_a_file_that_appears_where_something_is_imported_from_counts(package):
    first, _ = look(package)
    new = package / "model" / "core.py"
    assert "from lockstep.model.core import" in (package / "model" / "sm" / "sm.py").read_text()
    new.write_text("")
    second, read = look(package)
    assert second != first and read > 50  # nothing that was kept is believed
    new.unlink()
    assert look(package)[0] == first


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x81\xa5files\xc4\0"])
def test_what_another_version_kept_is_passed_over(package, content):
    first, _ = look(package)
    program = (
        "from lockstep import store\n"
        "from lockstep.store import sources\n"
        f"store.put(sources._KIND, sources._KEY, {content!r})"
    )
    place = {"PYTHONPATH": str(package.parent), "LOCKSTEP_CACHE_DIR": str(package.parent / "cache")}
    run(program, **place)
    again, read = look(package)
    assert again == first and read > 50


def test_without_a_place_to_keep_them_all_files_are_read(package):
    first, read = look(package)
    (package.parent / "cache").chmod(0o777)  # it is refused
    assert look(package, XDG_CACHE_HOME=str(package / "__init__.py")) == (first, read)
