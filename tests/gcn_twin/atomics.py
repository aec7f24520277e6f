"""Twins of atomic operations, by the names that buffers and images give them."""

import numpy as np


def changed(operation, old, new, other, bits):
    """What an operation leaves of patterns; ``other`` is compared with, or a mask."""
    kind = np.dtype(f"float{bits}").type

    def number(pattern):
        return pattern - (pattern >> bits - 1 << bits)

    def real(pattern):
        return np.array(pattern, f"uint{bits}").view(kind)

    results = {
        "swap": lambda: new,
        "cmpswap": lambda: new if old == other else old,
        "add": lambda: old + new,
        "sub": lambda: old - new,
        "rsub": lambda: new - old,
        "smin": lambda: min(old, new, key=number),
        "umin": lambda: min(old, new),
        "smax": lambda: max(old, new, key=number),
        "umax": lambda: max(old, new),
        "and": lambda: old & new,
        "or": lambda: old | new,
        "xor": lambda: old ^ new,
        "inc": lambda: 0 if old >= new else old + 1,
        "dec": lambda: new if old == 0 or old > new else old - 1,
        "mskor": lambda: old & ~other | new,
        "fcmpswap": lambda: new if real(old) == real(other) else old,
        "fmin": lambda: min(old, new, key=real),
        "fmax": lambda: max(old, new, key=real),
    }
    return results[operation]() & (1 << bits) - 1


def of_lds(name):
    """The operation of a ``ds_`` mnemonic, and its bits."""
    _, operation, *_, kind = name.split("_")
    letter, bits = kind[0], int(kind[1:])
    if operation in ("min", "max"):
        operation = {"i": "s", "u": "u", "f": "f"}[letter] + operation
    names = {"wrxchg": "swap", "cmpst": "fcmpswap" if letter == "f" else "cmpswap"}
    return names.get(operation, operation), bits
