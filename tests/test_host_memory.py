"""What a host has, or its container, or nobody says."""

import pytest

from lockstep import host_memory
from lockstep.host_memory import memory_bytes


@pytest.fixture(autouse=True)
def host(monkeypatch, tmp_path):
    """A host with 4 GiB, whose container's limit is in ``tmp_path / "max"``."""
    monkeypatch.setattr(host_memory, "_CGROUP_LIMITS", (tmp_path / "no", tmp_path / "max"))
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 20}
    monkeypatch.setattr(host_memory.os, "sysconf", sizes.__getitem__)
    memory_bytes.cache_clear()
    yield
    memory_bytes.cache_clear()


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(None, 4 << 30), ("max", 4 << 30), (f"{1 << 30}", 1 << 30), (f"{1 << 60}", 4 << 30)],
)
def test_the_memory_is_that_of_the_host_or_of_its_container(tmp_path, limit, expected):
    if limit is not None:
        (tmp_path / "max").write_text(f"{limit}\n")
    assert memory_bytes() == expected


def test_a_system_that_does_not_say_has_an_unknown_amount(monkeypatch):
    monkeypatch.delattr(host_memory.os, "sysconf")
    assert memory_bytes() is None
