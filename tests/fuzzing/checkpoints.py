"""Targets: checkpoints, damaged as they are, and with a digest that fits."""

import hashlib
import random
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from fuzzing import mutations
from fuzzing.target import SealedFile
from lockstep.engine import checkpoint
from lockstep.model.link import MESSAGE

IDENTITY = {"version": "1", "GPU": "abc"}
HEAD = len(checkpoint.MAGIC) + hashlib.sha256().digest_size
MOST_BYTES = 1 << 26  # of an array that are compared: it may have more, all of them zeros
WORDS = (
    *("identity", "tree", "arrays", "array", "dtype", "shape", "pages", "plain", "simulation"),
    *("now", "|O", "<i8", "|V8", "<f8", "|S3", "M8", "null", "[]", "{}", "-1", "[", "]", "{"),
)


class CheckpointFile(SealedFile):
    """Everything in a file is under a digest: damage is refused."""

    name = "checkpoint"

    def seeds(self) -> Sequence[bytes]:
        """One with arrays of several types."""
        return [_written()]

    def read(self, data: bytes) -> object:
        """The tree, and the cycle that is told without reading all of it."""
        self.file(data, checkpoint.NAME)
        cycle = checkpoint.cycle_of(self.folder)
        assert cycle is None or isinstance(cycle, int)
        return _plain(checkpoint.load(self.folder, IDENTITY))


class ResealedCheckpoint(CheckpointFile):
    """The manifest or pages change, and the digest fits."""

    name = "checkpoint-resealed"
    texts = mutations.text(WORDS)

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Another manifest, of its length or another, or other bytes anywhere."""
        rest = data[HEAD:]
        size = int.from_bytes(rest[:8], "little")
        manifest, pages = rest[8 : 8 + size], rest[8 + size :]
        if chance.random() < 0.8:
            manifest = mutations.mutate(chance, manifest, manifest, self.texts)
            rest = len(manifest).to_bytes(8, "little") + manifest + pages
        else:
            rest = mutations.mutate(chance, rest, rest, mutations.BINARY)
        return checkpoint.MAGIC + hashlib.sha256(rest).digest() + rest

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """Another state is another state."""
        return ""


def _plain(tree: object) -> str:
    """A tree whose arrays are compared by what is in them."""
    if isinstance(tree, np.ndarray):
        content = tree.tobytes() if tree.nbytes < MOST_BYTES else b""
        return f"{tree.dtype} {tree.shape} {hashlib.sha256(content).hexdigest()}"
    if isinstance(tree, dict):
        return repr({name: _plain(value) for name, value in tree.items()})
    return repr([_plain(value) for value in tree] if isinstance(tree, list) else tree)


@cache
def _written() -> bytes:
    messages = np.zeros((3, 4), MESSAGE)
    messages["address"][1] = 1 << 40
    tree = {
        "simulation": {"plain": {"now": 1234, "name": "é", "rate": 0.5, "done": [True, None]}},
        "arrays": [np.arange(5000), np.zeros((0, 3)), np.ones(7, np.uint8), messages],
    }
    with tempfile.TemporaryDirectory() as folder:
        checkpoint.save(Path(folder), IDENTITY, tree)
        return Path(folder, checkpoint.NAME).read_bytes()


TARGETS = (CheckpointFile, ResealedCheckpoint)
