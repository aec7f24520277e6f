"""The documentation tells the truth: its examples run, its links lead somewhere, its recipes fit.

``python`` blocks of a page run one after the other in one namespace, unless they import what is
not installed (matplotlib is an extra); a ``text`` block right behind one is what it prints. Of a
``console`` block, the commands after ``$`` run, and what they print must be what stands there;
``...`` stands for any text. Both run in a directory with a copy of ``examples/``. A block after a
comment that begins with "not run" is only read, one after "file: NAME" is written into that file.
What a page draws there and ``docs/pictures`` has is compared with it.
"""

import ast
import importlib.util
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

from lockstep.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
NAMES = [str(p.relative_to(ROOT)) for p in PAGES]
RECIPES = ROOT / "CONTRIBUTING.md"
NOT_PYTHON = ("pip", "git", "cd")  # of console blocks: read, not run


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line at which the text begins."""

    language: str
    text: str
    line: int
    runs: bool
    file: str = ""  # that the block is written into
    follows: bool = False  # nothing is between it and the block before

    def __str__(self) -> str:
        """The id of a test."""
        return f"line {self.line}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found: list[Block] = []
    end = 0
    for match in re.finditer(r"^(```+)(\w*)\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL):
        before = text[: match.start()].rstrip().rsplit("\n\n", 1)[-1]
        line = text.count("\n", 0, match.start(3)) + 1
        comment = before.splitlines()[-1] if before else ""
        runs = not comment.startswith("<!-- not run")
        file = re.fullmatch(r"<!-- file: (\S+) -->", comment)
        follows = bool(found) and not text[end : match.start()].strip()
        found.append(Block(match[2], match[3], line, runs, file[1] if file else "", follows))
        end = match.end()
    return found


def commands(block: Block) -> list[tuple[str, str]]:
    """Each command of a console block with the output that is shown for it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"line {block.line}: text before the first $"
    joined = [p.replace("\\\n", " ") for p in parts[1:]]
    return [(p.partition("\n")[0], p.partition("\n")[2]) for p in joined]


def run(command: str, capfd) -> str:
    """What a command prints; it must succeed."""
    program, *arguments = shlex.split(command)
    if program == "lockstep":
        capfd.readouterr()
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"{command}\n{result.output}\n{result.exception}"
        if "./" in command:  # a program writes by itself; what is said of it is beside that
            return capfd.readouterr().out + result.stderr
        return result.stdout
    if program == "nvcc":
        subprocess.run([program, *arguments], check=True)
        return ""
    assert program == "python", f"{command}: not a program that the documentation may run"
    capfd.readouterr()
    arguments = arguments[1:] if arguments[0] == "-m" else arguments
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path.cwd()))  # as Python does for a script
        runpy.run_path(arguments[0], run_name="__main__")
    return capfd.readouterr().out


def matches(shown: str, printed: str) -> bool:
    """Whether a text is as shown, blanks at the ends of lines aside."""
    shown, printed = (
        "\n".join(line.rstrip() for line in t.strip().splitlines()) for t in (shown, printed)
    )
    return re.fullmatch(re.escape(shown).replace(r"\.\.\.", ".*"), printed, re.DOTALL) is not None


def missing_modules(code: str) -> set[str]:
    """Modules that a block imports and that are not installed."""
    trees = [n for n in ast.walk(ast.parse(code)) if isinstance(n, (ast.Import, ast.ImportFrom))]
    names = {a.name for t in trees if isinstance(t, ast.Import) for a in t.names}
    names |= {t.module for t in trees if isinstance(t, ast.ImportFrom)}
    return {n for n in names if importlib.util.find_spec(n.partition(".")[0]) is None}


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """An empty directory with the example inputs, entered; what examples register is forgotten."""
    from lockstep.sampling import SAMPLERS

    known = dict(SAMPLERS)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["python"])
    yield tmp_path
    SAMPLERS.clear()
    SAMPLERS.update(known)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_page_run(name, workplace, capfd):
    namespace = {"__name__": "documentation"}
    found = blocks(ROOT / name)
    if any(re.search(r"^from lockstep import .*\bplot\b", b.text, re.MULTILINE) for b in found):
        pytest.importorskip("matplotlib")
    language = printed = ""
    for block in found:
        if not block.runs:
            continue
        language, before = block.language, language
        if block.file:
            path = workplace / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        elif block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, ROOT / name, "exec")
            if missing_modules(block.text):
                language = ""
                continue
            capfd.readouterr()
            exec(code, namespace)
            printed = capfd.readouterr().out
        elif block.language == "text" and block.follows and before == "python":
            assert matches(block.text, printed), f"{name}, line {block.line}: printed is\n{printed}"
        elif block.language == "console":
            parts = commands(block)
            if any(command.startswith("nvcc ") for command, _ in parts) and not can_build():
                continue
            for command, shown in parts:
                if command.split()[0] in NOT_PYTHON or lacks_modules(command, workplace):
                    continue
                printed = run(command, capfd)
                place = f"{name}, line {block.line}"
                assert matches(shown, printed), f"{place}: {command} prints\n{printed}"
    check_pictures(name, workplace)


