"""What all tests share: where things lie, and how Hypothesis runs here."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).parents[1]
SHARED = REPOSITORY.parent / "shared"

# A first call may compile, and a machine may be busy: no example is too slow.
settings.register_profile("lockstep", settings.default, deadline=None)
settings.load_profile("lockstep")


@pytest.fixture(scope="session")
def repository():
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared():
    """The folder of recorded traces and measurements beside the checkout."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs ../shared, which is absent")
    return SHARED


@pytest.fixture(scope="session")
def load_script():
    """Function from a path to the module that the script there makes; nothing is run as main."""

    def load(path):
        name = f"script_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def pytest_addoption(parser):
    """What takes minutes, and is represented by a sample otherwise."""
    parser.addoption(
        "--all-machine-code",
        action="store_true",
        help="execute the machine code of every case, not of a sample",
    )
