"""Execute notebooks and keep what comes out: ``python scripts/notebooks.py docs/*.ipynb``.

It needs ``pip install 'lockstep-gpu[docs]'``. Nothing that differs from run to run is kept.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from lockstep.files import replacing

ROOT = Path(__file__).parents[1]


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook with its outputs, run in a folder of its own beside ``examples``."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        # Else the debugger of the kernel says how slow it is, on some versions of Python.
        os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=600, record_timing=False, resources=resources)
        client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # else random
        cell.metadata = {}
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        text = nbformat.writes(executed(Path(name)), indent=1)
        with replacing(Path(name)) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(text) / 1000:.0f} kB")
