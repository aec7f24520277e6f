"""What is fuzzed: a target reads bytes, and says whether what it made of them may be."""

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from fuzzing.mutations import BINARY, Mutation, mutate


class Target(ABC):
    """A reader of hostile input.

    ``seconds``: CPU time after which an input hangs. ``mebibytes``: that it may need on top of
    what the process has. ``mutations`` are those of :meth:`mutated`. ``refuses``: whether there is
    anything that it does not accept. ``sample``: inputs that the tests read.
    """

    name: str
    seconds = 10.0
    mebibytes = 1024
    mutations: Sequence[Mutation] = BINARY
    refuses = True
    sample = 100

    @abstractmethod
    def seeds(self) -> Sequence[bytes]:
        """Whole inputs, each of which is accepted."""

    @abstractmethod
    def read(self, data: bytes) -> object:
        """Read an input: what comes out, to be compared with ``==``.

        Whatever is no ``LockstepError`` or ``click.ClickException`` of one line is a defect.
        """

    def prepare(self, folder: Path) -> None:
        """Make what reading needs; ``folder`` is for files, and each worker has its own."""
        self.folder = folder

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """A changed input; ``other`` is another seed, or the same."""
        return mutate(chance, data, other, self.mutations)

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """What is wrong with an input that was accepted and gave ``value``; "" if nothing is."""
        return ""

    def file(self, data: bytes, name: str) -> Path:
        """A file with that content."""
        path = self.folder / name
        path.write_bytes(data)
        return path


class SealedFile(Target):
    """A file in which everything is under a checksum: damage is refused."""

    def prepare(self, folder: Path) -> None:
        """What may be read."""
        super().prepare(folder)
        self._whole = [self.read(seed) for seed in self.seeds()]

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """No damage is accepted."""
        return "" if value in self._whole else "a damaged file is accepted"


class Inputs:
    """The inputs of a target by number: the same ones for the same seed, whoever asks."""

    def __init__(self, target: Target, seed: int):
        self._target, self._seed, self._seeds = target, seed, list(target.seeds())

    def __getitem__(self, number: int) -> tuple[bytes, bytes]:
        """An input, and the whole one that it was."""
        chance = random.Random(f"{self._target.name} {self._seed} {number}")
        seed, other = chance.choice(self._seeds), chance.choice(self._seeds)
        return self._target.mutated(chance, seed, other), seed
