"""Damage the input of every reader at random, and see that it is read or refused in one line.

``python scripts/fuzz.py TARGET --inputs 20000`` prints what became of the inputs, and exits with 1
if there were defects: a traceback, a signal, a hang, memory without limit, damage that was not
noticed. What failed is made small and kept; ``--replay FILE`` reads it again in this process.
Targets are in ``tests/fuzzing``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from fuzzing.command import main

if __name__ == "__main__":
    sys.exit(main())
