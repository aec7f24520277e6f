"""Targets: words of Southern Islands, and the binaries that hold them."""

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fuzzing import mutations
from fuzzing.ptx import Translated
from fuzzing.target import Target
from lockstep.device import Device
from lockstep.device.module import Module
from lockstep.errors import InputError
from lockstep.isa.gcn import container
from lockstep.isa.gcn.decode import DecodeError, decode, decode_one
from lockstep.isa.gcn.listing import listing, summary
from lockstep.isa.gcn.spelling import spell

ROOT = Path(__file__).parents[2]
ASSEMBLED = ROOT / "tests" / "isa" / "gcn" / "assembled.txt"
KERNELS = ROOT / "examples" / "southern-islands" / "kernels"
TESTED = ROOT / "tests" / "execution" / "gcn" / "kernels"
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


class TranslatedBinary(Translated):
    """Machine code to LLVM."""

    name, sample = "gcn-translate", 16

    def seeds(self) -> Sequence[bytes]:
        """Small ones; those of tests have what the others lack."""
        paths = [KERNELS / f"{name}.bin" for name in SMALL]
        paths += [TESTED / f"{name}.bin" for name in ("lanes", "lds", "formats")]
        return [path.read_bytes() for path in paths]

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Other instructions in the place of those of a kernel; seldom other damage."""
        if chance.random() < 0.1:
            return super().mutated(chance, data, other)
        return in_code(chance, data)

    def load(self, device: Device, data: bytes) -> Module:
        """The module of a binary."""
        return device.load_gcn(data)


def in_code(chance: random.Random, data: bytes) -> bytes:
    """A whole binary in which instructions of one kernel change, or others take their places."""
    code = chance.choice(list(container.read(data, "k.bin").kernels.values())).code
    start, known = data.index(code), _instructions()
    places = [(i.offset, i.offset + i.size) for i in decode(code)]
    changed = bytearray(code)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        first, end = chance.choice(places)
        piece = code[first:end]
        match chance.randrange(4):
            case 0:
                piece = chance.choice([word for word in known if len(word) == end - first])
            case 1:
                a, b = chance.choice(
                    [place for place in places if place[1] - place[0] == len(piece)]
                )
                piece = code[a:b]
            case 2:
                piece = mutations.number(chance, piece, b"")[: len(piece)].ljust(len(piece), b"\0")
            case _:
                piece = mutations.flip(chance, piece, b"")
        changed[first:end] = piece
    return data[:start] + bytes(changed) + data[start + len(code) :]


TARGETS = (Words, Binaries, TranslatedBinary)
