"""Machine code before the clock starts."""

import pytest

from lockstep.engine import compilation


@pytest.fixture
def fresh(monkeypatch):
    """As in a process that has not loaded the model yet."""
    monkeypatch.setattr(compilation, "_loaded", set())


@pytest.mark.parametrize("compiled, notices", [(True, []), (False, [compilation.NOTICE])])
def test_notice_is_given_only_if_something_must_be_compiled(
    fresh, small, monkeypatch, compiled, notices
):
    monkeypatch.setattr(compilation, "is_compiled", lambda function: compiled)
    heard = []
    assert compilation.compile_model(small(), heard.append) > 0
    assert heard == notices
    assert compilation.compile_model(small(), heard.append) == 0.0
    assert heard == notices, "once in a process"


def test_a_notice_is_not_needed(fresh, small, monkeypatch):
    monkeypatch.setattr(compilation, "is_compiled", lambda function: False)
    assert compilation.compile_model(small()) > 0
