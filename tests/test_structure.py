"""How the source is put together: no circles of imports, no new class name twice."""

import ast
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import lockstep
import lockstep.model

ROOT = Path(lockstep.__file__).parent
REPOSITORY = Path(__file__).parents[1]  # the package under test may be installed elsewhere
FILES = {
    ".".join(("lockstep", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(ROOT.rglob("*.py"))
}


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The source of each module, parsed."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def imported(tree: ast.Module, known: set[str]) -> Iterator[str]:
    """The modules that a module imports: also in functions, and for its annotations alone.

    That importing ``a.b`` runs ``a/__init__.py`` does not count: modules of ``a`` may import each
    other while it runs.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def circle(trees: dict[str, ast.Module]) -> list[str]:
    """Modules that import each other in a circle; empty if none do."""
    known = set(trees)
    graph = {name: set(imported(tree, known)) - {name} for name, tree in trees.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_each_other_in_a_circle():
    assert circle(trees()) == []


@pytest.mark.parametrize(
    "back",
    [
        "from p.a import x",
        "import p.a",
        "from p import a",
        "def f():\n    from p.a import x",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import x",
    ],
)
def test_a_circle_is_found_however_it_is_closed(back):
    texts = {"p": "", "p.a": "from p.b import y", "p.b": "from p.c import z", "p.c": back}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    assert set(circle(trees)) == {"p.a", "p.b", "p.c"}
    assert circle(trees | {"p.c": ast.parse("import p.d")}) == []


TWICE = {
    "Block", "Function", "Immediate", "Instruction", "Lift", "Register", "Source", "Target",
    "Texture", "Translation",
    "Call", "Check", "Control", "Figure", "Handles", "Kernel", "Kind", "Launch", "Machine",
    "Memory", "Module", "Operation", "Part", "Program", "Result", "Row", "Sampler",
}  # fmt: skip
"""Names that classes share: in the first lines those of two instruction sets, and of functional
execution and what it executes. No name joins these; one that is unique again leaves."""


def test_no_other_class_name_occurs_twice():
    nodes = (node for tree in trees().values() for node in ast.walk(tree))
    count = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert {name for name, times in count.items() if times > 1} == TWICE
    assert len(count) > 300


def test_arguments_of_one_letter_are_explained():
    explained = set(re.findall("``([a-z])``", lockstep.model.__doc__))
    used = {
        argument.arg
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if name.startswith("lockstep.model.") and isinstance(node, ast.FunctionDef)
        for argument in node.args.args
        if len(argument.arg) == 1
    }
    assert used == explained


def test_packages_name_files_that_are_there():
    """Those of its docstring: in the package, in lockstep, or in the checkout."""
    packages = {name: path.parent for name, path in FILES.items() if path.name == "__init__.py"}
    assert len(packages) > 50
    for name, folder in packages.items():
        text = ast.get_docstring(trees()[name])
        assert text, f"{name} says nothing of what is inside"
        for file in re.findall(r"``([\w/*.-]+(?:/|\.(?:py|toml|h|cc)))``", text):
            places = (folder, ROOT, REPOSITORY)
            assert any(any(place.glob(file)) for place in places), f"{name}: {file}"


def test_the_arrows_are_those_that_are_checked():
    """ARCHITECTURE.md shows the layers of the contract, from the top down."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    page = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    shown = re.search(r"^```\n(cli .*?)^```", page, re.MULTILINE | re.DOTALL)
    rows = [re.match(r"\w+(?: │ \w+)*", line) for line in shown[1].splitlines()]
    assert [row[0].split(" │ ") for row in rows] == [layer.split(" | ") for layer in layers]