def can_build() -> bool:
    """Whether there is what CUDA programs are built and run with."""
    return all(map(shutil.which, ("nvcc", "g++", "cc")))


def lacks_modules(command: str, workplace: Path) -> bool:
    """Whether a command is a script that the page has, which imports what is not installed."""
    words = shlex.split(command)
    scripts = [workplace / w for w in words if w.endswith(".py") and (workplace / w).is_file()]
    texts = [script.read_text() for script in scripts]
    beside = {path.stem: path.read_text() for path in workplace.glob("*.py")}
    missing = set().union(*(missing_modules(text) for text in texts))
    texts += [beside[name] for name in missing & set(beside)]
    return bool(set().union(*(missing_modules(text) for text in texts)) - set(beside))


def check_pictures(name: str, workplace: Path) -> None:
    """The gallery shows what its lines draw; versions of matplotlib place it otherwise."""
    if name != "docs/gallery.md":
        return
    drawn = {path.name: picture_texts(path) for path in workplace.glob("*.svg")}
    shown = {path.name: picture_texts(path) for path in ROOT.glob("docs/pictures/*.svg")}
    assert drawn == shown, "renew them: python scripts/gallery.py docs/pictures"


def picture_texts(path: Path) -> list[str]:
    """The texts in a picture, and how many marks and lines it has."""
    text = path.read_text(encoding="utf-8")
    return [*re.findall(r"<text[^>]*>([^<]*)</text>", text), str(text.count("<use "))]


@pytest.mark.long
@pytest.mark.parametrize("notebook", sorted(ROOT.glob("docs/*.ipynb")), ids=lambda p: p.name)
def test_the_cells_of_a_notebook_run(notebook, workplace):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    namespace = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), namespace)


@pytest.mark.parametrize("name", NAMES)
def test_the_links_of_a_page_lead_somewhere(name):
    page = ROOT / name
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), f"{name}: {target}"
        if anchor:
            assert anchor in anchors(there), f"{name}: {target}"


@pytest.mark.parametrize("name", NAMES)
def test_the_files_that_a_page_names_exist(name):
    """Paths in backticks that begin with a folder of the repository."""
    text = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(), flags=re.MULTILINE | re.DOTALL)
    for path in re.findall(r"`((?:src|docs|tests|examples|benchmarks)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), f"{name}: {path}"


@pytest.mark.parametrize("block", [b for b in blocks(RECIPES) if b.language == "diff"], ids=str)
def test_the_recipes_fit_the_code(block):
    """What a recipe takes away, or leaves as it is, stands there once."""
    head, *lines = block.text.splitlines()
    before = "\n".join(line[1:] for line in lines if line[0] in " -")
    assert (ROOT / head.removeprefix("--- ")).read_text().count(before + "\n") == 1


def leaves(command: click.Command) -> Iterator[click.Command]:
    """The commands that do something: of a group, those in it."""
    if not isinstance(command, click.Group):
        yield command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner, name
        yield from leaves(inner)


def test_each_command_has_a_section_and_each_option_is_told_on_some_page():
    page = (ROOT / "docs" / "command-line.md").read_text()
    assert set(main.list_commands(click.Context(main))) <= set(re.findall(r"^## (.+)$", page, re.M))
    told = set(re.findall(r"--[a-z][a-z0-9-]+", "".join(p.read_text() for p in PAGES)))
    options = {
        option
        for command in leaves(main)
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if option.startswith("--")
    }
    assert len(options) > 100
    assert options <= told


def test_ci_runs_the_test_command_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    command = "pip install '.[dev]' && pytest --all"
    assert command in script
    assert command in (ROOT / "README.md").read_text().splitlines()


def test_the_picture_of_a_summary_is_current(load_script):
    script = load_script(ROOT / "scripts" / "summary_picture.py")
    drawn = script.picture(script.result())
    shown = (ROOT / "docs" / "summary.svg").read_text(encoding="utf-8")
    renew = "python scripts/summary_picture.py docs/summary.svg"
    assert len(script.lines(shown)) > 30
    assert script.lines(shown) == script.lines(drawn), f"renew it: {renew}"


def test_the_twin_of_an_ellipsis_is_any_text():
    assert matches("a ... c\nd", "a b\nb c  \nd\n")
    assert not matches("a\nd", "a\nb\nd")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", t.lower()) for t in titles)
    return {t.strip().replace(" ", "-") for t in kept}
