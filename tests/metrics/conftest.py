from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def synthetic(load_script):
    """A seeded factory of results."""
    return load_script(Path(__file__).with_name("synthetic.py"))
