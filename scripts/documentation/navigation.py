"""The sections of the site and their pages: what ``docs/index.md`` lists, and nothing else."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
INDEX = "index.md"


def sections() -> dict[str, dict[str, str]]:
    """The sections of the index: of each the titles of its pages, and where they lie."""
    found: dict[str, dict[str, str]] = {}
    for line in (ROOT / "docs" / INDEX).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            found[line.removeprefix("## ")] = {}
        elif match := re.match(r"\| \[([^\]]+)\]\(([^)#\s]+)\) \|", line):
            next(reversed(found.values()))[match[1]] = match[2]
    return found


def root_pages() -> list[str]:
    """The files of the repository's root that are pages: those that the index lists."""
    listed = (target for pages in sections().values() for target in pages.values())
    return [target.removeprefix("../") for target in listed if target.startswith("../")]
