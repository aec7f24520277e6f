import pytest

from lockstep._jit import functions
from lockstep.builder import KernelBuilder
from lockstep.engine import Session, run
from lockstep.errors import EndOfKernel, LockstepError
from lockstep.gpus import library
from lockstep.workload import MemoryCopy, Workload


@pytest.fixture(scope="module")
def gpu():
    return library.apply(library.gpu("QV100"), ["sm.count=2"])


def kernel(number, ctas=4):
    k = KernelBuilder(f"k{number}", grid=ctas, block=64)
    with k.loop(3):
        k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000))
        k("FFMA R8, R4, R5, R8")
    k("EXIT")
    built = k.workload().kernels[0]
    built.id = number
    return built


def failing(number, after):
    """A kernel that ends with an error after some of its four CTAs."""
    broken = kernel(number)
    whole = broken.ctas

    def ctas():
        for count, cta in enumerate(whole()):
            if count == after:
                raise EndOfKernel
            yield cta

    broken.ctas = ctas
    return broken


def cycles(result):
    return [(k.id, k.launched, k.start, k.end) for k in result.kernels]


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_one_after_the_other_are_as_one(gpu, threads):
    commands = [kernel(1), MemoryCopy(0x7F0000000000, 4096), kernel(2), kernel(3)]
    whole = run(Workload("w", commands), gpu)
    session = Session(gpu, threads=threads)
    for part in (commands[:1], [], commands[1:3], commands[3:]):
        session.run(part)
        assert session.now >= max((k.end for k in session.finished), default=0)
    session.close()
    assert cycles(session.result()) == cycles(whole)
    assert [k.id for k in session.finished] == [1, 2, 3] and session.stopped == ""


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_kernel_that_ends_early_leaves_the_others_alone(gpu, after):
    session = Session(gpu)
    session.run([kernel(1), failing(2, after), kernel(3)])
    session.close()
    result = session.result()
    assert [(k.id, k.complete) for k in result.kernels] == [(1, True), (2, False), (3, True)]
    done = [int(k.sm["ctas"].sum()) for k in result.kernels]
    assert done == [4, after, 4]
    assert result.kernels[2].launched >= result.kernels[1].end


def test_threads_are_positive(gpu):
    with pytest.raises(LockstepError, match="threads = 0"):
        Session(gpu, threads=0)


def test_reading_and_simulating_exclude_what_compiling_takes(gpu, monkeypatch):
    """A reader's first CTA may compile the reader."""
    monkeypatch.setattr(functions, "_seconds", [])
    slow = kernel(1)
    whole = slow.ctas

    def ctas():
        for cta in whole():
            functions._seconds.append(1000.0)
            yield cta

    slow.ctas = ctas
    session = Session(gpu)
    before = session.result().compile_seconds
    session.run([slow])
    session.close()
    result = session.result()
    assert result.compile_seconds - before >= 4000
    assert result.read_seconds + result.simulate_seconds < 0, "a clock that was set forward"
