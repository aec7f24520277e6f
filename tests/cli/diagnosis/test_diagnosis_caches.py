import pytest

from lockstep import store
from lockstep.cli.diagnosis import Severity, caches
from lockstep.engine import compilation
from lockstep.frontend.cuda import build
from lockstep.store import content, places


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A cache with an entry, whose model is compiled."""
    found = store.Place(tmp_path / "cache", writable=True)
    monkeypatch.setattr(places, "places", lambda: (found,))
    monkeypatch.setattr(caches, "places", lambda: (found,))
    monkeypatch.setattr(compilation, "is_model_compiled", lambda: True)
    monkeypatch.setattr(build, "is_built", lambda: True)
    store.put("model", "one", b"content")
    return found


def look():
    return {s.name: s for s in caches.caches()}


def test_a_whole_cache(place):
    found = look()
    assert {s.severity for s in found.values()} == {Severity.GOOD}
    facts = found["folder"].facts
    nothing = dict.fromkeys(("translation", "runtime", "sources", "tables"), 0)
    assert facts["entries"] == {"model": 1} | nothing
    assert facts["bytes"] == (place.path / "model" / content.file_name("one")).stat().st_size
    assert facts["writable"] and facts["owner"] in found["folder"].found
    assert found["model"].facts["complete"] and found["CUDA runtime"].facts["complete"]


def test_what_is_not_there_yet_is_noted(place, monkeypatch):
    monkeypatch.setattr(compilation, "is_model_compiled", lambda: False)
    monkeypatch.setattr(build, "is_built", lambda: False)
    found = look()
    for name in ("model", "CUDA runtime"):
        assert found[name].severity is Severity.NOTE
        assert "lockstep cache build" in found[name].advice
        assert not found[name].facts["complete"]


def test_a_damaged_entry_is_a_problem(place):
    file = place.path / "model" / content.file_name("one")
    file.write_bytes(b"")
    found = look()["folder"]
    assert found.severity is Severity.PROBLEM
    assert found.facts["damaged"] == [str(file)]


def test_a_cache_that_takes_nothing_is_a_problem(monkeypatch, tmp_path, place):
    refused = store.Place(tmp_path, "can be written by others")
    monkeypatch.setattr(caches, "places", lambda: (refused,))
    found = look()
    assert found["folder"].advice == "can be written by others"
    assert found["writable"].severity is Severity.PROBLEM


def test_the_runtime_counts_only_when_it_is_kept_and_whole(monkeypatch, tmp_path):
    found = store.Place(tmp_path / "cache", writable=True)
    for module in (places, caches):
        monkeypatch.setattr(module, "places", lambda: (found,))
    assert not build.is_built()
    path = store.folder("runtime", build._fingerprint(), lambda p: (p / "lib.so").write_text("x"))
    assert build.is_built()
    (path / "lib.so").write_text("y")
    assert not build.is_built()
