"""What is known of points, by digest: a file to which a line is added when a point has ended.

The first line says what the file is; each other one is a JSON object. A line that was cut off by
the end of its process is not there. Whoever writes holds a lock on the file.
"""

import contextlib
import fcntl
import json
from pathlib import Path
from typing import Any, Self

from lockstep.campaigns.attempts import Attempt
from lockstep.errors import InputError, LockstepError
from lockstep.files import unwritable

HEAD = {"lockstep campaign": 1}


class PointJournal:
    """Outcomes by digest; with a path, also after this process. A context manager."""

    def __init__(self, path: str | Path | None = None):
        """Read what there is; raises :class:`InputError` if it is something else, or in use."""
        self.path = None if path is None else Path(path)
        self._known: dict[str, Attempt] = {}
        self._file: Any = None
        if self.path is not None:
            self._open(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, digest: str) -> Attempt | None:
        """What came of a point, if that is known."""
        return self._known.get(digest)

    def add(self, digest: str, outcome: Attempt, attempts: int) -> None:
        """Keep what came of a point after so many attempts."""
        self._known[digest] = outcome
        if self._file is not None:
            self._write({"digest": digest, "attempts": attempts, **outcome._asdict()})

    def close(self) -> None:
        """Let others write."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # what could not be written was told then
                self._file.close()
            self._file = None

    def _open(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.seek(0)
            content = self._file.read()
        except BlockingIOError:
            self.close()
            raise InputError(path, "", "another campaign writes this file") from None
        except OSError as error:
            self.close()
            raise unwritable(path, error) from error
        try:
            self._read(path, content)
        except LockstepError:
            self.close()
            raise

    def _read(self, path: Path, content: bytes) -> None:
        lines = content.split(b"\n")
        whole = len(content) - len(lines.pop())  # what follows the last line's end was cut off
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                if number == 1:
                    if record != HEAD:
                        raise ValueError("is of another kind")
                    continue
                outcome = Attempt(dict(record["values"]), record["error"], record["seconds"])
                self._known[record["digest"]] = outcome
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                problem = f"no journal of a campaign: {error}"
                raise InputError(path, f"line {number}", problem) from error
        if not lines and content and not _head().startswith(content):
            raise InputError(path, "line 1", "no journal of a campaign")
        self._file.truncate(whole)
        if not lines:
            self._write(HEAD)

    def _write(self, record: dict) -> None:
        try:
            self._file.write(json.dumps(record).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            assert self.path is not None
            raise unwritable(self.path, error) from error


def _head() -> bytes:
    return json.dumps(HEAD).encode()
