"""Check the types of the package: mypy, whose errors may only become fewer.

``[tool.type-budget]`` in pyproject.toml says how many errors each part of the package may have, a
folder or a file beside ``__init__.py``; what is not there may have none. Run it as ``python
scripts/type_budget.py``; what follows goes to mypy, as ``--no-incremental``. The errors of parts
that have too many are printed. Exit code 1 if there are any, 2 if mypy could not check.
"""

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
_ERROR = re.compile(r"src/lockstep/([\w-]+)[^:]*:\d+: error: ")


def by_part(report: str) -> dict[str, list[str]]:
    """The errors in what mypy prints, by part of the package; "" has those of no part."""
    found = defaultdict(list)
    for line in report.splitlines():
        if ": error: " in line:
            place = _ERROR.match(line)
            found[place[1] if place else ""].append(line)
    return dict(found)


def judge(errors: dict[str, list[str]], budget: dict[str, int]) -> tuple[list[str], list[str]]:
    """What is wrong, and which budgets can be lowered."""
    wrong, lower = [], []
    for part in sorted(errors.keys() | budget.keys()):
        lines, allowed = errors.get(part, []), budget.get(part, 0)
        count = f"{part or 'elsewhere'}: {len(lines)} errors; {allowed} are allowed"
        if len(lines) > allowed:
            wrong += [*lines, count]
        elif len(lines) < allowed:
            lower.append(f"{count}: lower it in pyproject.toml")
    return wrong, lower


def main(arguments: list[str]) -> int:
    """Run mypy and compare; returns the exit code."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "mypy", "--no-pretty", "--hide-error-context", *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        print(done.stdout, end="")
        return 2
    wrong, lower = judge(by_part(done.stdout), settings["tool"]["type-budget"])
    print("\n".join(wrong + lower or ["no more errors of types than before"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
