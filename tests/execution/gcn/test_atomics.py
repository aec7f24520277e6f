"""Every atomic operation of buffers and of the local data share, lane by lane in NumPy."""

import numpy as np
import pytest

import lockstep
from gcn_twin.atomics import changed, of_lds
from gcn_twin.programs import KERNELS, instructions

LANES, CELLS = 64, 8


def of_buffers(name):
    """The operation of a mnemonic, and its bits."""
    word = name.removeprefix("buffer_atomic_")
    return word.removesuffix("_x2"), 64 if word.endswith("_x2") else 32


@pytest.fixture(scope="module")
def given():
    """What items bring, compare with and begin with: few values, so that they meet, and floats."""
    rng = np.random.default_rng(6464)
    values = rng.normal(size=4)
    reals = [*values.view(np.uint64).tolist()]
    reals += [int(n) << 32 | int(n) for n in values.astype(np.float32).view(np.uint32)]
    few = np.array([0, 1, 3, 0xFFFFFFFE, (1 << 64) - 2, *reals], np.uint64)
    items = rng.choice(few, (LANES, 4))
    items[:, 2] = items[np.arange(LANES) % CELLS, 2]  # all items of a cell agree
    return items


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "operation_of"), [("buffers", of_buffers), ("lds", of_lds)])
def test_each_leaves_and_gives_what_its_twin_does(given, kernel, operation_of):
    names = [n for n in instructions("atomics", kernel) if "atomic" in n or _is_atomic_of_lds(n)]
    with lockstep.Device(memory_bytes=1 << 26) as device:
        out = device.zeros((256, LANES, 2), np.uint64)
        device.load_gcn(KERNELS / "atomics.bin")[kernel][LANES, LANES](
            device.array(given.view(np.uint32)), out.view(np.uint32)
        )
        found = out.numpy()
    assert len(names) == {"buffers": 32, "lds": 70}[kernel]
    for row, name in enumerate(names):
        operation, bits = operation_of(name)
        mask = (1 << bits) - 1
        cells = [int(v) for v in given[:CELLS, 2]]
        olds = []
        for lane, (new, other, *_) in enumerate(given.tolist()):
            old = cells[lane % CELLS] & mask
            left = changed(operation, old, new & mask, other & mask, bits)
            cells[lane % CELLS] = cells[lane % CELLS] & ~mask | left
            returns = kernel == "buffers" or "_rtn_" in name
            rest = (other & mask) << 32 if kernel == "buffers" and bits == 32 else 0
            olds.append((old if returns else 0) | rest)
        assert found[row, :, 0].tolist() == olds, name
        assert found[row, :CELLS, 1].tolist() == cells, name


def _is_atomic_of_lds(name):
    return name.startswith("ds_") and not name.startswith(("ds_read", "ds_write"))
