"""The names of what operands encode: scalar registers, vector registers, constants."""

from collections.abc import Iterator

VECTORS = 256  # from this code on, a source is a vector register
_PAIRS = {106: "vcc", 108: "tba", 110: "tma", 126: "exec"}
_SINGLE = {124: "m0", 251: "src_vccz", 252: "src_execz", 253: "src_scc", 254: "src_lds_direct"}
_FLOATS = ("0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0")
_FIRST_FLOAT, _ZERO, _MINUS, _TRAP = 240, 128, 192, 112
LAST_SCALAR, LAST_TRAP = 103, 123


def _names() -> Iterator[tuple[int, str]]:
    """Codes of one dword and their names."""
    yield from ((k, f"s{k}") for k in range(LAST_SCALAR + 1))
    for code, name in _PAIRS.items():
        yield code, f"{name}_lo"
        yield code + 1, f"{name}_hi"
    yield from ((k, f"ttmp{k - _TRAP}") for k in range(_TRAP, LAST_TRAP + 1))
    yield from ((_ZERO + k, str(k)) for k in range(65))
    yield from ((_MINUS + k, str(-k)) for k in range(1, 17))
    yield from ((_FIRST_FLOAT + k, text) for k, text in enumerate(_FLOATS))
    yield from _SINGLE.items()


NAMES = dict(_names())


def is_constant(code: int) -> bool:
    """Whether a source is one of the constants that need no literal."""
    return _ZERO <= code < _FIRST_FLOAT + len(_FLOATS)


def vector(number: int, dwords: int) -> str:
    """Vector registers from ``number`` on; none is beyond the last."""
    last = min(number + dwords, VECTORS) - 1
    return f"v{number}" if last == number else f"v[{number}:{last}]"


def scalar(code: int, dwords: int) -> str:
    """A scalar register, several from it on, or a constant; ``?`` and the code if it is none."""
    if dwords == 2 and code in _PAIRS:
        return _PAIRS[code]
    if dwords > 1 and code <= LAST_SCALAR:
        return f"s[{code}:{code + dwords - 1}]"
    if dwords > 1 and _TRAP <= code <= LAST_TRAP:
        return f"ttmp[{code - _TRAP}:{code - _TRAP + dwords - 1}]"
    return NAMES.get(code, f"?{code}")
