"""Twins of samplers: one item at a time, with numbers of f32."""

import numpy as np

single = np.float32
WRAP, MIRROR, LAST, ONCE_LAST, HALF, ONCE_HALF, BORDER, ONCE_BORDER = range(8)
FAR = single(2**22)
LINEAR = 1 << 20 | 1 << 22 | 2 << 24
UNNORMALIZED = 1 << 15
COLORS = ((0, 0, 0, 0), (0, 0, 0, 1), (1, 1, 1, 1))


def words(mode, *, linear=False, plain=False, color=0):
    """Those of a sampler that wraps all axes alike."""
    first = mode | mode << 3 | mode << 6 | plain * UNNORMALIZED
    return first, 0, linear * LINEAR, color << 30


def _place(at, size, mode, linear):
    """An element of a row; None is the border's."""
    if mode in (ONCE_LAST, ONCE_HALF, ONCE_BORDER) and at < 0:
        at = -1 - at
    if mode == WRAP:
        return at % size
    if mode == MIRROR:
        return min(at % (2 * size), 2 * size - 1 - at % (2 * size))
    if mode in (LAST, ONCE_LAST) or (mode in (HALF, ONCE_HALF) and not linear):
        return min(max(at, 0), size - 1)
    return at if 0 <= at < size else None


def _along(x, size, mode, plain, linear, offset=0):
    """Both neighbours, and how far it is to the second."""
    x = x if plain else x * single(size)
    x = single(0) if np.isnan(x) else x
    if mode in (HALF, ONCE_HALF):
        x = min(max(x, single(-size if mode == ONCE_HALF else 0)), single(size))
    if not linear:
        at = int(np.clip(np.floor(float(x)), -(2**31), 2**31 - 1)) + offset
        return [_place(at, size, mode, linear)] * 2, single(0)
    steps = int(np.floor(min(max(x, -FAR), FAR) * single(256) + single(0.5))) - 128
    ends = [_place((steps >> 8) + k + offset, size, mode, linear) for k in (0, 1)]
    return ends, single((steps & 255) / 256)


class Image:
    """Elements with axes depth, height, width, channel; channels that lack are 0, 0 and 1."""

    def __init__(self, elements):
        self.elements = elements
        self.lacks = (0, 0, 0, 1)[elements.shape[-1] :]

    def texel(self, place, color):
        if None in place:
            given = COLORS[color][: self.elements.shape[-1]]
        else:
            given = self.elements[place[::-1]]
        return np.array([*given, *self.lacks], self.elements.dtype)

    def axes(self, item, sampler, linear, *, plain=False, offsets=(0, 0, 0)):
        """What :func:`_along` says of x, y, z; a plane has only z = 0."""
        first, _, filters, _ = sampler
        depth, height, width, _ = self.elements.shape
        plain = plain or bool(first & UNNORMALIZED)
        along = [linear, linear, linear and depth > 1 and bool(filters & LINEAR)]
        found = [
            _along(x, size, first >> 3 * k & 7, plain, along[k], offsets[k])
            for k, (x, size) in enumerate(zip(item, (width, height, depth)))
        ]
        return found if depth > 1 else [*found[:2], ([0, 0], single(0))]

    def sample(self, item, sampler, **how):
        """The four channels at the coordinates of an item."""
        color = sampler[3] >> 30
        linear = bool(sampler[2] & LINEAR) and self.elements.dtype == single
        axes = self.axes(item, sampler, linear, **how)
        (x, _), (y, _), (z, _) = axes
        rows = [self.texel((i, j, k), color) for k in z for j in y for i in x]
        for _, far in axes:
            pairs = zip(rows[::2], rows[1::2])
            rows = [a if far == 0 else a * (single(1) - far) + b * far for a, b in pairs]
        return rows[0]

    def gather(self, item, sampler, channel, **how):
        """One channel of the four neighbours, from the left one below on."""
        (x, _), (y, _), (z, _) = self.axes(item, sampler, True, **how)
        corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
        texels = [self.texel((x[i], y[j], z[0]), sampler[3] >> 30) for i, j in corners]
        return np.array([texel[channel] for texel in texels])
