"""``printf`` of device code: C's conversions, each done by the C library."""

import ctypes
import re
from collections.abc import Callable

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|-?\d*))?"
    rb"(?P<length>hh|h|ll|l|L|j|z|t|q)?(?P<kind>[diouxXcspeEfFgGaAn%])"
)
_INTEGERS = b"diouxX"
_NARROW = {b"hh": 1, b"h": 2}
_WIDE = (b"l", b"ll", b"j", b"z", b"t", b"q", b"L")


class Arguments:
    """The arguments of one call, packed as C lays out a structure.

    ``read(offset, size)`` gives bytes of it, ``text(address)`` a string of the program.
    """

    def __init__(self, read: Callable[[int, int], bytes], text: Callable[[int], bytes]):
        self._read, self.text, self._place = read, text, 0
        self.count = 0

    def take(self, size: int) -> bytes:
        """The next argument's bytes."""
        self._place = -(-self._place // size) * size
        content = self._read(self._place, size)
        self._place += size
        self.count += 1
        return content

    def integer(self, size: int, signed: bool) -> int:
        """The next argument as a number."""
        return int.from_bytes(self.take(size), "little", signed=signed)


def render(text: bytes, arguments: Arguments) -> bytes:
    """A format and its arguments as C's ``printf`` would write them.

    What is no conversion stays as it is.
    """
    return _CONVERSION.sub(lambda match: _convert(match, arguments), text)


def _convert(match: re.Match, arguments: Arguments) -> bytes:
    kind, flags = match["kind"], match["flags"]
    if kind == b"%":
        return b"%"
    if kind == b"n":  # CUDA's printf has none
        return match[0]
    spec = b"%" + flags
    if match["width"] is not None:
        spec += _number(match["width"], arguments)
    if match["precision"] is not None:
        precision = _number(match["precision"], arguments)
        spec += b"" if precision.startswith(b"-") else b"." + precision
    return _format(spec, kind, match["length"] or b"", arguments)


def _number(text: bytes, arguments: Arguments) -> bytes:
    if text == b"*":
        return b"%d" % arguments.integer(4, signed=True)
    return text


def _format(spec: bytes, kind: bytes, length: bytes, arguments: Arguments) -> bytes:
    if kind in _INTEGERS:
        signed = kind in b"di"
        value = arguments.integer(8 if length in _WIDE else 4, signed)
        if length in _NARROW:
            size = _NARROW[length]
            value = int.from_bytes((value & (1 << 8 * size) - 1).to_bytes(size), signed=signed)
        number = ctypes.c_longlong(value) if signed else ctypes.c_ulonglong(value)
        return _print(spec + b"ll" + kind, number)
    if kind == b"c":
        return _print(spec + kind, ctypes.c_int(arguments.integer(4, signed=False) & 0xFF))
    if kind == b"s":
        address = arguments.integer(8, signed=False)
        text = arguments.text(address) if address else b"(null)"
        return _print(spec + kind, ctypes.c_char_p(text))
    if kind == b"p":
        return _print(spec + kind, ctypes.c_void_p(arguments.integer(8, signed=False)))
    value = ctypes.c_double.from_buffer_copy(arguments.take(8))
    return _print(spec + kind, value)


def _print(spec: bytes, value) -> bytes:
    """One conversion by the C library."""
    libc = ctypes.CDLL(None)
    libc.snprintf.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    size = libc.snprintf(None, 0, spec, value)
    room = ctypes.create_string_buffer(size + 1)
    libc.snprintf(room, size + 1, spec, value)
    return room.raw[:size]
