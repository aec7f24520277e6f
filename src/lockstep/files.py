"""Files written under a temporary name and renamed, so that none is ever half."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lockstep.errors import InputError

STANDARD_OUTPUT = Path("/dev/stdout")


@contextmanager
def replacing(path: str | Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield a temporary path; what is written there takes the name when the block ends well.

    It is on the disk before it takes the name. ``mode`` is less what the umask takes. Folders are
    made. A link stays, and the file that it names is replaced. What is no file, such
    as ``/dev/stdout`` or a pipe, is written to. Raises :class:`InputError` if that cannot be.
    """
    path = Path(path)
    stream = _is_stream(path)
    target = path if stream else Path(os.path.realpath(path))
    try:
        folder = None if stream else target.parent
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=folder)
        os.close(handle)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield Path(name)
        if stream:
            _send(Path(name), path)
        else:
            os.chmod(name, mode & ~_umask())  # mkstemp makes private files
            _synchronise(Path(name))
            os.replace(name, target)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        Path(name).unlink(missing_ok=True)


def unwritable(path: str | Path, error: OSError) -> InputError:
    """The one clear line for a file that cannot be written."""
    return InputError(path, "", f"cannot write: {error.strerror or error}")


def _is_stream(path: Path) -> bool:
    """Whether a rename would put a file in the place of a device or a pipe."""
    return path.parent == Path("/dev") or (path.exists() and not (path.is_file() or path.is_dir()))


def _send(content: Path, stream: Path) -> None:
    ours = stream == STANDARD_OUTPUT  # opened anew it would begin where a redirected file does
    sys.stdout.flush()
    with open(1 if ours else stream, "ab", closefd=not ours) as target, content.open("rb") as file:
        shutil.copyfileobj(file, target)


def _synchronise(path: Path) -> None:
    """Wait until a file is on the disk: after a crash, a renamed one could be empty."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
