"""Statements at barriers of which registers hold the number, or the count of threads, or both."""

from cuda_twin import uniform
from cuda_twin.statements import Names, Statements

ALL_THERE = "if ((threads & 31) == 0 && __syncthreads_count(1) == threads)"
"""Where a barrier may wait for a stated number of threads: it must be whole warps, all of them."""


def named(s: Statements, names: Names, *_: object) -> None:
    """All that have not left meet, and hand something on or count."""
    number = f"({uniform.value(s, 'u32')}) & 15"
    if s.chance.random() < 0.5:
        condition, target = s.e.condition(names), s.variable(names, "u32")
        return s.write(f"{target} += count_at({number}, {condition});")
    return _hand_on(s, names, f"meet({number});")


def counted(s: Statements, names: Names, *_: object) -> None:
    """The same with a count of threads."""
    number = f"({uniform.value(s, 'u32')}) & 15"
    condition, target = s.e.condition(names), s.variable(names, "u32")
    forms = (f"count_at({number}, threads, {condition})", f"count_of(threads, {condition})")
    s.write(f"{ALL_THERE} {{")
    if s.chance.random() < 0.6:
        s.write(f"    {target} += {s.chance.choice(forms)};")
    else:
        _hand_on(s, names, f"meet({number}, threads);")
    s.write("}")


def _hand_on(s: Statements, names: Names, meeting: str) -> None:
    target = s.variable(names, "u32")
    s.write(meeting)
    s.write(f"slots[me] = {s.e.value('u32', names, 1)};")
    s.write(meeting)
    s.write(f"{target} ^= slots[({s.e.value('u32', names, 1)}) % threads];")
    s.write(meeting)
