"""Traits of numbers, and bits of words: what NumPy and Python say of the same ones."""

import numpy as np

from lockstep.kernels import Check

NUMBERS, BLOCK = 96, 32


def _traits(device, module, rng, views):
    x = np.concatenate([[0.0, 1.0, -1.0], rng.uniform(-7, 7, NUMBERS - 3)])
    out = views.Strided(device, np.zeros((NUMBERS, 26)))
    module["common_ArithTraits"][NUMBERS // BLOCK, BLOCK](
        views.struct(views.struct(views.Strided(device, x), out), NUMBERS)
    )

    def rows():
        positive, narrow, one = abs(x) + 0.5, x.astype(np.float32), np.ones(NUMBERS)
        double, single = np.finfo(np.float64), np.finfo(np.float32)
        zero = 0 * x
        columns = [
            abs(x), np.sqrt(positive), np.cbrt(x), np.exp(x), np.log(positive), np.log10(positive),
            np.sin(x), np.cos(x), np.tan(x), np.sinh(x), np.cosh(x), np.tanh(x),
            np.arcsin(x / 8), np.arccos(x / 8), np.arctan(x), positive**2.5, positive**3.0,
            zero, np.where(x == 0, 2, 3) * one, double.eps * one, double.max * one,
            double.tiny * one, (abs(narrow) + single.eps).astype(np.float64),
            np.sqrt(abs(narrow)).astype(np.float64), abs(x.astype(np.int32)) + (2.0**31 - 1),
            np.sign(x),
        ]  # fmt: skip
        return np.stack(columns, axis=1)

    return [Check("traits", out, rows, rtol=1e-13, atol=1e-15)]


def _bits(kernel, count):
    def run(device, module, rng, views):
        x = rng.integers(-(1 << 63), 1 << 63, NUMBERS, dtype=np.int64)
        x[:6] = [0, 1, -1, 1 << 62, -(1 << 63), 1 << 32]
        x[6:40] &= rng.integers(0, 1 << 63, 34) & rng.integers(0, 1 << 63, 34)
        outs = [views.Strided(device, np.zeros(NUMBERS, np.int32)) for _ in range(3)]
        words = views.struct(views.Strided(device, x), *outs)
        module[kernel][NUMBERS // BLOCK, BLOCK](views.struct(words, NUMBERS))
        whole = np.array([count(int(w) & (1 << 64) - 1) for w in x], np.int32)
        half = np.array([count(int(w) & (1 << 32) - 1) for w in x], np.int32)
        names = ("by steps", "by instruction", "of half")
        expected = (whole, whole, half)
        return [Check(n, o, lambda e=e: e) for n, o, e in zip(names, outs, expected)]

    return run


KERNELS = {
    "common_ArithTraits": _traits,
    "common_set_bit_count": _bits("common_set_bit_count", int.bit_count),
    "common_ffs": _bits("common_ffs", lambda word: (word & -word).bit_length()),
}
