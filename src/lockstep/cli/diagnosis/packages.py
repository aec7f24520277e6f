"""Python, the packages that lockstep needs, and those that more can be done with."""

import platform
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from lockstep.cli.diagnosis.symptom import Severity, Symptom
from lockstep.metrics.manifest import DISTRIBUTION, version

EXTRAS = {
    "cuda": "CUDA C++ as text: Device.compile",
    "parquet": "tables as Parquet: --out, Result.to_parquet, lockstep sweep -o TABLE.parquet",
    "sampling": "lockstep profile and sample, --timing sample:..., lockstep.sampling",
    "plots": "pictures: lockstep.plot, --plot, --plots",
    "dask": "lockstep sweep --executor dask: campaigns on a cluster of Dask",
    "ray": "lockstep sweep --executor ray: campaigns on a cluster of Ray",
    "mpi": "--ranks mpi: one GPU in several processes",
    "dev": "tests, linters and type checks of lockstep itself",
    "docs": "the site of the documentation, and notebooks",
}
"""What each extra of the distribution brings."""


class Declared(NamedTuple):
    """What the distribution says that it needs."""

    python: str
    requirements: tuple[Requirement, ...]

    def of(self, extra: str = "") -> list[Requirement]:
        """What one extra needs, or what everybody does."""
        return [r for r in self.requirements if _belongs(r, extra)]


def packages() -> Iterator[Symptom]:
    """The version of lockstep, of Python, and of what lockstep needs."""
    yield Symptom("lockstep", f"{version()} in {Path(__file__).parents[2]}")
    needs = declared()
    python = platform.python_version()
    fits = SpecifierSet(needs.python).contains(python, prereleases=True)
    advice = "" if fits else f"use Python {needs.python}"
    yield Symptom("Python", f"{platform.python_implementation()} {python}", _bad(advice), advice)
    for requirement in needs.of():
        found, advice = _installed(requirement)
        yield Symptom(requirement.name, found or "missing", _bad(advice), advice)


def extras() -> Iterator[Symptom]:
    """Which extras are installed; of others, what they would bring."""
    for name, brings in EXTRAS.items():
        missing = missing_of(name)
        if not missing:
            yield Symptom(name, f"installed: {brings}", facts={"installed": True})
            continue
        found = f"not installed ({', '.join(missing)}): {brings}"
        advice = f"pip install '{DISTRIBUTION}[{name}]'"
        yield Symptom(name, found, Severity.NOTE, advice, {"installed": False})


def missing_of(extra: str) -> list[str]:
    """The distributions of an extra, and of those that it includes, that are not there."""
    found: list[str] = []
    for requirement in declared().of(extra):
        if requirement.name == DISTRIBUTION:
            found += [name for inner in sorted(requirement.extras) for name in missing_of(inner)]
        elif _installed(requirement)[1]:
            found.append(requirement.name)
    return list(dict.fromkeys(found))


@cache
def declared() -> Declared:
    """Of the installed distribution, or of the source tree that runs without being installed."""
    try:
        found = metadata.metadata(DISTRIBUTION)
        texts = found.get_all("Requires-Dist") or []
        return Declared(found["Requires-Python"], tuple(map(Requirement, texts)))
    except metadata.PackageNotFoundError:
        project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())
    return _of_project(project["project"])


def _of_project(project: dict) -> Declared:
    texts = list(project["dependencies"])
    for extra, needed in project["optional-dependencies"].items():
        texts += [f'{text}; extra == "{extra}"' for text in needed]
    return Declared(project["requires-python"], tuple(map(Requirement, texts)))


def _belongs(requirement: Requirement, extra: str) -> bool:
    """Whether it is needed by an extra, and by none if that is empty."""
    marker = requirement.marker
    by_all = marker is None or marker.evaluate({"extra": ""})
    if not extra or marker is None:
        return by_all and not extra
    return not by_all and marker.evaluate({"extra": extra})


def _installed(requirement: Requirement) -> tuple[str, str]:
    """The version of a distribution, and what to do about it; both may be empty."""
    install = f"pip install '{requirement.name}{requirement.specifier}'"
    try:
        found = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return "", install
    return found, "" if requirement.specifier.contains(found, prereleases=True) else install


def _bad(advice: str) -> Severity:
    return Severity.PROBLEM if advice else Severity.GOOD
