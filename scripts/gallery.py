"""Draw the pictures of docs/gallery.md: ``python scripts/gallery.py docs/pictures``.

The page has the lines that draw them; they run here, in a folder of their own.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from lockstep.files import replacing

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"


def code() -> str:
    """The lines of the page, in one."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return "\n".join(blocks)


def draw(target: Path) -> list[Path]:
    """Run the page, and put what it draws into ``target``."""
    written = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.chdir(folder)
        try:
            exec(compile(code(), str(PAGE), "exec"), {"__name__": "gallery"})
        finally:
            os.chdir(before)
        for picture in sorted(Path(folder).glob("*.svg")):
            with replacing(target / picture.name) as temporary:
                temporary.write_bytes(picture.read_bytes())
            written.append(target / picture.name)
    return written


if __name__ == "__main__":
    for path in draw(Path(sys.argv[1]).resolve()):
        print(path)
