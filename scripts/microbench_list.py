"""Write docs/microbench-list.md from the declarations of the suite."""

from pathlib import Path

from lockstep.microbench.document import page

if __name__ == "__main__":
    file = Path(__file__).parents[1] / "docs" / "microbench-list.md"
    file.write_text(page(), encoding="utf-8")
