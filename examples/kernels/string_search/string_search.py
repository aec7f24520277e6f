import numpy as np

from lockstep.kernels import Check, blocks, builtin

LONGEST, LENGTH = 32, 5


def positions(text, pattern):
    """Where the pattern begins."""
    return np.array([i for i in range(len(text)) if text.startswith(pattern, i)], np.int32)


@builtin(size=200_000, small=3_000, unit="letters of the text")
def string_search(device, module, rng, n):
    """Search of a short pattern in a text of four letters."""
    text, pattern = (rng.choice(np.frombuffer(b"ACGT", np.int8), k) for k in (n, LENGTH))
    padded = np.zeros(LONGEST, np.int8)
    padded[:LENGTH] = pattern
    module.symbol("string_search_pattern").copy_from(padded.view(np.uint8))
    count, first = device.array(np.zeros(1, np.int32)), device.array(np.full(1, n, np.int32))
    launch = module["string_search"][blocks(n, 256), 256]
    launch(n, LENGTH, device.array(text), count, first)
    found = positions(text.tobytes(), pattern.tobytes())
    yield Check("count", count, lambda: np.array([len(found)]))
    yield Check("first", first, lambda: found[:1] if len(found) else np.array([n]))
