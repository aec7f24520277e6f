"""Whether anybody else could change what lies in a folder: what we keep is machine code."""

import functools
import grp
import os
import pwd
import stat
from pathlib import Path

_ROOT = 0


@functools.cache
def _ours() -> frozenset[int]:
    """The users whose files are believed: this one, and root.

    In a container without a root of its own, root's files seem to be those of the overflow user.
    """
    users = {_ROOT, os.geteuid()}
    try:
        ranges = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
        if ranges and not any(int(first) == _ROOT for first, *_ in ranges):
            users.add(int(Path("/proc/sys/kernel/overflowuid").read_text()))
    except (OSError, ValueError):  # no such file on this system
        pass
    return frozenset(users)


@functools.cache
def _is_private(group: int) -> bool:
    """Whether a group has this user alone, as many systems give each user one."""
    try:
        user, entry = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    alone = set(entry.gr_mem) <= {user.pw_name}
    return group == user.pw_gid and entry.gr_name == user.pw_name and alone


def fault(found: os.stat_result) -> str | None:
    """Why another user could change a file or folder; None if only this user and root can."""
    if found.st_uid not in _ours():
        return "belongs to another user"
    mode = stat.S_IMODE(found.st_mode)
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_private(found.st_gid)):
        return f"can be written by others (mode {mode:04o})"
    return None


def distrust(folder: Path) -> str | None:
    """Why another user could change what lies in a folder; None if only this user and root can.

    ``folder`` is resolved. Those above it count too: who may write one of them may put another in
    the place of the next, unless it is sticky, as ``/tmp`` is.
    """
    for path in (folder, *folder.parents):
        found = path.stat()
        sticky = path != folder and found.st_mode & stat.S_ISVTX
        wrong = None if sticky and found.st_uid in _ours() else fault(found)
        if wrong:
            return f"{path} {wrong}"
    return None
