import json
import math

import numpy as np

from lockstep.metrics import output


def test_text_is_utf_8(tmp_path):
    output.write_text(tmp_path / "b.txt", "é")
    assert (tmp_path / "b.txt").read_bytes() == "é".encode()


def test_numbers_that_json_cannot_hold_become_null(tmp_path):
    output.write_json(tmp_path / "x", {"a": [math.nan, math.inf, 1.5], "b": (np.int64(2), "nan")})
    assert json.loads((tmp_path / "x").read_text()) == {"a": [None, None, 1.5], "b": [2, "nan"]}
