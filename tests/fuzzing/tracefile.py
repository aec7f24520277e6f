"""Targets: trace files of lockstep's own, damaged as they are, and with checksums that fit."""

import random
import tempfile
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import zstandard

from fuzzing import mutations
from fuzzing.target import SealedFile
from fuzzing.workloads import content, live, tiny, various
from lockstep.frontend import tracefile
from lockstep.frontend.tracefile import container, index


class TraceFile(SealedFile):
    """Everything in a file is under a checksum: damage is refused."""

    name = "tracefile"

    def seeds(self) -> Sequence[bytes]:
        """Small ones, one of a later version."""
        return _written()

    def read(self, data: bytes) -> object:
        """Everything in it."""
        return content(tracefile.load(self.file(data, "trace.lst")))


class ResealedTraceFile(TraceFile):
    """What is inside the sections changes, and every checksum fits."""

    name = "tracefile-resealed"

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """A changed index, or a changed chunk."""
        path = self.file(data, "seed.lst")
        file = container.File(str(path))
        payload, offset, version = file.index()
        rest = data[:offset]
        if chance.random() < 0.5:
            return rest + _sealed(
                rest[: container.HEADER.size], self._changed(chance, payload), offset
            )
        of_kernels: list[list[index.Placed]] = []

        def source(kernel, chunks):
            of_kernels.append(chunks)
            return tuple

        workload, _ = index.decode(payload, container.HEADER.size, version, source)
        place, old = chance.choice([placed for chunks in of_kernels for placed in chunks])
        inside = self._changed(chance, file.section(place, old.size, old.raw_size, old.crc))
        section = container.compress(inside)
        new = index.StoredChunk(old.ctas, len(section), len(inside), zlib.crc32(section))
        chunks = [[new if p == place else c for p, c in placed] for placed in of_kernels]
        rest = data[:place] + section + data[place + old.size : offset]
        return rest + _sealed(
            rest[: container.HEADER.size], index.encode(workload, chunks), len(rest)
        )

    def _changed(self, chance: random.Random, payload: bytes) -> bytes:
        return mutations.mutate(chance, payload, payload, mutations.BINARY)

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """Other content is other content."""
        return ""


@cache
def _written() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path, files = Path(folder, "seed.lst"), []
        for workload in (tiny(), various(), tiny(64), live()):
            tracefile.write(workload, path)
            files.append(path.read_bytes())
    return files


def _sealed(head: bytes, payload: bytes, offset: int) -> bytes:
    section = zstandard.ZstdCompressor(1).compress(payload)
    return section + container.footer(head, offset, section, len(payload))


TARGETS = (TraceFile, ResealedTraceFile)
