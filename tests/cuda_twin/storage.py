"""Statements on memory of a thread's own: vectors, narrow types, structures, atomic results."""

from cuda_twin.statements import Names, Statements

BEGIN = (
    "__shared__ Cell cells[128];",
    "__shared__ u32 spare[128];",
    "__shared__ f32 reals[128];",
    "spare[me] = reals[me] = 0;",
    "Cell cell;",
    "Record records[4];",
    "for (u32 i = 0; i < 4; i++) {",
    "    cell.w[i] = i + me, cells[me].w[i] = i * 77 + me;",
    "    records[i] = {(u8)i, (u16)me, i * me, (f32)i, (u64)me << 40, {(u8)me, (u8)i, 3}};",
    "}",
)
DIGEST = (
    "digest(cell) + 3 * digest(cells[me]) + records[me & 3].total() + records[0].total()"
    " + spare[me] + bits(reals[me])"
)
_PLACES = ("cell", "cells[me]")
_SCALARS = (("b", 16, "u8"), ("sb", 16, "i8"), ("h", 8, "u16"), ("sh", 8, "i16"), ("w", 4, "u32"))
_VECTORS = (
    ("c4", 4, "uchar4", "xyzw"),
    ("s2", 4, "short2", "xy"),
    ("i2", 2, "int2", "xy"),
    ("i4", 1, "int4", "xyzw"),
    ("l2", 1, "longlong2", "xy"),
    ("us4", 2, "ushort4", "xyzw"),
)


def scalar(s: Statements, names: Names, *_: object) -> None:
    """A narrow element is written, or read, at a place that data say."""
    place, (field, count, kind) = s.chance.choice(_PLACES), s.chance.choice(_SCALARS)
    where = f"{place}.{field}[({s.e.value('u32', names, 1)}) & {count - 1}]"
    if s.chance.random() < 0.5:
        value = s.e.value("u32", names, 1)
        s.write(f"{where} {s.chance.choice(('', '+', '^'))}= ({kind})({value});")
    else:
        s.write(f"{s.variable(names, 'u32')} += (u32){where};")


def vector(s: Statements, names: Names, *_: object) -> None:
    """A vector is read, its elements change, and it is written elsewhere."""
    field, count, kind, elements = s.chance.choice(_VECTORS)
    v, source, target = s.new("v"), s.chance.choice(_PLACES), s.chance.choice(_PLACES)
    at, to = s.e.value("u32", names, 1), s.e.value("u32", names, 1)
    s.write(f"{kind} {v} = {source}.{field}[({at}) & {count - 1}];")
    element = s.chance.choice(elements)
    s.write(f"{v}.{element} {s.chance.choice('+-^')}= {s.e.value('u32', names, 1)};")
    s.write(f"{target}.{field}[({to}) & {count - 1}] = {v};")
    s.write(f"{s.variable(names, 'u32')} ^= (u32){v}.{s.chance.choice(elements)};")


def doubles(s: Statements, names: Names, *_: object) -> None:
    """The input as vectors of floating-point numbers and words."""
    v, place = s.new("v"), s.e.value("u32", names, 1)
    s.write(f"uint4 {v} = ((const uint4 *)row)[({place}) & 3];")
    s.write(f"{s.variable(names, 'u32')} += {v}.x ^ {v}.w;")
    s.write(f"{s.variable(names, 'f64')} = (f64){v}.y + 0.5;")
    s.write(f"cell.d[1] = (f64)(i32){v}.z;")


def record(s: Statements, names: Names, *_: object) -> None:
    """Structures are copied, compared and changed in an array."""
    at, to = s.e.value("u32", names, 1), s.e.value("u32", names, 1)
    match s.chance.randrange(3):
        case 0:
            s.write(f"records[({at}) & 3] = records[({to}) & 3];")
        case 1:
            r = s.new("r")
            s.write(f"Record {r} = records[({at}) & 3];")
            s.write(f"{r}.half -= (u16)({to}), {r}.bytes[({to}) % 3] ^= (u8){r}.byte;")
            s.write(f"if ({s.e.condition(names)}) {r} = records[0];")
            s.write(f"records[({to}) & 3] = {r};")
        case _:
            s.write(f"{s.variable(names, 'u64')} ^= records[({at}) & 3].total();")


def atomic(s: Statements, names: Names, *_: object) -> None:
    """What atomic operations on cells that no other thread has give back."""
    value, other = s.e.value("u32", names, 1), s.e.value("u32", names, 1)
    if s.chance.random() < 0.4:
        wide = s.e.value("u64", names, 1)
        name = s.chance.choice(("Add", "Exch", "Min", "Max", "And", "Or", "Xor"))
        call = f"atomic{name}(&cells[me].l[({other}) & 1], {wide})"
        if s.chance.random() < 0.3:
            call = f"atomicCAS(&cells[me].l[0], cells[me].l[({other}) & 1], {wide})"
        return s.write(f"{s.variable(names, 'u64')} ^= {call};")
    name = s.chance.choice(("Add", "Sub", "Exch", "Min", "Max", "And", "Or", "Xor", "Inc", "Dec"))
    place = s.chance.choice((f"cells[me].w[({other}) & 3]", "spare[me]"))
    call = f"atomic{name}(&{place}, {value})"
    if s.chance.random() < 0.2:
        call = f"atomicCAS(&{place}, {other}, {value})"
    elif s.chance.random() < 0.2:
        name = s.chance.choice(("Min", "Max", "Add", "Exch"))
        call = f"(u32)atomic{name}((i32 *)&{place}, (i32)({value}))"
    elif s.chance.random() < 0.2:
        return s.write(f"atomicAdd(&reals[me], (f32)(i16)({value}));")
    return s.write(f"{s.variable(names, 'u32')} += {call};")


def copy(s: Statements, names: Names, *_: object) -> None:
    """The input comes into shared memory by itself: all, nothing or a part; the rest is zeros."""
    size = s.chance.choice((4, 8, 16))
    at = s.e.value("u32", names, 1)
    whole = f"at_ & {1 << 8} ? 0 : at_ & {1 << 9} ? {size} : at_ >> 10 & {size - 1}"
    s.write(f"{{ const u32 at_ = {at};")
    s.write(f"const u8 *from_ = (const u8 *)row + (at_ & {64 // size - 1}) * {size};")
    s.write(f"copied(cells[me].b, from_, {size}, {whole});")
    s.write(f"{s.variable(names, 'u32')} ^= cells[me].w[at_ & 3]; }}")
