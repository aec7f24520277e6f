"""Targets: proxies, damaged as they are, and with a checksum that fits."""

import random
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from fuzzing import mutations
from fuzzing.target import SealedFile
from lockstep.builder import KernelBuilder, program
from lockstep.frontend.proxy import Proxy, container
from lockstep.proxies import profile
from lockstep.workload import Kernel, MemoryCopy

MOST_CTAS = 8  # of a kernel that are read


class ProxyFile(SealedFile):
    """Everything in a file is under a checksum: damage is refused."""

    name = "proxy"

    def seeds(self) -> Sequence[bytes]:
        """A regular kernel, and one of gathers by each method."""
        return _written()

    def read(self, data: bytes) -> object:
        """The commands, and some CTAs of each kernel."""
        return content(Proxy.load(self.file(data, "x.proxy")))


class ResealedProxyFile(ProxyFile):
    """The header or columns change, and the checksum fits."""

    name = "proxy-resealed"

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Another number in a column, or bytes of the header and the packed columns."""
        document, groups = container.read(self.file(data, "seed.proxy"))
        changed = [{n: c.copy() for n, c in group.items()} for group in groups]
        for _ in range(chance.randint(1, 3)):
            column = chance.choice([c for group in changed for c in group.values() if len(c)])
            place = chance.randrange(len(column))
            value = int(column[place])
            column[place] = chance.choice(
                (value + 1, value - 1, -value, 0, value * 256 % (1 << 62), chance.getrandbits(62))
            )
        if chance.random() < 0.8:
            return container.encode(document, changed)
        return container.sealed(
            mutations.mutate(chance, *[container.unsealed("seed", data)] * 2, mutations.BINARY)
        )

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """Other content is other content."""
        return ""


def content(proxy: Proxy) -> object:
    """What can be compared of a proxy."""
    found = []
    for command in proxy.workload().commands:
        if not isinstance(command, Kernel):
            found.append((command.address, command.bytes))
            continue
        facts = command.name, command.grid, command.block, command.registers, command.cluster
        streams = [
            (cta.index, *(a.tolist() for a in (cta.warps, cta.runs, cta.addresses, cta.pool)))
            for cta in islice(command.ctas(), MOST_CTAS)
        ]
        found.append((facts, command.code.instructions.tolist(), streams))
    return repr(found)


@cache
def _written() -> list[bytes]:
    rng = np.random.default_rng(3)
    k = KernelBuilder("regular", (6, 2), 64, shared_bytes=256)
    with k.loop(5):
        k("LDG.E R0, [R1]", address=k.coalesced(1 << 33, 4, 1 << 16))
        k("FFMA R2, R0, R0, R2")
        k("BAR.SYNC 0x0")
    k("STG.E [R1], R2", address=k.tile(1 << 34, 512, 8))
    g = KernelBuilder("gathers", 120, 64)
    table = rng.integers(0, 1 << 16, (120, 2, 3, 32)) * 4
    with g.loop(lambda at: 1 + (at.warp + at.cta) % 3):
        g("LDG.E R0, [R1]", address=g.coalesced(1 << 33, 4, 1 << 16))
        g("LDG.E R0, [R1]", address=lambda at: (1 << 35) + table[at.cta, at.warp, at.i, at.lane])
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        regular, gathers = program(MemoryCopy(1 << 33, 4096), k, k), program(g)
        for given, method in ((regular, "affine"), (gathers, "affine"), (gathers, "gmap")):
            profile(given, method).save(Path(folder, "seed.proxy"))
            parts.append(Path(folder, "seed.proxy").read_bytes())
    return parts


TARGETS = (ProxyFile, ResealedProxyFile)
