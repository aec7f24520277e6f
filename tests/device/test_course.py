"""The course of a program: what is compared, and what of parameters is not."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.device import Diverged, Treatment
from lockstep.device.course import Course
from lockstep.workload import MemoryCopy

MEMORY = SimpleNamespace(base=0x7000_0000_0000, capacity=1 << 30)


def launch(parameters=b"", name="k", key="code", stream=0, number=1, treatment="SIMULATE"):
    kernel = SimpleNamespace(name=name, module=SimpleNamespace(key=key))
    return SimpleNamespace(
        kernel=kernel,
        geometry=(1, 32),
        stream=stream,
        parameters=parameters,
        id=number,
        treatment=Treatment[treatment],
    )


def words(*numbers):
    return np.array(numbers, np.uint64).tobytes()


def same(one, other):
    """Whether two launches count as the same."""
    before = Course(MEMORY)
    before.launched(one)
    again = Course(MEMORY, before.freeze(), "folder")
    try:
        again.launched(other)
    except Diverged as error:
        assert "folder: the program does something else" in str(error)
        return False
    return True


def test_what_a_launch_is():
    assert same(launch(), launch())
    for other in (launch(name="l"), launch(key="other"), launch(stream=1), launch(b"1")):
        assert not same(launch(), other)
    for treatment in ("WARM", "EXECUTE"):
        assert not same(launch(), launch(treatment=treatment))


@pytest.mark.parametrize(
    "one, other, equal",
    [
        (0x5555_0000_1000, 0x7FFF_1234_5678, True),  # pointers into the host's memory
        (0x7000_0000_0000, 0x7000_0000_0100, False),  # into the device's
        (0x7000_4000_0000, 0x7000_4000_0100, True),  # just behind it
        (0x0FFF_0000_0001, 0x0FFF_0000_0002, False),  # two numbers of 32 bits
        (0x3FF0_0000_0000_0000, 0x4000_0000_0000_0000, False),  # floating-point numbers
        (0x7000_0000_0000, 0x5555_0000_0000, False),  # one of each
    ],
)
def test_pointers_into_the_host_are_not_compared(one, other, equal):
    assert same(launch(words(1, one)), launch(words(1, other))) == equal
    assert same(launch(words(one) + b"abc"), launch(words(other) + b"abc")) == equal
    assert not same(launch(words(one) + b"abc"), launch(words(one) + b"abd"))


def test_copies_are_compared_by_their_content():
    before = Course(MEMORY)
    before.copied(MemoryCopy(16, 4), memoryview(b"1234"))
    frozen = before.freeze()
    Course(MEMORY, frozen, "f").copied(MemoryCopy(16, 4), memoryview(b"1234"))
    for copy, content in ((MemoryCopy(16, 4), b"1235"), (MemoryCopy(32, 4), b"1234")):
        with pytest.raises(Diverged, match=r"a copy of 4 bytes to 0x.0 is the first that"):
            Course(MEMORY, frozen, "f").copied(copy, memoryview(content))


def course(*steps, before=None):
    made = Course(MEMORY, before, "f")
    for step in steps:
        if step == "wait":
            made.waited()
        else:
            made.launched(launch(number=step))
    return made


def test_when_it_waits_is_compared():
    frozen = course(1, "wait", 2, 3, "wait").freeze()
    course(1, "wait", 2, 3, "wait", 4, "wait", before=frozen).check_end()
    with pytest.raises(Diverged, match=r"it waits after launch 2 \(k\), where it did not"):
        course(1, "wait", 2, "wait", before=frozen)
    with pytest.raises(Diverged, match=r"nothing follows launch 1 \(k\), where more did"):
        course(1, "wait", before=frozen).check_end()
    with pytest.raises(Diverged, match="nothing follows its start"):
        course(before=frozen).check_end()
