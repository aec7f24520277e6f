"""Entries that no run used for two weeks are removed, and what a killed process left half.

A process reads an entry whole before it uses it, and notes each use of a folder of files that
other programs load. So nothing that runs needs what is removed, and several may clean at once.
"""

import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_DAY = 86400
_KEEP_DAYS = 14
_STAMP = "cleaned"  # in a place, with the time at which it was


def is_due(place: Path) -> bool:
    """Whether a place was not cleaned for a day; then it is noted that it is cleaned now.

    To look at 8,000 entries takes 55 ms, a tenth of a short run.
    """
    stamp = place / _STAMP
    with suppress(OSError):  # not cleaned before
        if stamp.stat().st_mtime > time.time() - _DAY:
            return False
    with suppress(OSError):
        stamp.touch()
    return True


def clean(folders: Iterable[Path]) -> None:
    """Remove what is old from folders of entries."""
    now = time.time()
    for folder in folders:
        with suppress(OSError):  # not there yet, or another process cleans it, too
            for found in list(os.scandir(folder)):
                days = _KEEP_DAYS if is_entry(found.name) else 1
                if found.stat(follow_symlinks=False).st_mtime < now - days * _DAY:
                    remove(Path(found.path))


def note_use(path: Path) -> None:
    """Note that an entry is in use."""
    with suppress(OSError):  # a read-only place
        os.utime(path)


def is_entry(name: str) -> bool:
    """Whether a name in a folder of entries is that of one, and not of a file in the making."""
    return len(name) == 32 and not set(name) - set("0123456789abcdef")


def is_ours(name: str) -> bool:
    """Whether a name in a folder of entries is one that we give."""
    return is_entry(name) or (name.startswith(".") and is_entry(name[1:33]))


def remove(path: Path) -> None:
    """Remove one of our files or folders; others may do so at the same time."""
    if not is_ours(path.name):
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
