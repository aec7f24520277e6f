"""What MkDocs asks when it builds the site: its navigation, and pages that are not in ``docs/``.

The navigation is what ``docs/index.md`` lists (``navigation.py``), and then what is made here: a
page for each subcommand (``command_pages.py``), each GPU (``gpu_pages.py``) and each public package
(``reference_pages.py``, whose docstrings ``docstrings.py`` turns into Markdown). Pages of the
repository's root get a place beside those of ``docs/``. Links to files that are
no pages lead to the code host.
"""

import posixpath
import re
from pathlib import Path

import command_pages
import gpu_pages
import reference_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from navigation import INDEX, ROOT, root_pages, sections

STYLE = "site.css"
HOST = "https://github.com/lockstep-gpu/lockstep/blob/main/"
MADE = {
    "Commands": command_pages.pages,
    "All GPUs": gpu_pages.pages,
    "Python": reference_pages.pages,
}
"""Sections of the navigation whose pages are made: functions without arguments, of their texts."""

_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation."""
    nav: list[dict] = [{"lockstep": INDEX}]
    for section, listed in sections().items():
        nav.append({section: [{title: place(target)} for title, target in listed.items()]})
    for section, pages in MADE.items():
        nav.append({section: [{text.title: path} for path, text in pages().items()]})
    config.nav = nav
    return config


def place(target: str) -> str:
    """Where a page of the index lies in the site."""
    return target.removeprefix("../")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that are not in ``docs/``, and what the site looks like."""
    style = Path(__file__).with_name(STYLE).read_text("utf-8")
    files.append(File.generated(config, STYLE, content=style))
    for name in root_pages():
        files.append(File.generated(config, name, content=(ROOT / name).read_text("utf-8")))
    for pages in MADE.values():
        for path, text in pages().items():
            files.append(File.generated(config, path, content=text.content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links between the root and ``docs/``, which are one folder in the site, and to files."""
    inside = page.file.src_uri
    folder = "" if inside in root_pages() else "docs"
    known = {file.src_uri for file in files}

    def replaced(match: re.Match) -> str:
        target, anchor = match[1], match[2] or ""
        there = posixpath.normpath(posixpath.join(folder, posixpath.dirname(inside), target))
        uri = there.removeprefix("docs/")
        if uri in known:
            return posixpath.relpath(uri, posixpath.dirname(inside) or ".") + anchor
        return HOST + there + anchor

    parts = re.split(r"(^```.*?^```|`[^`\n]+`)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if n % 2 else _LINK.sub(replaced, part) for n, part in enumerate(parts))
