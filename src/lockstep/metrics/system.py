"""The result of a system: that of each GPU, and what its host and its links did."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from lockstep.gpus.system import GpuSystem
from lockstep.metrics import manifest, output
from lockstep.metrics.result import Result

if TYPE_CHECKING:  # importing the engine imports the compiler: no view of results needs that
    import pandas

    from lockstep.engine.host.record import HostRun


@dataclass(eq=False)
class SystemResult:
    """``gpus``: a :class:`.Result` each, in cycles of its clock from the beginning of the run.

    ``peer_accesses``: of kernels to the memory of other GPUs that were simulated as if it were
    their own, because no model has them cross the fabric; see docs/systems.md.
    """

    spec: GpuSystem
    gpus: tuple[Result, ...]
    host: "HostRun"
    peer_accesses: int = 0

    @property
    def seconds(self) -> float:
        """Simulated time of the whole run."""
        return self.host.end * 1e-12

    @property
    def stopped(self) -> str:
        """Why the run ended early; empty where it did not."""
        return next((result.stopped for result in self.gpus if result.stopped), "")

    @property
    def links(self) -> list[dict[str, Any]]:
        """What was on each link: ``link``, ``gb_per_s``, ``bytes``, ``packets``, ``busy_ps``, and

        ``utilisation``, the part of the run's time in which it was busy.
        """
        return [
            {
                "link": link.name,
                "gb_per_s": link.gb_per_s,
                "bytes": link.bytes,
                "packets": link.packets,
                "busy_ps": link.busy,
                "utilisation": link.utilisation(self.host.end),
            }
            for link in self.host.links
        ]

    @property
    def link_table(self) -> "pandas.DataFrame":
        """The same as a table."""
        import pandas

        return pandas.DataFrame(self.links)

    @cached_property
    def hash(self) -> str:
        """Hash of all cycles, metrics, copies and calls: the same for any number of threads."""
        peers = [asdict(peer) for peer in self.host.peers]
        spans = [link.spans for link in self.host.links]
        about = [[result.hash for result in self.gpus], self.host.end, peers, self.links, spans]
        text = json.dumps(output.finite(about), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """The document of ``--json``."""
        copies = [
            asdict(copy) | {"direction": copy.direction.name.lower()} for copy in self.host.copies
        ]
        return {
            "version": manifest.version(),
            "system": self.spec.name,
            "picoseconds": self.host.end,
            "gpus": [result.to_dict() for result in self.gpus],
            "links": self.links,
            "untimed_peer_accesses": self.peer_accesses,
            "peer_copies": [asdict(peer) for peer in self.host.peers],
            "copies": copies,
            "calls": [asdict(call) for call in self.host.calls],
            "result_hash": self.hash,
            "stopped": self.stopped,
        }

    def to_json(self, path: str | Path) -> None:
        """Write all of it; undefined metrics are null."""
        output.write_json(path, self.to_dict())
