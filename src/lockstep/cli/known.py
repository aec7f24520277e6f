"""Arguments that are names of something that there is, which shells complete."""

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

TRACES = (".lst", ".proxy", ".g", ".traceg", ".trace", ".tracez", ".gz", ".xz", ".zst")
"""How names of traces end."""


class KnownName(click.ParamType):
    """A name that a shell completes, or a file's; who uses it says whether it exists.

    ``known`` is called when a shell asks, and not before: it may import much.
    """

    def __init__(self, name: str, known: Callable[[], Iterable[str]]):
        self.name = name
        self._known = known

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so; files, if a shell finds none of them."""
        low = incomplete.lower()
        names = [name for name in self._known() if name.lower().startswith(low)]
        return [CompletionItem(incomplete, type="file"), *map(CompletionItem, names)]


class ProgramName(KnownName):
    """The name of a built-in program, or that of a file, which must exist.

    A name with a slash, or one that ends as those of traces do, is a file's.
    """

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is."""
        path = Path(value)
        if ("/" in value or path.suffix in TRACES) and not path.exists():
            self.fail(f"{value}: no such file", param, ctx)
        return value


def _gpus() -> Iterable[str]:
    from lockstep.gpus import library

    return library.names()


def _programs() -> Iterable[str]:
    from lockstep import kernels

    return kernels.names()


def _studies() -> Iterable[str]:
    from lockstep import studies

    return studies.names()


def _metrics() -> Iterable[str]:
    from lockstep.metrics import registry

    return (metric.name for metric in registry.REGISTRY)


GPU_NAME = KnownName("gpu", _gpus)
PROGRAM_NAME = ProgramName("program", _programs)
STUDY_NAME = KnownName("study", _studies)
METRIC_NAME = KnownName("metric", _metrics)
