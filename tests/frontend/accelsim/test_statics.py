"""Static instructions are found again, also when several passes find them at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lockstep.errors import InputError


def many(n):
    """Lines of n instructions, each head with two immediates."""
    return [f"{16 * (k // 2):04x} ffffffff 1 R{k % 7} MOV 0 0 {k % 2}" for k in range(n)]


def test_tables_grow(trace, build):
    kernel = trace(build.header() + build.body({(0, 0, 0): [many(5000) * 2]}))
    (cta,) = kernel.ctas()
    assert len(kernel.code) == 5000
    assert cta.runs.tolist() == [(0, 5000, 0xFFFFFFFF)] * 2
    assert kernel.code.instructions["immediate"].tolist() == [0, 1] * 2500


def test_interleaved_passes_share_statics(trace, build):
    blocks = {(x, 0, 0): [many(30 * (x + 1))] for x in range(40)}
    kernel = trace(build.header(grid=(40, 1, 1)) + build.body(blocks))
    slow = kernel.ctas()
    first = next(slow)
    whole = list(kernel.ctas())  # the tables grow several times
    for a, b in zip([first, *slow], whole, strict=True):
        assert a.runs.tolist() == b.runs.tolist()
    assert len(kernel.code) == 1200


def test_passes_in_threads_serve_the_same(trace, build):
    blocks = {(x, 0, 0): [many(20 * (x + 1))] for x in range(60)}
    kernel = trace(build.header(grid=(60, 1, 1)) + build.body(blocks))

    def read(_):
        return [
            kernel.code.instructions["immediate"][: run["count"]].tolist()
            for cta in kernel.ctas()
            for run in cta.runs
        ]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(read, range(8)))
    assert all(result == results[0] for result in results)
    assert len(kernel.code) == 1200


def test_an_error_comes_again_in_the_next_pass(trace, build):
    bad = "0010 ffffffff 1 R999 MOV 0 0 0"
    kernel = trace(build.header() + build.body({(0, 0, 0): [[bad]]}))
    for _ in range(2):
        with pytest.raises(InputError, match="no register is named 'R999'"):
            list(kernel.ctas())


def test_an_instruction_has_a_bounded_number_of_immediates(trace, build):
    lines = [f"0010 ffffffff 0 NOP 0 0 {k}" for k in range(2000)]
    kernel = trace(build.header() + build.body({(0, 0, 0): [lines]}))
    for _ in range(2):
        with pytest.raises(InputError, match="line 1047: too many different immediates"):
            list(kernel.ctas())
