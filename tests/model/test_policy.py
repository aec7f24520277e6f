"""What a policy must be, and what is said of one that is not."""

import ctypes
import functools
import types

import pytest

import lockstep
from lockstep._jit import DISABLED
from lockstep.errors import PolicyError
from lockstep.model import policy
from lockstep.model.cache import replacement, slice_hash
from lockstep.model.cache.prefetch import registry, table
from lockstep.model.policy import compile_policy
from lockstep.model.sm import scheduler

USAGE = "pick(a, b)"


def compiled(function, **options):
    return compile_policy(function, USAGE, "int64", "int64", **options)


def refused(function, message, **options):
    with pytest.raises(PolicyError, match=message) as error:
        compiled(function, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def call(policy, a, b):
    """What a policy answers."""
    if DISABLED:
        return policy(a, b)
    return ctypes.CFUNCTYPE(*[ctypes.c_int64] * 3)(policy.address)(a, b)


def test_our_own_policies_are_what_policies_must_be(monkeypatch):
    monkeypatch.setattr(policy, "OURS", "nobody's.")
    for compiles, own in (
        (scheduler.compile_scheduler, [scheduler.first_ready]),
        (replacement.compile_victim, [replacement.first_way]),
        (slice_hash.compile_hash, [slice_hash.first_slice]),
        (table.compile_l1, [table.nothing_of_l1, *registry.L1.values()]),
        (table.compile_l2, [table.nothing_of_l2, *registry.L2.values()]),
    ):
        for function in own:
            assert compiles(function) is not None, function


def test_a_policy_is_called_by_its_arguments():
    add = compiled(lambda a, b: a + 2 * b)
    assert call(add, 3, 4) == 11


@pytest.mark.parametrize("function", [3, "gto", max, functools.partial(max, 1), str])
def test_a_policy_is_a_plain_function(function):
    refused(function, f"a plain Python function; found {type(function).__name__}")


def one(a):
    return a


def any_number(*all_of_them):
    return all_of_them[0]


def one_too_many(a, b, c=5):
    return a + b + c


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(one, r"\(a\)"), (any_number, r"\(\*all_of_them\)"), (one_too_many, r"\(a, b, c=5\)")],
)
def test_the_arguments_are_checked(function, arguments):
    text = refused(function, rf"takes {arguments}; it is called as pick\(a, b\)")
    assert text.startswith(f"{__file__}, line {function.__code__.co_firstlineno}: ")


def raises(a, b):
    if a > b:
        raise ValueError("no")
    return 0


def asserts(a, b):
    assert a > b
    return 0


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize("function", [raises, asserts])
def test_exceptions_that_would_get_lost_are_refused(function):
    line = function.__code__.co_firstlineno
    text = refused(function, "raises an exception, which compiled code cannot pass on")
    assert f"line {line + 1}:" in text or f"line {line + 2}:" in text


def prints(a, b):
    print(a)
    return b


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
def test_printing_is_refused():
    line = prints.__code__.co_firstlineno
    text = refused(prints, "prints, which compiled code cannot do")
    assert text.startswith(f"{__file__}, line {line + 1}: policy prints ")


def test_a_print_of_ones_own_is_no_printing():
    def calls(a, b):
        return print(a, b)

    own = types.FunctionType(calls.__code__, {"print": compiled_helper(lambda a, b: a - b)})
    assert call(compiled(own), 9, 4) == 5


def compiled_helper(function):
    """As a user's ``numba.njit`` makes it."""
    from lockstep._jit import jit

    return jit(function)


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("body", "message"),
    [("prints", "prints"), ("raises", "raises an exc"), ("changes", "changes 'ready'")],
)
def test_what_a_policy_calls_is_looked_at_too(body, message):
    helper = compiled_helper(globals()[body])

    def calls(a, b):
        return helper(a, b)

    text = refused(calls, f"policy calls calls {body}, which {message}")
    line = globals()[body].__code__.co_firstlineno
    assert text.startswith((f"{__file__}, line {line + 1}: ", f"{__file__}, line {line + 2}: "))


def changes(a, b):
    a.ready = 1
    return 0


def replaces(a, b):
    a[b] = 1
    return 0


def replaces_several(a, b):
    a[b:3] = 1
    return 0


def test_records_are_not_changed_but_where_it_is_said():
    refused(changes, "policy changes changes 'ready'; it may change nothing")
    refused(changes, "it may change only mark", writes=("mark",))
    refused(replaces, "changes what it is given; it may change nothing")
    refused(replaces_several, "changes what it is given; it may change nothing")


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: None, "cannot be compiled: it may end without an answer"),
        (lambda a, b: "gto", "cannot be compiled: No conversion from"),
        (lambda a, b: NOWHERE, "cannot be compiled: .*NOWHERE"),  # noqa: F821
        (lambda a, b: [a, b][a], "cannot be compiled: it allocates memory"),
    ],
)
def test_what_the_compiler_says_is_one_line(function, message):
    refused(function, message)


def test_what_the_compiler_says_has_no_colours(monkeypatch):
    def fail(*_):
        raise TypeError("\x1b[1m\x1b[31mNRT required\x1b[0m but not enabled")

    monkeypatch.setattr(policy, "policy", fail)
    refused(lambda a, b: a, "cannot be compiled: it allocates memory")


def at_times_a_fraction(a, b):
    if a > b:
        return a
    return 0.5


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize("function", [lambda a, b: a / b, at_times_a_fraction])
def test_a_fraction_is_refused(function):
    refused(function, "cannot be compiled: it returns float64; expected an integer")


@pytest.mark.parametrize(
    ("function", "answer"),
    [(lambda a, b: a > b, 0), (lambda a, b: 7, 7), (lambda a, b: int(a / b * 8), 6)],
)
def test_every_kind_of_integer_is_an_answer(function, answer):
    assert call(compiled(function), 3, 4) == answer


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
def test_a_field_that_is_not_there_is_named(repository):
    def pick(warps, first, count, last, now):
        return warps[first].redy

    with pytest.raises(lockstep.PolicyError, match="there is no field 'redy'"):
        lockstep.simulate(repository / "examples/vecadd", "QV100", scheduler=pick)
