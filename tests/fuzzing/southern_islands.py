"""Targets: words of Southern Islands, and the binaries that hold them."""

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fuzzing import mutations
from fuzzing.target import Target
from lockstep.errors import InputError
from lockstep.isa.gcn import container
from lockstep.isa.gcn.decode import DecodeError, decode, decode_one
from lockstep.isa.gcn.listing import listing, summary
from lockstep.isa.gcn.spelling import spell

ROOT = Path(__file__).parents[2]
ASSEMBLED = ROOT / "tests" / "isa" / "gcn" / "assembled.txt"
KERNELS = ROOT / "examples" / "southern-islands" / "kernels"
SMALL = ("brighten", "histogram", "image_copy", "polynomial")
INSTRUCTION = 8  # bytes of the longest


@cache
def _instructions() -> list[bytes]:
    return [bytes.fromhex(row.split()[0]) for row in ASSEMBLED.read_text().splitlines()]


class Words(Target):
    """One instruction: its text, or a refusal that says where."""

    name = "gcn-words"

    def seeds(self) -> Sequence[bytes]:
        """Those that the assembler knows."""
        return _instructions()

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Random bits, or an instruction with some changed."""
        if chance.random() < 0.5:
            return chance.randbytes(INSTRUCTION)
        return mutations.mutate(chance, data, other, self.mutations)

    def read(self, data: bytes) -> object:
        """The instruction and its text."""
        try:
            instruction = decode_one(data, 0)
        except DecodeError as error:
            assert 0 <= error.offset <= 4
            raise
        assert decode(data[: instruction.size]) == (instruction,)
        return instruction, spell(instruction)


class Binaries(Target):
    """A binary with all that is shown of it."""

    name, mebibytes = "gcn-binary", 256

    def seeds(self) -> Sequence[bytes]:
        """Small ones: buffers, constants, images, LDS."""
        return [(KERNELS / f"{name}.bin").read_bytes() for name in SMALL]

    def read(self, data: bytes) -> object:
        """Kernels and listings; code that is none is refused, as bytes of the file."""
        binary = container.read(data, "k.bin")
        lines = list(summary(binary))
        for number, kernel in enumerate(binary.kernels.values()):
            try:
                lines += listing(kernel, number, words=True)
            except DecodeError as error:
                raise InputError("k.bin", f"kernel {kernel.name}", str(error)) from error
        return binary, lines


TARGETS = (Words, Binaries)
