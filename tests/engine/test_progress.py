"""Progress is told now and then, and to nobody where nobody asked."""

from lockstep.engine import progress


def test_it_is_said_again_after_a_while(monkeypatch):
    now, told = [10.0], []
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0])
    count = progress.ProgressCount(lambda *facts: told.append(facts))
    count.total, count.done = 8, 3
    assert count.due
    count.report(500, 1234, "axpy")
    assert told == [(3, 8, 500, 1234, "axpy")]
    now[0] += 0.9 * progress.SECONDS
    assert not count.due
    now[0] += 0.2 * progress.SECONDS
    assert count.due


def test_nobody_is_told_where_nobody_asked():
    assert not progress.ProgressCount(None).due
