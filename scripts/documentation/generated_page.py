"""A page that is made when the site is built."""

from typing import NamedTuple


class GeneratedPage(NamedTuple):
    """``title``: in the navigation; ``content``: Markdown."""

    title: str
    content: str
