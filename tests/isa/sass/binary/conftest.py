from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fixtures():
    """The folder of compiled binaries."""
    return Path(__file__).parent / "fixtures"
