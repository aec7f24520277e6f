"""Readings: what was asked for is asked for again, in the same order."""

from dataclasses import replace

from lockstep.engine.readings import Readings, Repetition
from lockstep.errors import EndOfKernel


def test_calls_in_a_row_are_one_entry():
    readings = Readings()
    for order in (0, 0, 0, 2, 0, 1, 1):
        readings.note(order)
    assert readings.freeze().tolist() == [[0, 3], [2, 1], [0, 1], [1, 2]]
    again = Readings()
    again.thaw(readings.freeze())
    again.note(1)
    assert again.freeze().tolist() == [[0, 3], [2, 1], [0, 1], [1, 3]]
    assert Readings().freeze().shape == (0, 2)


def test_kernels_are_executed_again_in_the_order_of_before(mixed):
    done = []

    def executed(name, most, error=None):
        def again():
            for k in range(most):
                done.append((name, k))
                yield None
            done.append((name, "end"))
            if error:
                raise error

        return replace(mixed().kernel(), again=again)

    kernels = [executed("a", 2), mixed().kernel(), executed("b", 3, EndOfKernel())]
    repetition = Repetition(kernels)
    for order, count in ((0, 1), (1, 7), (2, 2), (0, 2), (2, 2)):
        repetition.ask(order, count)
    assert done == [
        ("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", "end"), ("b", 2), ("b", "end"),
    ]  # fmt: skip
