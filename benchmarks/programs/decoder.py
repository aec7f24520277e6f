"""A decoder of tokens: 12 layers, ten launches each, over a growing cache of keys and values."""

import numpy as np

from lockstep.kernels import Check, blocks, builtin

LAYERS, HIDDEN, HEADS, INNER, VOCABULARY = 12, 128, 4, 512, 256
HEAD, BLOCK, LANES = HIDDEN // HEADS, 128, 32
SHAPES = {
    "qkv": (3 * HIDDEN, HIDDEN),
    "out": (HIDDEN, HIDDEN),
    "up": (INNER, HIDDEN),
    "down": (HIDDEN, INNER),
}


@builtin(size=64, small=3, unit="tokens")
def decoder(device, module, rng, size):
    """A decoder of 12 layers, token by token: ten launches a layer, three a token."""
    weights = [{n: matrix(rng, shape) for n, shape in SHAPES.items()} for _ in range(LAYERS)]
    tables = {"tokens": matrix(rng, (VOCABULARY, HIDDEN)), "places": matrix(rng, (size, HIDDEN))}
    tokens = rng.integers(0, VOCABULARY, size)
    layers = [
        {name: device.array(values) for name, values in layer.items()}
        | {"keys": device.zeros((size, HIDDEN)), "values": device.zeros((size, HIDDEN))}
        for layer in weights
    ]
    known = {name: device.array(values) for name, values in tables.items()}
    x, y, z = (device.zeros(HIDDEN) for _ in range(3))
    qkv, inner = device.zeros(3 * HIDDEN), device.zeros(INNER)
    scores, output = device.zeros(HEADS * size), device.zeros(VOCABULARY)
    for place, token in enumerate(tokens.tolist()):
        module["embed"][1, BLOCK](HIDDEN, token, place, known["tokens"], known["places"], x)
        for layer in layers:
            attention(module, layer, place, (x, y, z, qkv, scores))
            module["layer_norm"][1, LANES](HIDDEN, x, y)
            product(module["project_relu"], layer["up"], y, inner)
            product(module["project_add"], layer["down"], inner, x)
        module["layer_norm"][1, LANES](HIDDEN, x, y)
        product(module["project"], known["tokens"], y, output)
    return Check("output", output, lambda: decoded(weights, tables, tokens), rtol=1e-2, atol=1e-3)


def attention(module, layer, place, arrays):
    """The launches of the first half of a layer."""
    x, y, z, qkv, scores = arrays
    keys, values = layer["keys"], layer["values"]
    module["layer_norm"][1, LANES](HIDDEN, x, y)
    product(module["project"], layer["qkv"], y, qkv)
    module["keep"][1, BLOCK](HIDDEN, place, qkv, keys, values)
    grid = blocks((place + 1) * LANES, BLOCK), HEADS
    module["score"][grid, BLOCK](HIDDEN, HEAD, place + 1, qkv, keys, scores)
    module["softmax"][HEADS, LANES](place + 1, scores)
    module["attend"][HEADS, HEAD](HIDDEN, HEAD, place + 1, scores, values, z)
    product(module["project_add"], layer["out"], z, x)


def product(kernel, weights, x, y):
    """Launch a kernel that multiplies a matrix by a vector."""
    outputs, inputs = weights.shape
    kernel[blocks(outputs * LANES, BLOCK), BLOCK](inputs, outputs, weights, x, y)


def matrix(rng, shape):
    """Random weights that keep the size of what they multiply."""
    return (rng.standard_normal(shape) / np.sqrt(shape[1])).astype(np.float32)


def decoded(weights, tables, tokens):
    """The output for the last token, in double precision; all tokens at a time."""
    weights = [{n: w.astype(np.float64) for n, w in layer.items()} for layer in weights]
    table = tables["tokens"].astype(np.float64)
    x = table[tokens] + tables["places"]
    later = np.triu(np.full((len(tokens), len(tokens)), -np.inf), 1)
    for layer in weights:
        q, k, v = (
            part.reshape(len(x), HEADS, HEAD).transpose(1, 0, 2)
            for part in np.split(normed(x) @ layer["qkv"].T, 3, axis=1)
        )
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(HEAD) + later
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        x = x + (scores @ v).transpose(1, 0, 2).reshape(x.shape) @ layer["out"].T
        x = x + np.maximum(normed(x) @ layer["up"].T, 0) @ layer["down"].T
    return normed(x)[-1] @ table.T


def normed(x):
    """Rows with mean 0 and variance 1."""
    mean = x.mean(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
