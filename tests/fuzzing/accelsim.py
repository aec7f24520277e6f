"""Targets: the files of Accel-Sim, its traces as text, packed and with an index, its lists and its
configurations.
"""

import gzip
import lzma
import random
from collections.abc import Sequence
from pathlib import Path

from frontend.accelsim import naive_reader
from frontend.accelsim.conftest import body_text, header_text, tracez_bytes
from frontend.accelsim.damage import TAILS, WORDS, sample
from frontend.accelsim.test_config import TRACE, VOLTA
from fuzzing import mutations
from fuzzing.target import Target
from fuzzing.workloads import content, simulate
from lockstep.frontend.accelsim import load
from lockstep.frontend.accelsim.config import read as read_config

WORDS_OF_TRACES = (
    *(word.decode("latin-1") for word in WORDS),
    *("-kernel name = ", "-grid dim = (1,1,1)", "-block dim = (1024,1,1)", "-shmem = 65536"),
    *("-accelsim tracer version = 6", "-enable lineinfo = 1", "BAR.SYNC", "EXIT", "BRA", "LDG.E"),
    *("ATOMG.E.ADD", "LDGSTS.E.128", "HMMA.16816.F32", "UBLKCP", "UTMALDG", "DEPBAR.LE", "MEMBAR"),
)


class _Traces(Target):
    """One kernel's trace in a file of this name."""

    name_of_file: str
    mutations = mutations.text(WORDS_OF_TRACES)

    def read(self, data: bytes) -> object:
        """Everything in it."""
        return content(load(self.file(data, self.name_of_file)))


class _TracesAsText(_Traces):
    """What is read must be what the naive twin reads."""

    raw = False

    def seeds(self) -> Sequence[bytes]:
        """One of each version."""
        return [sample(tracer, self.raw) for tracer in TAILS]

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """The twin has no checks: it reads what is accepted."""
        kernel = load(self.file(data, self.name_of_file)).kernels[0]
        twin = naive_reader.comparable(naive_reader.read(data.decode("utf-8", "replace")))
        return "" if naive_reader.expand(kernel) == twin else "the naive reader reads other things"


class Traceg(_TracesAsText):
    """Traces of a kernel, block after block."""

    name, name_of_file = "accelsim-traceg", "kernel-1.traceg"


class RawTrace(_TracesAsText):
    """What the tracer writes."""

    name, name_of_file, raw = "accelsim-raw", "kernel-1.trace", True


class Packed(_Traces):
    """Compressed traces: what changes the text is noticed by the checksum of the compression."""

    mutations = mutations.BINARY
    pack = staticmethod(lzma.compress)
    name, name_of_file = "accelsim-xz", "kernel-1.traceg.xz"

    def prepare(self, folder: Path) -> None:
        """What may be read of the seeds."""
        super().prepare(folder)
        self._whole = [self.read(seed) for seed in self.seeds()]

    def seeds(self) -> Sequence[bytes]:
        """Texts, packed."""
        return [self.pack(sample(tracer, False)) for tracer in TAILS]

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """Nothing but a whole text is accepted."""
        return "" if value in self._whole else "a damaged text is accepted"


class PackedByGzip(Packed):
    """The same in another format."""

    name, name_of_file = "accelsim-gz", "kernel-1.traceg.gz"
    pack = staticmethod(lambda text: gzip.compress(text, mtime=0))


