"""The text that AMD's compiler puts beside a kernel: its arguments and what memory it needs.

A line is ``;key:value:...``; keys that say nothing about running the kernel are skipped.
"""

from dataclasses import dataclass, field, replace

from lockstep.errors import InputError

_POINTER, _VALUE, _IMAGE, _SAMPLER, _MEMORY, _SIZE, _REFLECTION = 10, 6, 7, 5, 3, 4, 3
_SPACES = ("uav", "hl", "hc", "c")
_ACCESSES = ("RW", "RO", "WO")
_BYTES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "float": 4}
_BYTES |= {"u64": 8, "i64": 8, "double": 8}


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One argument of a kernel.

    ``kind`` is pointer, value, image or sampler, ``type`` the metadata's (``u32``, ``float``,
    ``struct``, ``2D``), ``declared`` that of the source (``uint*``), or "". ``count`` is the
    elements of a value, or the bytes of a struct; ``offset`` bytes into constant buffer 1. A
    pointer's ``space`` is uav (global), hl (local), hc or c (constant); ``number`` is its UAV or
    constant buffer, an image's UAV or resource, a sampler's slot. ``alignment`` is bytes,
    ``access`` RW, RO or WO, "" for values.
    """

    kind: str
    name: str
    type: str
    count: int = 1
    offset: int = 0
    space: str = ""
    number: int = 0
    alignment: int = 0
    access: str = ""
    declared: str = ""

    @property
    def bytes(self) -> int:
        """What a value takes in constant buffer 1; 0 for a type that is not known."""
        if self.kind != "value":
            return 0
        return self.count * (1 if self.type == "struct" else _BYTES.get(self.type, 0))


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler that the source declares with its value, as OpenCL's headers encode it."""

    name: str
    number: int
    value: int


@dataclass
class Metadata:
    """What the text says."""

    arguments: list[KernelArgument] = field(default_factory=list)
    samplers: list[Sampler] = field(default_factory=list)
    lds_bytes: int = 0
    private_bytes: int = 0
    required_size: tuple[int, int, int] | None = None


def read_metadata(data: bytes, path: str, start: int) -> Metadata:
    """The metadata in some bytes, which begin at byte ``start`` of the file."""
    found = Metadata()
    place = start
    for line in data.rstrip(b"\0").split(b"\n"):
        try:
            _line(line.decode("latin-1").strip().lstrip(";").split(":"), found)
        except ValueError as error:
            shown = line[:100].decode("latin-1").strip()
            message = f"the metadata {shown!r}: {error}"
            raise InputError(path, f"byte {place}", message) from None
        place += len(line) + 1
    return found


def _line(parts: list[str], found: Metadata) -> None:
    """Take what one line says; ValueError, with the reason, if it is not as it should be."""
    match parts[0]:
        case "pointer":
            _, name, kind, _, _, offset, space, number, align, access = _exactly(parts, _POINTER)
            _one_of(space, _SPACES)
            _one_of(access, _ACCESSES)
            places = (1, _number(offset), space, _number(number), _number(align), access)
            found.arguments.append(KernelArgument("pointer", name, kind, *places))
        case "value":
            _, name, kind, count, _, offset = _exactly(parts, _VALUE)
            found.arguments.append(
                KernelArgument("value", name, kind, _number(count), _number(offset))
            )
        case "image":
            _, name, kind, access, number, _, offset = _exactly(parts, _IMAGE)
            _one_of(access, _ACCESSES)
            places = (1, _number(offset), "", _number(number), 0, access)
            found.arguments.append(KernelArgument("image", name, kind, *places))
        case "sampler":
            _, name, number, of_source, value = _exactly(parts, _SAMPLER)
            if _number(of_source):
                found.samplers.append(Sampler(name, _number(number), _number(value)))
            else:
                found.arguments.append(KernelArgument("sampler", name, "", number=_number(number)))
        case "memory" if parts[1:2] == ["hwlocal"]:
            found.lds_bytes = _number(_exactly(parts, _MEMORY)[2])
        case "memory" if parts[1:2] == ["uavprivate"]:
            found.private_bytes = _number(_exactly(parts, _MEMORY)[2])
        case "cws":
            x, y, z = (_number(part) for part in _exactly(parts, _SIZE)[1:])
            found.required_size = (x, y, z)
        case "reflection":
            _, index, declared = _exactly(parts, _REFLECTION)
            _declare(found, _number(index), declared)


def _declare(found: Metadata, index: int, declared: str) -> None:
    if index >= len(found.arguments):
        raise ValueError(f"there are {len(found.arguments)} arguments")
    found.arguments[index] = replace(found.arguments[index], declared=declared)


def _exactly(parts: list[str], count: int) -> list[str]:
    """The first ``count`` parts."""
    if len(parts) < count:
        raise ValueError(f"expected {count} parts between colons, but there are {len(parts)}")
    return parts[:count]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise ValueError(f"expected a number, not {text[:20]!r}")
    number = int(text)
    if number >= 1 << 32:
        raise ValueError(f"{number} has more than 32 bits")
    return number


def _one_of(word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise ValueError(f"expected one of {', '.join(known)}, not {word[:20]!r}")
