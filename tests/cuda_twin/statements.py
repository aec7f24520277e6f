"""Random statements. ``mask`` names the variable that holds the lanes that are at a place.

Lanes diverge at will; where they do something together, they name whom they do it with, and those
are all there: a branch or a turn of a loop that has such statements first asks who takes it.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

from cuda_twin.expressions import Expressions

COUNTS = {"u32": 5, "u64": 2, "f32": 2, "f64": 2}
REDUCTIONS = ("add", "min", "max", "and", "or", "xor")
WIDTHS = (32, 32, 32, 16, 8, 4)
ATOMICS = ("Add", "Min", "Max", "And", "Or", "Xor")
LOCAL = 8
OTHERS = 0.4  # how many statements are of other modules

Names = dict[str, list[str]]


class Scale(NamedTuple):
    """How large programs are."""

    statements: int  # of a kernel, outside of all others
    depth: int  # of statements in statements
    expressions: int  # depth of operators
    functions: float  # how likely each one is


SMALL, MEDIUM, LARGE = Scale(2, 2, 1, 0.3), Scale(4, 2, 2, 0.4), Scale(6, 3, 3, 0.8)


Kind = Callable[..., None]  # takes statements, and what ``Statements.statement`` does


class Kinds(NamedTuple):
    """Statements of other modules, by where they may stand."""

    alone: tuple[Kind, ...] = ()
    deeper: tuple[Kind, ...] = ()  # alone, with others in them
    memory: tuple[Kind, ...] = ()  # alone, in a kernel
    uniform: tuple[Kind, ...] = ()  # the same, with others in them
    together: tuple[Kind, ...] = ()
    together_deeper: tuple[Kind, ...] = ()
    block: tuple[Kind, ...] = ()


NO_OTHERS = Kinds()


class Statements:
    """Writes the body of a function: ``lines`` grow, deeper blocks are indented.

    ``functions`` that may be called are (name, kind): "plain", "lanes" or "recursive". Only a
    kernel has local, shared and global memory.
    """

    def __init__(
        self,
        chance: random.Random,
        scale: Scale,
        functions: list[tuple[str, str]] = (),
        in_kernel: bool = False,
        kinds: Kinds = NO_OTHERS,
    ):
        self.chance, self.functions, self.in_kernel = chance, functions, in_kernel
        self.e, self.depth = Expressions(chance, scale.expressions), scale.depth
        self.kinds, self.lines = kinds, list[str]()
        self._indent, self._made = 1, 0

    def write(self, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * self._indent + text)

    def new(self, stem: str) -> str:
        """A name that no other variable has."""
        self._made += 1
        return f"{stem}{self._made}"

    def block(self, opening: str, write: Callable[[], None], closing: str = "}") -> None:
        """What ``write`` writes, indented."""
        self.write(opening)
        self._indent += 1
        write()
        self._indent -= 1
        self.write(closing)

    def body(self, names: Names, mask: str | None, whole: bool, depth: int, count: int) -> None:
        """Statements; without ``mask`` none that lanes do together, ``whole``: all the block."""
        for _ in range(count):
            self.statement(names, mask, whole, depth)

    def statement(self, names: Names, mask: str | None, whole: bool, depth: int) -> None:
        """One of those that may stand here."""
        chosen = [self.assign, self.assign]
        if depth < self.depth:
            chosen += [self.branch, self.branch, self.loop, self.counted, self.switch]
        if mask is not None:
            chosen += [self.shuffle, self.vote, self.match, self.reduce]
        if self.in_kernel:
            chosen += [self.store_local, self.atomic, self.call]
            if mask is not None:
                chosen += [self.exchange, self.descend]
        if whole:
            chosen += [self.barrier] * 3
        others = self._others(mask, whole, depth)
        if others and self.chance.random() < OTHERS:
            return self.chance.choice(others)(self, names, mask, whole, depth)
        return self.chance.choice(chosen)(names, mask, whole, depth)

    def _others(self, mask: str | None, whole: bool, depth: int) -> list[Kind]:
        """The statements of other modules that may stand here."""
        kinds, deep = self.kinds, depth < self.depth
        chosen = [*kinds.alone, *(kinds.deeper if deep else ())]
        if self.in_kernel:
            chosen += [*kinds.memory, *(kinds.uniform if deep else ())]
        if mask is not None:
            chosen += [*kinds.together, *(kinds.together_deeper if deep else ())]
        return chosen + (list(kinds.block) if whole else [])

    def variable(self, names: Names, kind: str) -> str:
        """One that may be written."""
        return self.chance.choice(names[kind])

    def any_kind(self) -> str:
        """A type of a variable."""
        return self.chance.choices(("u32", "u64", "f32", "f64"), (5, 2, 2, 1))[0]

    # Alone

    def assign(self, names: Names, *_: object) -> None:
        kind = self.any_kind()
        target = self.variable(names, kind)
        if kind in ("u32", "u64") and self.chance.random() < 0.3:
            self.write(f"{target} {self.chance.choice('+-^')}= {self.e.value(kind, names, 2)};")
        else:
            self.write(f"{target} = {self.e.value(kind, names)};")

    def store_local(self, names: Names, *_: object) -> None:
        place = self.e.value("u32", names, 1)
        if self.chance.random() < 0.5:
            self.write(f"local[({place}) & {LOCAL - 1}] = {self.e.value('u32', names, 2)};")
        else:
            self.write(f"{self.variable(names, 'u32')} ^= local[({place}) & {LOCAL - 1}];")

    def atomic(self, names: Names, *_: object) -> None:
        """Whoever comes first, the same is there at the end."""
        chance, value = self.chance, self.e.value("u32", names, 2)
        spread = chance.choice(("0", "lane & 3", self.e.value("u32", names, 1) + " & 3"))
        form = chance.randrange(5)
        if form == 0:
            self.write(f"raise(&raiseds[{spread}], {value});")
        elif form == 1:  # what comes back is in another order, but the same all together
            self.write(f"atomicAdd(&sums[1], (u64)atomicAdd(&counts[{spread}], 1u));")
        elif form == 2:
            self.write(f"atomicAdd(&sums[0], {self.e.value('u64', names, 2)});")
        else:
            name = chance.choice(ATOMICS)
            where = chance.choice(("shared_", ""))
            self.write(f"atomic{name}(&{where}{name.lower()}s[{spread}], {value});")

    def call(self, names: Names, *_: object) -> None:
        plain = [name for name, kind in self.functions if kind == "plain"]
        forms = [self._call_virtual]
        if plain:
            forms += [self._call_plain, self._call_by_pointer]
        if ("pair0", "pair") in self.functions:
            forms.append(self._call_for_pair)
        self.chance.choice(forms)(names, plain)

    def _call_plain(self, names: Names, plain: list[str]) -> None:
        x, y = self.e.value("u32", names, 2), self.e.value("u32", names, 2)
        self.write(f"{self.variable(names, 'u32')} = {self.chance.choice(plain)}({x}, {y});")

    def _call_by_pointer(self, names: Names, plain: list[str]) -> None:
        x, y = self.e.value("u32", names, 2), self.e.value("u32", names, 2)
        call = f"functions[({x}) % {len(plain)}]({x}, {y})"
        self.write(f"{self.variable(names, 'u32')} = {call};")

    def _call_for_pair(self, names: Names, _: list[str]) -> None:
        pair, x = self.new("pair"), self.e.value("u32", names, 2)
        wide, short = self.e.value("u64", names, 1), self.e.value("u32", names, 1)
        self.write(f"Pair {pair} = pair0({x}, {wide}, (i16)({short}));")
        self.write(f"{self.variable(names, 'u32')} += {pair}.first ^ (u32){pair}.third;")
        self.write(f"{self.variable(names, 'u64')} ^= {pair}.second;")

    def _call_virtual(self, names: Names, _: list[str]) -> None:
        x, y = self.e.value("u32", names, 2), self.e.value("u32", names, 1)
        self.write(f"square.side = {x};")
        self.write(f"other.a = {y}, other.b = {x};")
        chosen = f"({self.e.condition(names, 1)} ? (Shape *)&square : (Shape *)&other)"
        self.write(f"{self.variable(names, 'u32')} = {chosen}->area({y});")

    # Control flow

    def branch(self, names: Names, mask: str | None, whole: bool, depth: int) -> None:
        chance, count = self.chance, self.chance.randint(1, 3)
        condition, other = self.e.condition(names), chance.random() < 0.5
        if mask is None or chance.random() < 0.3:
            self.block(
                f"if ({condition}) {{", lambda: self.body(names, None, False, depth + 1, count)
            )
            if other:
                self.block("else {", lambda: self.body(names, None, False, depth + 1, 1))
            return
        test, taken = self.new("c"), self.new("m")
        self.write(f"bool {test} = {condition};")
        self.write(f"u32 {taken} = __ballot_sync({mask}, {test});")
        self.block(f"if ({test}) {{", lambda: self.body(names, taken, False, depth + 1, count))
        if other:
            self.write(f"else {{ u32 {taken}_ = {mask} & ~{taken};")
            self.block("", lambda: self.body(names, taken + "_", False, depth + 1, count))

    def loop(self, names: Names, mask: str | None, whole: bool, depth: int) -> None:
        """Lanes turn as often as their data say; some leave or go on in the middle."""
        chance, turn = self.chance, self.new("t")
        limit = f"(({self.e.value('u32', names, 2)}) & {chance.choice((3, 7))})"
        inner = {**names, "u32": [*names["u32"], turn]}
        reads = {**names}  # the counter is read, not written
        if mask is None or chance.random() < 0.3:
            end = self.new("n")
            self.write(f"u32 {end} = {limit};")
            head = f"for (u32 {turn} = 0; {turn} < {end}; {turn}++) {{"

            def alone() -> None:
                self.write(f"{self.variable(reads, 'u32')} += {self.e.value('u32', inner, 2)};")
                self.body(reads, None, False, depth + 1, chance.randint(1, 2))
                if chance.random() < 0.6:
                    self.write(f"if ({self.e.condition(inner)}) {self._leave()}")
                    self.assign(reads)

            return self.block(head, alone)
        lanes, test, end = self.new("m"), self.new("c"), self.new("n")
        self.write(f"u32 {lanes} = {mask}, {end} = {limit};")

        def together() -> None:
            self.write(f"bool {test} = {turn} < {end};")
            self.write(f"{lanes} = __ballot_sync({lanes}, {test});")
            self.write(f"if (!{test}) break;")
            self.write(f"{self.variable(reads, 'u32')} ^= {self.e.value('u32', inner, 2)};")
            self.body(reads, lanes, False, depth + 1, chance.randint(1, 3))
            if chance.random() < 0.6:
                self._leave_together(reads, lanes, depth)

        self.block(f"for (u32 {turn} = 0;; {turn}++) {{", together)
        return None

    def _leave(self) -> str:
        return self.chance.choice(("break;", "continue;"))

    def _leave_together(self, names: Names, lanes: str, depth: int) -> None:
        """Who leaves the turn, or the loop, is not among those who go on."""
        test = self.new("c")
        self.write(f"bool {test} = {self.e.condition(names)};")
        if self.chance.random() < 0.5:
            self.write(f"{lanes} = __ballot_sync({lanes}, !{test});")
            self.write(f"if ({test}) break;")
            return self.body(names, lanes, False, depth + 1, 1)
        rest = self.new("m")
        self.write(f"u32 {rest} = __ballot_sync({lanes}, !{test});")
        self.write(f"if ({test}) continue;")
        return self.body(names, rest, False, depth + 1, 1)

    def counted(self, names: Names, mask: str | None, whole: bool, depth: int) -> None:
        """All lanes turn equally often."""
        turn, count = self.new("t"), self.chance.choice((2, 3, 5))
        inner = {**names, "u32": [*names["u32"], turn]}

        def turns() -> None:
            self.write(f"{self.variable(names, 'u32')} += {self.e.value('u32', inner, 2)};")
            self.body(names, mask, whole, depth + 1, self.chance.randint(1, 2))

        self.block(f"for (u32 {turn} = 0; {turn} < {count}; {turn}++) {{", turns)

    def switch(self, names: Names, mask: str | None, whole: bool, depth: int) -> None:
        chance, chosen = self.chance, self.new("s")
        cases = chance.choice((3, 4, 6))
        self.write(f"u32 {chosen} = ({self.e.value('u32', names, 2)}) % {cases + 1};")
        lanes = None
        if mask is not None:
            lanes = self.new("m")
            self.write(f"u32 {lanes} = __match_any_sync({mask}, {chosen});")

        def rows() -> None:
            for case in range(cases):
                label = f"case {case}: {{" if case < cases - 1 else "default: {"
                self.block(label, lambda: self.body(names, lanes, False, depth + 1, 1))
                if chance.random() < 0.7:  # else into the next one, in groups as they came
                    self.write("break;")

        self.block(f"switch ({chosen}) {{", rows)

    # Together

    def shuffle(self, names: Names, mask: str, *_: object) -> None:
        chance, kind = self.chance, self.any_kind()
        target, value = self.variable(names, kind), self.e.value(kind, names, 1)
        width, number = chance.choice(WIDTHS), self.e.value("u32", names, 1)
        match chance.randrange(5):
            case 0:
                call = f"across({mask}, {value}, {chance.randrange(32)}u)"
            case 1:
                call = f"upwards({mask}, {value}, ({number}) & 31, {width}u)"
            case 2:
                call = f"downwards({mask}, {value}, {chance.randrange(32)}u, {width}u)"
            case 3:
                call = f"among({mask}, {value}, {number}, {width}u)"
            case _:
                call = f"__shfl_sync({mask}, {value}, nth({mask}, {number}))"
        self.write(f"{target} = {call};")

    def vote(self, names: Names, mask: str, *_: object) -> None:
        form = self.chance.choice(
            ("__ballot_sync({}, {})", "(u32)__any_sync({}, {})", "(u32)__all_sync({}, {})")
        )
        text = form.format(mask, self.e.condition(names))
        self.write(f"{self.variable(names, 'u32')} += {text};")

    def match(self, names: Names, mask: str, *_: object) -> None:
        kind = self.chance.choice(("u32", "u64"))
        value = f"({self.e.value(kind, names, 1)}) & {self.chance.choice((1, 3, 255))}"
        target = self.variable(names, "u32")
        if self.chance.random() < 0.7:
            return self.write(f"{target} = __match_any_sync({mask}, {value});")
        same = self.new("same")
        self.write(f"int {same};")
        return self.write(f"{target} ^= __match_all_sync({mask}, {value}, &{same}) + {same};")

    def reduce(self, names: Names, mask: str, *_: object) -> None:
        name, value = self.chance.choice(REDUCTIONS), self.e.value("u32", names, 1)
        if name in ("min", "max") and self.chance.random() < 0.5:
            value = f"(i32)({value})"
        call = f"__reduce_{name}_sync({mask}, {value})"
        self.write(f"{self.variable(names, 'u32')} = (u32){call};")

    def exchange(self, names: Names, mask: str, *_: object) -> None:
        """Through shared memory, among the lanes of a mask."""
        self.write(f"__syncwarp({mask});")
        self.write(f"slots[me] = {self.e.value('u32', names, 1)};")
        self.write(f"__syncwarp({mask});")
        source = f"nth({mask}, {self.e.value('u32', names, 1)})"
        self.write(f"{self.variable(names, 'u32')} ^= slots[(me & ~31u) + {source}];")
        self.write(f"__syncwarp({mask});")

    def descend(self, names: Names, mask: str, *_: object) -> None:
        """A function that does things together, called by those of a mask, or by groups of it."""
        known = [(n, k) for n, k in self.functions if k in ("lanes", "recursive")]
        if not known:
            return self.vote(names, mask)
        name, kind = self.chance.choice(known)
        x, target = self.e.value("u32", names, 1), self.variable(names, "u32")
        if kind == "recursive":
            return self.write(
                f"{target} = {name}(({x}) & 3, {self.e.value('u32', names, 1)}, {mask});"
            )
        group, table = self.new("m"), [n for n, k in known if k == "lanes"]
        if self.chance.random() < 0.5:
            return self.write(f"{target} = {name}({x}, {mask});")
        chosen = self.new("s")
        self.write(f"u32 {chosen} = ({x}) % {len(table)};")
        self.write(f"u32 {group} = __match_any_sync({mask}, {chosen});")
        return self.write(
            f"{target} += gathered[{chosen}]({self.e.value('u32', names, 1)}, {group});"
        )

    # The block

    def barrier(self, names: Names, *_: object) -> None:
        """All threads write, all read what another one wrote; those that left have their last."""
        chance, target = self.chance, self.variable(names, "u32")
        if chance.random() < 0.3:
            form = chance.choice(("count", "and", "or"))
            return self.write(f"{target} += __syncthreads_{form}({self.e.condition(names)});")
        area = chance.choice(("slots", "dynamic"))
        self.write("__syncthreads();")
        self.write(f"{area}[me] = {self.e.value('u32', names, 2)};")
        self.write("__syncthreads();")
        self.write(f"{target} = {area}[({self.e.value('u32', names, 1)}) % threads];")
        if chance.random() < 0.5:
            spread = self.e.value("u32", names, 1)
            self.write(f"{target} ^= shared_adds[({spread}) & 3] + shared_maxs[0];")
        return self.write("__syncthreads();")
