"""Entries by kind and key."""

import errno
import hashlib
import os
import stat
from pathlib import Path

from lockstep.errors import InputError
from lockstep.files import replacing
from lockstep.store import cleaning, entry, trust
from lockstep.store.places import make, say, usable, writable

_MODE = 0o644
_MOST_BYTES = 1 << 32


def get(kind: str, key: str) -> bytes | None:
    """The content that was put under a key, verified; None if there is none.

    ``kind`` is one of ``KINDS``; ``key`` says all that the content depends on. A file that is
    damaged, or that another user could have written, is said on stderr once and counts as none.
    """
    for place in usable():
        path = place.kind(kind) / file_name(key)
        try:
            content = read(path, f"{kind}/{key}")
        except FileNotFoundError:
            continue
        except (OSError, entry.Damaged) as error:
            say(f"{path} is damaged and made again: {reason(error)}")
            continue
        cleaning.note_use(path)
        return content
    return None


def put(kind: str, key: str, content: bytes) -> bool:
    """Keep content under a key; whether it could be. If not, that is said: only time is lost."""
    place = writable()
    if place is None:
        say("no cache can be written, so what is compiled serves this run only")
        return False
    path = place.kind(kind) / file_name(key)
    try:
        make(path.parent)
        if path.is_symlink() or not path.is_file():
            cleaning.remove(path)  # a pipe would be written to
        with replacing(path, _MODE) as temporary:
            temporary.write_bytes(entry.pack(f"{kind}/{key}", content))
    except (OSError, InputError) as error:
        say(f"what is compiled is not kept: {reason(error)}")
        return False
    return True


def file_name(key: str) -> str:
    """The name of a key's file or folder: 32 hexadecimal digits."""
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()


def reason(error: Exception) -> str:
    """What an error says, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def read(path: Path, name: str) -> bytes:
    """The verified content of a file that was written for ``name``.

    Raises :class:`entry.Damaged`, FileNotFoundError, OSError.
    """
    found, content = entry.unpack(read_file(path))
    if found != name:
        raise entry.Damaged(f"it is another entry, {found!r}")
    return content


def read_file(path: Path) -> bytes:
    """A file that only this user and root could have written. Raises :class:`entry.Damaged`."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise entry.Damaged("it is a link") from error
        raise
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise entry.Damaged("it is no file")
        wrong = trust.fault(found)
        if wrong:
            raise entry.Damaged(f"it {wrong}")
        if found.st_size > _MOST_BYTES:
            raise entry.Damaged(f"it has {found.st_size} bytes")
        return file.read()
