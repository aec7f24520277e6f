import json
import math
import os
import stat

import numpy as np
import pytest

from lockstep.errors import InputError
from lockstep.metrics import output


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "result.json"
    target.write_text("old")
    with pytest.raises(RuntimeError), output.replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_directories_are_made_and_the_file_is_readable_by_others(tmp_path):
    target = tmp_path / "a" / "b.txt"
    output.write_text(target, "é")
    assert target.read_bytes() == "é".encode()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask


def test_an_unwritable_place_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/x\.json: cannot write: "):
        output.write_json(tmp_path / "file" / "x.json", {})
    (tmp_path / "directory").mkdir()
    with pytest.raises(InputError, match="cannot write"):
        output.write_json(tmp_path / "directory", {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["directory", "file"]


def test_numbers_that_json_cannot_hold_become_null(tmp_path):
    output.write_json(tmp_path / "x", {"a": [math.nan, math.inf, 1.5], "b": (np.int64(2), "nan")})
    assert json.loads((tmp_path / "x").read_text()) == {"a": [None, None, 1.5], "b": [2, "nan"]}
