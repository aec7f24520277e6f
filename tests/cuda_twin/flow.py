"""Statements of control flow: jumps, tables of jumps, and threads that leave functions in loops."""

from cuda_twin.statements import Names, Statements


def many_cases(s: Statements, names: Names, mask: str | None, whole: bool, depth: int) -> None:
    """A switch that compilers make a table of, whose cases fall into each other here and there."""
    cases = s.chance.choice((9, 14, 20))
    s.block(
        f"switch (({s.e.value('u32', names, 1)}) % {cases + 2}) {{", lambda: _rows(s, names, cases)
    )


def _rows(s: Statements, names: Names, cases: int) -> None:
    for case in range(cases):
        s.write(f"case {case}:")
        target = s.variable(names, s.chance.choice(("u32", "u32", "u64")))
        s.write(f"    {target} {s.chance.choice('+-^*')}= {s.e.value('u32', names, 1)};")
        if s.chance.random() < 0.8:
            s.write("    break;")


def jump(s: Statements, names: Names, mask: str | None, whole: bool, depth: int) -> None:
    """Forward over statements, or into the middle of what others come to from above."""
    label = s.new("skip")
    s.write(f"if ({s.e.condition(names)}) goto {label};")
    s.block("{", lambda: s.body(names, None, False, depth + 1, 2))
    if s.chance.random() < 0.5:
        other = s.new("skip")
        s.write(f"if ({s.e.condition(names)}) goto {other};")
        s.block("{", lambda: s.body(names, None, False, depth + 1, 1))
        s.write(f"{label}: {s.variable(names, 'u32')} += {s.e.value('u32', names, 1)};")
        s.block("{", lambda: s.body(names, None, False, depth + 1, 1))
        s.write(f"{other}:;")
    else:
        s.write(f"{label}:;")


def jump_back(s: Statements, names: Names, mask: str | None, whole: bool, depth: int) -> None:
    """A loop with two entries and two exits, which turns eight times at most."""
    turn, head, middle, end = s.new("t"), s.new("head"), s.new("middle"), s.new("end")
    s.write("{")
    s.write(f"u32 {turn} = 0;")
    s.write(f"if ({s.e.condition(names)}) goto {middle};")
    s.write(f"{head}: {s.variable(names, 'u32')} ^= {s.e.value('u32', names, 1)};")
    s.block("{", lambda: s.body(names, None, False, depth + 1, 1))
    s.write(f"if ({s.e.condition(names)}) goto {end};")
    s.write(f"{middle}: {s.variable(names, 'u32')} += {s.e.value('u32', names, 1)};")
    s.block("{", lambda: s.body(names, None, False, depth + 1, 1))
    s.write(f"if (++{turn} < 8 && {s.e.condition(names)}) goto {head};")
    s.write(f"{end}:;")
    s.write("}")


def nested_exit(s: Statements, names: Names, mask: str | None, whole: bool, depth: int) -> None:
    """Two loops, the inner of which some threads leave both of."""
    out, i, j = s.new("out"), s.new("outer"), s.new("inner")
    first, second = s.e.value("u32", names, 1), s.e.value("u32", names, 1)
    s.write("{")
    s.write(f"u32 {i} = ({first}) & 3, {j} = 0;")

    def inner() -> None:
        s.write(f"if ({s.e.condition(names)}) goto {out};")
        s.write(f"{s.variable(names, 'u32')} += {i} * {j};")
        s.write(f"if (({j} ^ {s.variable(names, 'u32')}) & 1) continue;")
        s.body(names, None, False, depth + 1, 1)

    def outer() -> None:
        s.block(f"for ({j} = ({second}) & 3; {j}; {j}--) {{", inner)
        s.write(f"if ({s.e.condition(names)}) break;")

    s.block(f"while ({i}--) {{", outer)
    s.write(f"{out}: {s.variable(names, 'u32')} -= {i} + {j};")
    s.write("}")
