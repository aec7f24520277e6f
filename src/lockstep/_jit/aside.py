"""Other processes of this package, which make code beside this one."""

import os
import sys
from typing import TYPE_CHECKING

from lockstep.store.sources import PACKAGE

if TYPE_CHECKING:
    import subprocess


def can_start() -> bool:
    """Whether there is an interpreter to run."""
    return bool(sys.executable)


def start(code: str, answers: bool = False) -> "subprocess.Popen[bytes]":
    """Run Python code that imports this very package.

    Its standard input is a pipe, which ends when this process does, however; its standard output
    is one if it ``answers``. What it says on standard error is lost.
    """
    import subprocess  # a run that compiles nothing does not need it

    # Files of the folder where it starts are no modules.
    places = [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(filter(None, places)), "PYTHONSAFEPATH": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if answers else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
