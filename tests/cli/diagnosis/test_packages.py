import re
import tomllib
from importlib import metadata
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from lockstep.cli.diagnosis import Severity, packages


@pytest.fixture
def project(repository):
    return tomllib.loads((repository / "pyproject.toml").read_text())["project"]


@pytest.fixture
def versions(monkeypatch, project):
    """The versions of what this source tree needs; a test changes them."""
    found = {}

    def version(name):
        if found.get(name, "1") is None:
            raise metadata.PackageNotFoundError(name)
        return found.get(name) or _in_range(name, project)

    monkeypatch.setattr(packages, "declared", lambda: packages._of_project(project))
    fake = SimpleNamespace(
        version=version,
        PackageNotFoundError=metadata.PackageNotFoundError,
    )
    monkeypatch.setattr(packages, "metadata", fake)
    return found


def _in_range(name, project):
    """The least version that is asked for: here all that is needed is there."""
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    asked = [Requirement(text) for texts in lists for text in texts]
    return next(
        re.search(r"[>=]=(\d+(\.\d+)*)", str(r.specifier))[1] for r in asked if r.name == name
    )


def test_each_extra_is_told_of(project):
    assert set(packages.EXTRAS) == set(project["optional-dependencies"])


def test_all_that_is_needed_is_looked_at(versions, project):
    names = [s.name for s in packages.packages()]
    assert names[:2] == ["lockstep", "Python"]
    assert names[2:] == [Requirement(text).name for text in project["dependencies"]]
    assert {s.severity for s in packages.packages()} == {Severity.GOOD}


def test_a_missing_package_is_a_problem(versions):
    versions["numba"] = None
    found = {s.name: s for s in packages.packages()}["numba"]
    assert (found.severity, found.found) == (Severity.PROBLEM, "missing")
    assert found.advice == "pip install 'numba<0.69,>=0.68'"


@pytest.mark.parametrize(
    ("version", "severity"),
    [
        ("0.67.9", Severity.PROBLEM),
        ("0.68.0", Severity.GOOD),
        ("0.68.9", Severity.GOOD),
        ("0.69.0", Severity.PROBLEM),
    ],
)
def test_a_version_is_in_its_range_or_is_a_problem(versions, version, severity):
    versions["numba"] = version
    found = {s.name: s for s in packages.packages()}["numba"]
    assert (found.found, found.severity) == (version, severity)


def test_an_old_python_is_a_problem(versions, monkeypatch):
    monkeypatch.setattr(packages.platform, "python_version", lambda: "3.10.9")
    found = {s.name: s for s in packages.packages()}["Python"]
    assert (found.severity, found.advice) == (Severity.PROBLEM, "use Python >=3.11")


def test_an_extra_says_what_it_lacks_and_would_bring(versions):
    versions["pyarrow"] = None
    found = {s.name: s for s in packages.extras()}
    assert found["plots"].severity is Severity.GOOD
    lacking = {name for name, s in found.items() if s.severity is Severity.NOTE}
    assert lacking == {"parquet", "sampling", "dev", "docs"}  # those include the first
    assert "pyarrow" in found["sampling"].found
    assert packages.EXTRAS["parquet"] in found["parquet"].found
    assert found["parquet"].advice == "pip install 'lockstep-gpu[parquet]'"


def test_an_installed_distribution_says_the_same_as_its_source(monkeypatch, project):
    """Its metadata are one list, with markers."""
    declared = packages._of_project(project)
    ours = {r.name for r in declared.of()}
    assert ours == {Requirement(text).name for text in project["dependencies"]}
    assert [r.name for r in declared.of("plots")] == ["matplotlib"]
    assert declared.of("no such extra") == []
