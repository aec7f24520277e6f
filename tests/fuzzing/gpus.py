"""Targets: GPUs in files and overrides of their parameters. A GPU that is accepted is simulated."""

from collections.abc import Sequence
from pathlib import Path

from fuzzing import mutations
from fuzzing.target import Target
from fuzzing.workloads import simulate, tiny
from lockstep import api
from lockstep.gpus import library
from lockstep.gpus.spec import GPU

GPUS = Path(library.__file__).parent
VALUES = (
    *("true", "false", "gto", "lrr", "lru", "fifo", "ipoly", "xor", "linear", "line", "sector"),
    *(
        "HBM2",
        "GDDR6",
        "DDR9",
        "0,8192,16384",
        "0.5",
        "[]",
        "nan",
        "1_0",
        "0x10",
        "=",
        "sm",
        "[sm]",
    ),
)


def names() -> list[str]:
    """All parameters of a GPU, and parts of their names."""
    found = [row.name for row in library.describe(library.gpu("QV100"))]
    return found + [name.rpartition(".")[2] for name in found]


def simulated(gpu: GPU, origin: str | Path | None = None) -> object:
    """What is known of a GPU, and what it makes of a kernel."""
    rows = library.describe(gpu, origin)
    return library.digest(gpu), rows, library.totals(gpu), simulate(tiny(), gpu)


class _Gpus(Target):
    mutations = mutations.text([*names(), *VALUES])
    mebibytes, seconds, sample = 4096, 60.0, 40


class GpuFile(_Gpus):
    """A TOML file."""

    name = "gpu-file"

    def seeds(self) -> Sequence[bytes]:
        """A whole one, and one that begins with another; both small machines."""
        whole = (GPUS / "QV100.toml").read_bytes()
        whole = whole.replace(b"count = [80,", b"count = [2,")
        other = b'base = "QV100"\n[sm]\ncount = [1, "guess"]\n[dram]\nchannels = [1, "guess"]\n'
        return [whole, other + b'[l1]\nlatency = [30, "guess"]\n', other]

    def read(self, data: bytes) -> object:
        """The GPU."""
        path = self.file(data, "MINE.toml")
        return simulated(api.gpu(path), path)


class Overrides(_Gpus):
    """Lines as ``--set`` takes them."""

    name = "gpu-set"

    def seeds(self) -> Sequence[bytes]:
        """Of a small machine, all its numbers."""
        small = b"sm.count=2\ndram.channels=1\n"
        rows = library.describe(library.replace(library.gpu("RTX2060"), **{"sm.count": 1}))
        whole = "\n".join(f"{row.name}={_text(row.value)}" for row in rows if _given(row.value))
        return [small, small + b"l1.latency=40\nl2.sets=64\ndram.timing.nRCD=14", whole.encode()]

    def read(self, data: bytes) -> object:
        """The GPU."""
        lines = data.decode("utf-8", "replace").split("\n")
        return simulated(api.gpu("RTX2060", [line for line in lines if line]))


def _given(value: object) -> bool:
    return not isinstance(value, (tuple, list)) or len(value) > 0


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


TARGETS = (GpuFile, Overrides)
