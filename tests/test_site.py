"""The site: every page is in its navigation, and what is made for it is whole.

``mkdocs build --strict`` itself is part of ``.ci/run``: it needs the extra ``docs``.
"""

import importlib
import re
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

import lockstep
from lockstep.cli.main import COMMANDS, main
from lockstep.gpus import library

ROOT = Path(__file__).parents[1]
CODE = ROOT / "scripts" / "documentation"
READERS = ("students", "architects", "accel-sim-users", "triton-developers",
           "performance-engineers")  # fmt: skip
MOST_WORDS = 2000  # ten minutes of reading


@pytest.fixture
def code(monkeypatch):
    """Modules of the code that makes the site, by name."""
    monkeypatch.syspath_prepend(str(CODE))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (CODE / f"{name}.py").exists():
            del sys.modules[name]


def test_every_page_is_in_the_index_once(code):
    navigation = code("navigation")
    listed = [t for pages in navigation.sections().values() for t in pages.values()]
    assert len(set(listed)) == len(listed)
    there = {p.name for p in (ROOT / "docs").iterdir() if p.suffix in (".md", ".ipynb")}
    missing = sorted(there - {navigation.INDEX} - set(listed))
    assert not missing, f"not in docs/index.md, which is the navigation of the site: {missing}"
    for target in listed:
        assert (ROOT / "docs" / target).exists(), f"docs/index.md lists {target}, which is gone"


def test_the_sections_are_those_of_the_index(code):
    sections = code("navigation").sections()
    assert next(iter(sections)) == "Begin" and all(sections.values())
    assert sections["Run programs"]["Command line"] == "command-line.md"
    assert "SECURITY.md" in code("navigation").root_pages()


def test_each_reader_has_a_tutorial_of_ten_minutes(code):
    first = list(code("navigation").sections()["Begin"].values())
    for reader in READERS:
        assert f"for-{reader}.md" in first
        words = (ROOT / "docs" / f"for-{reader}.md").read_text().split()
        assert 300 < len(words) < MOST_WORDS


def test_every_command_has_a_page_with_its_help(code):
    pages = code("command_pages").pages()
    assert set(pages) == {"commands/index.md"} | {f"commands/{name}.md" for name in COMMANDS}
    for name, meaning in COMMANDS.items():
        assert f"Usage: lockstep {name} " in pages[f"commands/{name}.md"].content
        assert meaning in pages[f"commands/{name}.md"].content
    group = main.get_command(click.Context(main), "proxy")
    for inner in group.commands:
        assert f"Usage: lockstep proxy {inner} " in pages["commands/proxy.md"].content


def test_every_gpu_has_a_page_with_every_parameter(code):
    pages = code("gpu_pages").pages()
    assert [page.title for page in pages.values()] == library.names()
    text = pages["gpus/QV100.md"].content
    rows = library.describe(library.gpu("QV100"))
    above = ("description", "architectures", "validated")
    for row in rows:
        assert row.name in above or f"<code>{row.name}</code>" in text
    assert len(rows) > 200


def test_every_public_name_is_in_the_reference(code):
    pages = code("reference_pages").pages()
    headings = re.findall(r"heading: (\w+)", pages["python/index.md"].content)
    assert headings == sorted(set(lockstep.__all__) - {"plot"})
    assert "::: lockstep.api.simulate\n" in pages["python/index.md"].content
    plots = pages["python/lockstep.plot.md"].content
    assert (
        "::: lockstep.correlation.plots.scatter\n    options:\n      heading: correlation" in plots
    )
    for name, page in pages.items():
        assert page.content.count("::: ") > 1, name


def test_roles_of_docstrings_become_code(code):
    pytest.importorskip("griffe")
    markdown = code("docstrings").markdown
    text = "Raises :class:`~lockstep.errors.InputError`, see :func:`run`, :attr:`.Result.gpu`::"
    assert markdown(text) == "Raises `InputError`, see `run`, `Result.gpu`:"
    assert markdown(":meth:`the result <lockstep.run>`") == "`the result`"


def test_links_lead_to_pages_or_to_the_code_host(code):
    pytest.importorskip("mkdocs")
    hooks = code("hooks")
    files = [
        SimpleNamespace(src_uri=uri) for uri in ("gpus.md", "ARCHITECTURE.md", "gpus/QV100.md")
    ]

    def changed(markdown, page):
        page = SimpleNamespace(file=SimpleNamespace(src_uri=page))
        return hooks.on_page_markdown(markdown, page, None, files)

    assert changed("[a](../ARCHITECTURE.md#x)", "index.md") == "[a](ARCHITECTURE.md#x)"
    assert changed("[a](docs/gpus.md)", "ARCHITECTURE.md") == "[a](gpus.md)"
    assert changed("[a](../examples/gemm.lst)", "index.md") == f"[a]({hooks.HOST}examples/gemm.lst)"
    assert changed("[a](../gpus.md)", "gpus/QV100.md") == "[a](../gpus.md)"
    kept = "`[a](../b.md)`, [x](https://x) and [y](#z)\n```python\n[a](../b.md)\n```"
    assert changed(kept, "index.md") == kept


def test_ci_builds_the_site_and_minds_warnings():
    script = (ROOT / ".ci" / "run").read_text()
    assert "mkdocs build --strict" in script
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert any(text.startswith("mkdocs-material") for text in extras["docs"])


def test_the_citation_is_that_of_the_repository():
    page = (ROOT / "docs" / "citing.md").read_text()
    citation = (ROOT / "CITATION.cff").read_text()
    for key, pattern in (
        ("version", r"version = \{([^}]+)\}"),
        ("title", r"title   = \{([^}]+)\}"),
        ("repository-code", r"url     = \{([^}]+)\}"),
        ("license", r"license = \{([^}]+)\}"),
    ):
        said = re.search(rf'^{key}: "?([^"\n]+)"?$', citation, re.MULTILINE)[1]
        assert re.search(pattern, page)[1] == said
    released = re.search(r'^date-released: "(\d+)', citation, re.MULTILINE)[1]
    assert re.search(r"year    = \{(\d+)\}", page)[1] == released


def test_every_page_has_a_picture_or_an_example_that_runs():
    """Examples are run, and pictures drawn again, by other tests."""
    bare = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text()
        blocks = re.findall(r"^(?:(<!--[^\n]*)\n)?```(\w+)$", text, re.MULTILINE)
        runs = [kind for comment, kind in blocks if not comment.startswith("<!-- not run")]
        if not {"console", "python"} & set(runs) and "![" not in text:
            bare.append(page.name)
    assert bare == [], "pages without a picture or an example that runs"
