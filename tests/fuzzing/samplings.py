"""Targets: launch tables, plans, and what live points stand for."""

import json
from collections.abc import Sequence
from functools import cache

import numpy as np

from fuzzing import mutations
from fuzzing.target import Target
from fuzzing.workloads import live
from lockstep.metrics import output
from lockstep.sampling import LaunchTable, imports
from lockstep.sampling.plan import Plan
from lockstep.sampling.points import LivePoints
from lockstep.workload import Workload

WORDS = (
    *("lockstep plan", "lockstep points", "table", "sampler", "parameters", "notes", "estimator"),
    *("launches", "chosen", "probability", "stratum", "auxiliary", "family", "l2_bytes", "plan"),
    *("kernels", "kernel_of", "expansion", "ratio", "regression", "null", "NaN", "Infinity", "[]"),
    *("{}", "[", "]", "{", "}", ",", '""', "true", "1e999", "2147483647", "-0"),
)
TRACE = """\
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),Strm,Name
100,900,110,2,1,1,128,1,1,16,0.000,7,add(float *)
2000,1500,112,2,1,1,128,1,1,16,0.000,7,add(float *)
"""


def plan(launches: int, **more) -> Plan:
    """Two strata, of which the last launch of each is chosen."""
    stratum = np.arange(launches, dtype=np.int32) % 2
    chosen = np.array([launches - 2, launches - 1])
    return Plan("a digest", "spaced", stratum, chosen, np.array([np.nan, 1 / 3]), **more)


class PlanFile(Target):
    """A plan, as it is written."""

    name = "plan"
    mutations = mutations.text(WORDS)

    def seeds(self) -> Sequence[bytes]:
        """With and without an auxiliary."""
        ratio = plan(6, estimator="ratio", auxiliary=np.arange(1.0, 7), notes=("a note",))
        with_family = plan(4, family=np.array([0, 0, 1, 1]), parameters={"count": 3})
        return [json.dumps(output.finite(p.document())).encode() for p in (ratio, with_family)]

    def read(self, data: bytes) -> object:
        """What it says of all launches; written again it is the same plan."""
        found = Plan.read(self.file(data, "plan.json"))
        found.write(self.folder / "again.json")
        again = Plan.read(self.folder / "again.json")
        assert repr(again.document()) == repr(found.document())
        return repr((found, found.drawn, found.weights().tolist(), found._repr_html_()))


class LivePointsDocument(Target):
    """What the kernels of a file stand for."""

    name = "live-points"
    mutations = mutations.text(WORDS)

    def seeds(self) -> Sequence[bytes]:
        """Of a program of four launches."""
        return [_points()]

    def read(self, data: bytes) -> object:
        """The points."""
        text = data.decode("utf-8", "replace")
        points = LivePoints.of(Workload("live", live().commands, points=text))
        return points.document(), points._repr_html_()


class LaunchTableFile(Target):
    """A launch table as CSV."""

    name = "launch-table"
    mutations = mutations.text(
        ("launch", "kernel", "registers", "nan", "inf", "ns", '"', ",", "1e300")
    )

    def seeds(self) -> Sequence[bytes]:
        """One of two launches."""
        return [_table()]

    def read(self, data: bytes) -> object:
        """The table, as it is written and read again."""
        table = LaunchTable.read(self.file(data, "launches.csv"))
        path = self.folder / "again.csv"
        table.write(path)
        again = LaunchTable.read(path)
        assert again.digest == table.digest
        return table.unit, table.source, table.frame.to_csv()


@cache
def _points() -> bytes:
    kernels = live().kernels
    launches = kernels[-1].id + 1
    points = LivePoints(
        Plan(
            "a digest",
            "picked",
            np.arange(launches, dtype=np.int32) % len(kernels),
            np.array([kernel.id - 1 for kernel in kernels]),
            np.full(len(kernels), np.nan),
        ),
        6 << 20,
        ["various", "_Z3addPf"],
        np.arange(launches) % 2,
    )
    return points.document().encode()


@cache
def _table() -> bytes:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.csv")
        path.write_text(TRACE)
        imports.read(path).write(Path(folder, "launches.csv"))
        return Path(folder, "launches.csv").read_bytes()


TARGETS = (PlanFile, LivePointsDocument, LaunchTableFile)
