"""The harness notices every kind of defect, goes on behind it, and makes its input small."""

import ctypes
import sys

import click
import pytest

from fuzzing.minimise import minimised
from fuzzing.outcome import Outcome
from fuzzing.runner import Inputs, outcomes, prepared, run
from fuzzing.target import Target
from lockstep.errors import InputError, LockstepError

SEED = b"one line\nanother line\nthe last line\n"


class Toy(Target):
    """Reads nothing; a word in its input says what it does."""

    name, seconds, mebibytes = "toy", 0.3, 256
    reads = 0

    def seeds(self):
        return [SEED]

    def read(self, data):
        self.reads += 1
        words = {
            b"crash": lambda: ctypes.string_at(0),
            b"loop": lambda: [None for _ in iter(int, 1)],
            b"grow": lambda: bytearray(1 << 30),
            b"break": lambda: {}["absent"],
            b"refuse": lambda: self._refuse("no such thing"),
            b"babble": lambda: self._babble("one\ntwo"),
            b"escape": lambda: self._complain("red \x1b[31m"),
            b"mute": lambda: self._refuse(""),
            b"change": lambda: self.reads,
            b"leave": lambda: sys.exit(3),
        }
        for word, do in words.items():
            if word in data:
                return do()
        return len(data)

    def check(self, data, seed, value):
        return "is accepted" if b"damage" in data else ""

    def _complain(self, message):
        raise click.UsageError(message)

    def _babble(self, message):
        raise LockstepError(message)

    def _refuse(self, message):
        raise InputError("file", "line 1", message)


def judged(*inputs):
    target = Toy()
    with prepared(target):
        found = outcomes(target, range(len(inputs)), lambda n: (inputs[n], SEED))
        return [outcome for _, outcome in found]


@pytest.mark.parametrize(
    ("data", "kind", "where"),
    [
        (b"fine", "accepted", ""),
        (b"refuse", "refused", ""),
        (b"break", "traceback", "KeyError in outside of lockstep"),
        (b"babble", "message", "has several lines"),
        (b"escape", "message", "has control characters"),
        (b"mute", "message", "does not say"),
        (b"change", "changing", ""),
        (b"damage", "silent", "is accepted"),
        (b"grow", "memory", ""),
        (b"crash", "signal", "SIGSEGV"),
        (b"leave", "signal", "exit 1"),
        (b"loop", "hang", ""),
    ],
)
def test_every_kind(data, kind, where):
    before, outcome, after = judged(b"fine", data, b"refuse")
    assert (before.kind, outcome.kind, after.kind) == ("accepted", kind, "refused")
    assert where in outcome.where


def test_inputs_are_the_same_for_the_same_seed():
    first, second, other = Inputs(Toy(), 1), Inputs(Toy(), 1), Inputs(Toy(), 2)
    assert [first[n] for n in range(50)] == [second[n] for n in range(50)]
    assert [first[n] for n in range(50)] != [other[n] for n in range(50)]


def test_a_report_counts_all_and_keeps_the_first_of_each_defect():
    class Broken(Toy):
        def mutated(self, chance, data, other):
            return chance.choice([b"fine", b"refuse", b"break", b"crash"]) + chance.randbytes(2)

    target = Broken()
    with prepared(target):
        report = run(target, range(40))
    assert report.inputs == 40
    assert set(report.counts) == {"accepted", "refused", "traceback", "signal"}
    assert sorted(kind for kind, _ in report.findings) == ["signal", "traceback"]
    assert report.defects == report.counts["traceback"] + report.counts["signal"]


def test_an_input_is_made_small():
    target, data = Toy(), b"a line\n" * 40 + b"xx break yy\n" + b"more\n" * 40
    with prepared(target):
        ((_, outcome),) = outcomes(target, range(1), lambda _: (data, SEED))
        assert minimised(target, data, SEED, outcome) == b"break"
        never = Outcome("traceback", "elsewhere")
        assert minimised(target, b"break", SEED, never) == b"break"
