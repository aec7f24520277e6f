"""One attempt at a point: what a table cannot hold is an outcome, and not an exception."""

import pytest

from lockstep.campaigns.attempts import attempt


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"file": "caf\udce9"}, "value 'file' has '\\udce9', which is no character: encode it"),
        ({"\ud800": 1}, "a name of a value has '\\ud800', which is no character: encode it"),
    ],
)
def test_half_characters_are_refused(values, error):
    outcome = attempt(lambda point: values, None)
    assert (outcome.values, outcome.error) == ({}, error)
