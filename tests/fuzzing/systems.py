"""Target: files of systems of several GPUs. One that is accepted gets its host and its links."""

from collections.abc import Sequence
from pathlib import Path

from fuzzing import gpus, mutations
from fuzzing.target import Target
from lockstep.engine.host.host import host_of_system
from lockstep.gpus import systems

FOLDER = Path(systems.__file__).parent
WORDS = (
    *("gpus", "changes", "fabric", "topology", "nvlink", "nvswitch", "pcie", "links", "credits"),
    *("bandwidth", "latency", "links_per_gpu", "ports", "packet_bytes", "payload_bytes", "0-1"),
    *("header_bytes", "0-1 x2", "1-0", "QV100", "H100", "host.memory=coherent", "sm.count=2"),
    *("[fabric]", "[", "]", '"', "nan", "inf", "-1", "0.5", "[sm]", "x", "0-0", "1e9"),
)


class SystemFile(Target):
    """A TOML file."""

    name, sample = "system-file", 60
    mutations = mutations.text([*WORDS, *gpus.VALUES])

    def seeds(self) -> Sequence[bytes]:
        """Those of the library, and a small one."""
        small = (
            'description = ["two", "a book"]\ngpus = [["QV100", "QV100"], "a book"]\n'
            'changes = [["sm.count=2", "dram.channels=1"], "a book"]\n'
            '[fabric]\ntopology = ["pcie", "a book"]\n'
        )
        return [path.read_bytes() for path in sorted(FOLDER.glob("*.toml"))] + [small.encode()]

    def read(self, data: bytes) -> object:
        """What is known of it, and the names and bandwidths of its links."""
        path = self.file(data, "MINE.toml")
        system = systems.system(path)
        links = [(run.name, run.gb_per_s) for run in host_of_system(system).run.links]
        return repr((system.spec, system.links, systems.sources(path), links))


TARGETS = (SystemFile,)
