"""A cache of a test's own."""

import pytest

from lockstep import store


@pytest.fixture
def place(monkeypatch, tmp_path):
    """An empty place, the only one; lines that were said once may be said again."""
    place = store.Place(tmp_path / "cache", writable=True)
    monkeypatch.setattr(store.places, "places", lambda: (place,))
    store.places.say.cache_clear()
    return place
