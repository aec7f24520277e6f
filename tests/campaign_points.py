"""Points for tests of campaigns, and what evaluates them: workers import this module."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import LockstepError


@dataclass(frozen=True)
class Square:
    """A number to square; ``log``: a folder in which each attempt leaves a file."""

    number: int
    log: str
    trouble: str = ""

    @property
    def digest(self):
        return f"square {self.number}"

    @property
    def facts(self):
        return {"number": self.number}

    def attempts(self):
        """How often it was tried."""
        return len(list(Path(self.log).glob(f"{self.number}-*")))


def square(point):
    """The square, or trouble."""
    tried = point.attempts()
    Path(point.log, f"{point.number}-{tried}").touch()
    if point.trouble == "fails" or (point.trouble == "fails once" and not tried):
        raise LockstepError(f"no square of {point.number}")
    if point.trouble == "is wrong":
        return {"square": [point.number]}
    if point.trouble == "dies" or (point.trouble == "dies once" and not tried):
        os.kill(os.getpid(), signal.SIGKILL)
    if point.trouble == "leaves":
        os._exit(3)
    if point.trouble == "waits":
        signal.pause()
    if point.trouble == "raises":
        raise ZeroDivisionError("two\nlines")
    return {"square": point.number**2, "even": "no" if point.number % 2 else "yes"}


def interrupts(point):
    """Ctrl-C, in the terminal of a campaign, at the third point."""
    if point.number == 2:
        os.kill(os.getppid(), signal.SIGINT)
    return square(point)
