"""Notebooks are shipped with their outputs, which are those that come out when they run.

They run as a notebook's server would run them, where nbclient is installed: the extra ``docs``.
``tests/test_documentation.py`` runs their cells anywhere.
"""

import html
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))
RENEW = "renew them: python scripts/notebooks.py docs/*.ipynb"
MOST_BYTES = 200_000


def outputs(cells):
    """What each cell of code shows: texts as they are read, of pictures that there is one."""
    code = (cell for cell in cells if cell["cell_type"] == "code")
    return [joined(shown(output) for output in cell["outputs"]) for cell in code]


def joined(shown_outputs):
    """Outputs with texts of one stream joined: a kernel sends them in pieces of any size."""
    pieces = []
    for kind, text in shown_outputs:
        if pieces and pieces[-1][0] == kind and kind in ("stdout", "stderr"):
            pieces[-1] = kind, pieces[-1][1] + text
        else:
            pieces.append((kind, text))
    return pieces


def shown(output):
    """One output: its texts, without markup and blanks, and the kinds of its pictures."""
    if output["output_type"] == "stream":
        return output["name"], "".join(output["text"])
    data = output["data"]
    pictures = sorted(kind for kind in data if kind.startswith("image/"))
    if pictures:
        return pictures[0], ""
    if "text/html" not in data:
        return "text/plain", "".join(data["text/plain"])
    text = re.sub(r"<style.*?</style>", " ", "".join(data["text/html"]), flags=re.DOTALL)
    return "text/html", " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_there_are_some():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_outputs_are_shipped_and_say_nothing_of_the_machine(path):
    cells = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    assert sum(bool(cell["outputs"]) for cell in cells) > len(cells) / 2
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
    assert kinds <= {"execute_result", "display_data", "stream"}  # no errors
    streams = {o.get("name") for cell in cells for o in cell["outputs"]}
    assert "stderr" not in streams
    text = path.read_text(encoding="utf-8")
    assert len(text) < MOST_BYTES
    assert not re.search(r"/(home|root|tmp|work)/|\bseconds\b.*\bread in\b", text)


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_outputs_are_those_that_come_out(path, load_script):
    for name in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(name)
    done = load_script(ROOT / "scripts" / "notebooks.py").executed(path)
    assert outputs(done.cells) == outputs(read(path)["cells"]), RENEW


def test_a_stream_may_come_in_pieces():
    one, other = ("stdout", "a\n"), ("text/html", "b")
    assert joined([one, one, other, one]) == [("stdout", "a\na\n"), other, one]


def test_pictures_are_compared_by_their_kind_and_tables_by_their_texts():
    table = {"text/html": "<style>x</style><td>a &lt;</td>\n<td>1</td>", "text/plain": "y"}
    assert shown({"output_type": "execute_result", "data": table}) == ("text/html", "a < 1")
    picture = {"image/png": "abc", "text/plain": "<Figure>"}
    assert shown({"output_type": "display_data", "data": picture}) == ("image/png", "")
