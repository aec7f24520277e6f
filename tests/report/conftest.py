import importlib.util
import sys
from pathlib import Path

import pytest


def _load():
    path = Path(__file__).parents[1] / "metrics" / "synthetic.py"
    spec = importlib.util.spec_from_file_location("synthetic", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["synthetic"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def synthetic():
    return _load()