class Tracez(_Traces):
    """Frames of compressed lines with an index; of the lines some are changed before."""

    name, name_of_file = "accelsim-tracez", "kernel-1.tracez"
    mutations = mutations.BINARY
    _HEADER = header_text("6", grid=(2, 1, 1), block=(64, 1, 1))

    def _lines(self, count: int, warp: int) -> list[str]:
        return [
            f"{16 * k:04x} ffffffff 1 R0 LDG.E 1 R2 4 1 {0x1000 * warp + k:#x} 4 {k % 3} 0 NoVal"
            for k in range(count)
        ]

    def _blocks(self) -> dict:
        return {
            (1, 0, 0): [self._lines(5, 0), self._lines(3, 1)],
            (0, 0, 0): [self._lines(1, 2), []],
        }

    def seeds(self) -> Sequence[bytes]:
        """Frames of one line, of two, and of all."""
        return [tracez_bytes(self._HEADER, self._blocks(), frame=n) for n in (1, 2, 1000)]

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Half of the time the text in the frames changes, not the frames."""
        if chance.random() < 0.5:
            return super().mutated(chance, data, other)
        blocks, header = self._blocks(), self._HEADER.encode()
        warp = chance.choice(chance.choice(list(blocks.values())))
        text = "\n".join(warp).encode()
        changed = mutations.mutate(chance, text, header, mutations.text(WORDS_OF_TRACES))
        warp[:] = changed.decode("utf-8", "replace").split("\n")
        return tracez_bytes(self._HEADER, blocks, frame=chance.choice((1, 2, 1000)))


class KernelsList(Target):
    """``kernelslist.g``, beside two traces."""

    name = "accelsim-list"
    mutations = mutations.text(
        ["kernel-1.traceg", "kernel-2.traceg", "MemcpyHtoD,0x7f0000000000,4096", "MemcpyDtoH", "..",
         "kernel-1.traceg/..", "kernelslist.g", "cudaMemset", "/dev/zero", "~", "*"],
    )  # fmt: skip

    def seeds(self) -> Sequence[bytes]:
        """Copies and kernels."""
        return [
            b"MemcpyHtoD,0x00007f0000000000,4096\nkernel-1.traceg\nkernel-2.traceg\n",
            b"kernel-1.traceg\ncudaDeviceSynchronize\nMemcpyDtoH,0x7f00,16\nkernel-1.traceg\n",
        ]

    def prepare(self, folder: Path) -> None:
        """The traces."""
        super().prepare(folder)
        for number in (1, 2):
            text = header_text(kernel_id=number) + body_text({(0, 0, 0): [["0000 1 0 EXIT 0 0 0"]]})
            (folder / f"kernel-{number}.traceg").write_text(text)
        self._traces = folder

    def read(self, data: bytes) -> object:
        """The commands; workers share the traces."""
        for trace in self._traces.glob("kernel-*"):
            link = self.folder / trace.name
            if not link.exists():
                link.symlink_to(trace)
        commands = load(self.file(data, "kernelslist.g")).commands
        return [getattr(command, "id", command) for command in commands]


class Simulated(_Traces):
    """Traces that are read are simulated, too: nothing in them stops the model."""

    name, name_of_file, seconds, sample = "simulate", "kernel-1.traceg", 60.0, 40

    def seeds(self) -> Sequence[bytes]:
        """One of each version."""
        return [sample(tracer, False) for tracer in TAILS]

    def read(self, data: bytes) -> object:
        """Cycles and counters."""
        return simulate(load(self.file(data, self.name_of_file)))


class Configuration(Target):
    """``gpgpusim.config`` and ``trace.config``, in one input with a line between them."""

    name = "accelsim-config"
    between = b"\n#### trace.config\n"
    mutations = mutations.text(
        [line.split()[0] for line in (VOLTA + TRACE).split("\n") if line.startswith("-")]
        + ["0:0:0:0", "S:4:128:64,L:T:m:L:P,A:256:6,12:0,32", "-1", "none", "#", "-", "--", "0,0"]
    )

    def seeds(self) -> Sequence[bytes]:
        """An imaginary GPU."""
        return [VOLTA.encode() + self.between + TRACE.encode()]

    def read(self, data: bytes) -> object:
        """The GPU and the warnings; a GPU that is accepted can be simulated."""
        first, _, second = data.partition(self.between)
        config = self.file(first, "gpgpusim.config")
        gpu, warnings, _ = read_config(config, self.file(second, "trace.config"))
        return gpu, warnings


TARGETS = (
    *(KernelsList, Traceg, RawTrace, Packed, PackedByGzip, Tracez, Simulated, Configuration),
)
