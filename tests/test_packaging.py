"""What is installed: its name, what it needs, and the versions that are said."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import lockstep
from lockstep.metrics import manifest

MODULES = {  # of distributions that import under another name
    "itanium-demangler": "itanium_demangler",
    "pyelftools": "elftools",
}
OURS = "https://(?:raw.githubusercontent|github).com/lockstep-gpu/lockstep/(?:blob/)?main/"
CODE = ("src", "tests", "scripts", "examples", "benchmarks")
FOREIGN = {"triton", "torch", "cuda"}  # used where a caller has them
EXTRAS = {
    "parquet": {"pyarrow"},
    "plots": {"matplotlib"},
    "mpi": {"mpi4py", "openmpi"},
}


@pytest.fixture(scope="module")
def project(repository):
    return tomllib.loads((repository / "pyproject.toml").read_text())["project"]


def test_packages_say_what_is_inside_and_name_no_file_that_is_gone():
    root = Path(lockstep.__file__).parent
    silent, gone = [], []
    for file in sorted(root.rglob("__init__.py")):
        text = ast.get_docstring(ast.parse(file.read_text())) or ""
        if len(text.split()) < 4:
            silent.append(str(file))
        named = re.findall(r"``([\w/]+(?:\.py|/))``", text)
        gone += [(file, n) for n in named if not any((p / n).exists() for p in (file.parent, root))]
    assert not silent and not gone


def distributions(requirements):
    return {re.match(r"[\w-]+", text)[0] for text in requirements}


def third_party(path):
    """Top-level modules that a file imports, but for our own and the standard library's."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"lockstep"}


def test_everything_that_is_imported_is_declared_and_the_other_way_round(repository, project):
    declared = {MODULES.get(d, d) for d in distributions(project["dependencies"])}
    imported = set().union(*(third_party(p) for p in (repository / "src").rglob("*.py")))
    assert imported - FOREIGN - set().union(*EXTRAS.values()) == declared


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_is_large_is_an_extra(project, extra):
    assert not EXTRAS[extra] & distributions(project["dependencies"])
    assert distributions(project["optional-dependencies"][extra]) == EXTRAS[extra]


def test_the_name_is_said_everywhere(repository, project):
    assert project["name"] == manifest.DISTRIBUTION == "lockstep-gpu"
    wrong = re.compile(r"pip install[^\n`]*[ '\"]lockstep(?!-gpu)\b")
    pages = [*repository.glob("*.*"), *repository.glob("docs/*.*")]
    code = [p for place in CODE for p in (repository / place).rglob("*.*")]
    for path in pages + code:
        if path.suffix in (".md", ".py", ".ipynb", ".toml", ".cff"):
            assert not wrong.search(path.read_text()), path


def test_the_versions_agree(repository, project):
    version = project["version"]
    assert f"\nversion: {version}\n" in (repository / "CITATION.cff").read_text()
    changes = (repository / "CHANGELOG.md").read_text()
    assert re.search(r"^## \[([\d.]+)\]", changes, re.MULTILINE)[1] == version
    assert lockstep.__version__ in (version, "0+source")


def test_the_pythons_agree(repository, project):
    said = [c.rpartition(" ")[2] for c in project["classifiers"] if ":: 3." in c]
    assert said == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={said[0]}"
    readme = (repository / "README.md").read_text()
    assert f"Python {said[0]}, {said[1]}" in readme


def test_images_of_the_readme_show_on_the_package_index(repository):
    for target in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", (repository / "README.md").read_text()):
        assert (repository / re.fullmatch(OURS + "(.+)", target)[1]).exists(), target
