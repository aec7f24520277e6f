import os

import pytest

from lockstep.store import trust

STRANGER = 54321


def test_a_folder_of_ours_is_trusted(tmp_path):
    assert trust.distrust(tmp_path) is None


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("mode, sticky", [(0o777, False), (0o772, False), (0o1777, True)])
def test_who_may_write_a_folder_may_replace_what_lies_in_it(tmp_path, above, mode, sticky):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path if above else inner).chmod(mode)
    found = trust.distrust(inner)
    tmp_path.chmod(0o700)
    if sticky and above:
        assert found is None
    else:
        assert "can be written by others" in found and f"{mode:04o}" in found


def test_a_group_of_many_is_others_and_a_private_one_is_not(tmp_path, monkeypatch):
    tmp_path.chmod(0o775)
    monkeypatch.setattr(trust, "_is_private", lambda group: False)
    assert "can be written by others" in trust.distrust(tmp_path)
    monkeypatch.setattr(trust, "_is_private", lambda group: True)
    assert trust.distrust(tmp_path) is None


def test_a_stranger_s_folder_is_not_trusted_and_root_s_is(tmp_path, monkeypatch):
    monkeypatch.setattr(trust.os, "geteuid", lambda: STRANGER)
    trust._ours.cache_clear()
    try:
        found = trust.fault(os.stat_result((0o40755, 0, 0, 0, STRANGER + 1, 0, 0, 0, 0, 0)))
        root = trust.fault(os.stat_result((0o40755, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    finally:
        trust._ours.cache_clear()
    assert found == "belongs to another user" and root is None
