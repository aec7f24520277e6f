"""Targets: documents of runs that are compared, and tables that benchmarks are compared with."""

import gzip
import io
import json
import lzma
from collections.abc import Sequence

import numpy as np

from fuzzing import mutations, tunings
from fuzzing.target import Target
from lockstep.cli.opencl_arguments import read_array
from lockstep.metrics import output
from lockstep.microbench import table
from lockstep.microbench.plan import Raw
from lockstep.report import benchmark
from lockstep.report.compare import compare

WORDS = ("kernels", "title", "metrics", "cycles", "gpu", "null", "NaN", "1e999", "[]", "{}", '"')
RAW = b"""\
target\t132 90
device\tH100\t132\t1980 MHz
lat.lds32 1\t23 24 23
lat.lds32 1\t23 23 23
lat.chase 2\t4294967295 7
failed\tsync.grid\tno
"""


class ComparedRun(Target):
    """What ``--json`` wrote, beside another run."""

    name = "compare-json"
    mutations = mutations.text(WORDS)

    def seeds(self) -> Sequence[bytes]:
        """Three launches of two kernels, and one."""
        kernels = [
            {"title": name, "cycles": 100 + n, "metrics": {"sim__ipc": 0.5 * n, "x": None}}
            for n, name in enumerate(("add", "scale", "add"))
        ]
        return [json.dumps({"gpu": "A", "kernels": kernels[:n]}).encode() for n in (3, 1)]

    def read(self, data: bytes) -> object:
        """The comparison."""
        one, two = self.file(self.seeds()[0], "one.json"), self.file(data, "two.json")
        found = compare(one, two)
        return json.dumps(output.finite(found.to_dict())), found._repr_html_()


class ReferenceTable(Target):
    """What ``lockstep bench --reference`` reads."""

    name = "bench-reference"
    mutations = mutations.text(("trace", "config", "user_seconds", "gen:", "nan", ",", '"', "A_B"))

    def seeds(self) -> Sequence[bytes]:
        """Two traces."""
        return [b"trace,config,user_seconds\ngen:vecadd,SM7_QV100,1.5\ngather,QV100,2\n"]

    def read(self, data: bytes) -> object:
        """The seconds, and the jobs that they ask for."""
        found = benchmark.read_reference(self.file(data, "reference.csv"))
        paths = benchmark.examples()
        return repr(found), repr(benchmark.plan(paths, None, found))


class PackedMicrobenchmarks(Target):
    """A compressed table of microbenchmarks; the first byte says how."""

    name = "microbench-packed"

    def seeds(self) -> Sequence[bytes]:
        """Both ways."""
        rows = tunings.table()
        return [b"x" + lzma.compress(rows), b"g" + gzip.compress(rows, mtime=0)]

    def read(self, data: bytes) -> object:
        """The rows."""
        suffix = ".gz" if data[:1] == b"g" else ".xz"
        return repr(table.read(self.file(data[1:], f"rows.csv{suffix}")))


class RawMicrobenchmarks(Target):
    """What the driver of microbenchmarks writes on a GPU."""

    name = "microbench-raw"
    mutations = mutations.text(("target", "device", "failed", "\t", "lat.lds32"))

    def seeds(self) -> Sequence[bytes]:
        """A few cases."""
        return [RAW]

    def read(self, data: bytes) -> object:
        """The words."""
        raw = Raw(self.file(data, "raw.txt"))
        words = {name: [a.tolist() for a in arrays] for name, arrays in raw.words.items()}
        return repr((raw.target, raw.device, words, raw.failures))


class ArrayFile(Target):
    """An array of NumPy, as the argument of a kernel."""

    name = "npy"

    def seeds(self) -> Sequence[bytes]:
        """Of several types and shapes."""
        return [_npy(np.arange(40, dtype=kind).reshape(2, 20)) for kind in ("f4", "i4", "u1")]

    def read(self, data: bytes) -> object:
        """The array."""
        array = read_array(str(self.file(data, "x.npy")))
        return array.dtype.str, array.shape, array.tobytes()


def _npy(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


TARGETS = (
    ComparedRun, ReferenceTable, PackedMicrobenchmarks, RawMicrobenchmarks, ArrayFile
)  # fmt: skip
