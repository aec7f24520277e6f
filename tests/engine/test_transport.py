"""Transports: everybody gets what everybody gave it, in each round; see also test_mpi.py."""

import threading

import pytest

from engine.meeting import CONTRACT
from lockstep.engine.transport import check_alike, in_memory
from lockstep.errors import LockstepError


@pytest.fixture(params=[1, 2, 3, 7])
def transports(request):
    return in_memory(request.param)


def on_all(transports, work):
    """Run ``work(transport)`` for each in a thread of its own; results and errors by rank."""
    results = [None] * len(transports)

    def run(k):
        try:
            results[k] = work(transports[k])
        except Exception as error:
            results[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(transports))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


def test_each_knows_its_place(transports):
    assert [t.rank for t in transports] == list(range(len(transports)))
    assert {t.size for t in transports} == {len(transports)}
    assert {len(t.hosts) for t in transports} == {len(transports)}


@pytest.mark.parametrize("work", CONTRACT)
def test_the_contract_holds(transports, work):
    assert on_all(transports, work) == ["done"] * len(transports)


def test_nobody_waits_for_one_that_cannot_go_on(transports):
    def work(transport):
        if transport.rank == 0:
            transport.abort("")
            return "ended"
        return transport.share(1)

    first, *others = on_all(transports, work)
    assert first == "ended"
    assert all(isinstance(o, LockstepError) and "another rank" in str(o) for o in others)


def test_all_refuse_what_is_not_alike():
    def work(transport):
        check_alike(transport, {"GPU": "a", "trace": "ab"[transport.rank == 2]})

    errors = on_all(in_memory(3), work)
    assert {type(error) for error in errors} == {LockstepError}
    for error in errors:
        assert "rank 2 on " in str(error) and "another trace than rank 0 on " in str(error)
        assert str(error).endswith(": b, not a")
