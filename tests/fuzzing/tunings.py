"""Targets: tables of microbenchmarks, and facts, from which GPUs are made."""

import lzma
from collections.abc import Sequence
from pathlib import Path

from fuzzing import mutations
from fuzzing.target import Target
from lockstep.gpus import library
from lockstep.gpus.fields import flatten
from lockstep.tuning import infer, read_rows
from lockstep.tuning.document import to_toml
from lockstep.tuning.facts import NONE, read_facts
from lockstep.tuning.report import outcomes

MEASURED = Path(__file__).parents[2] / "src/lockstep/microbench/data/h100-sxm.csv.xz"
KEPT = ("device.", "lat.lds32", "lat.chase_ca,", "thr.ffma", "sync.bar", "launch.empty_grid")
WORDS = (
    *("name", "parameters", "value", "second_run", "unit", "notes", "ERROR", "lat.lds32", "ffma"),
    *(
        "cycles",
        "us",
        "GB/s",
        "lanes/clk/SM",
        "warps=32",
        "conflict=1",
        "=",
        "warps=",
        "nan",
        "inf",
    ),
    *(
        "-1",
        "0",
        "1e300",
        "99999999999999999999",
        "clock",
        "kHz",
        "memory",
        "smem/SM",
        "bus 0",
        ",",
    ),
)
FACTS = b'base = "H100"\n[sm]\nctas = [16, "a book"]\n[dram]\ncapacity = [8, "a book"]\n'


def table() -> bytes:
    """The head and some rows of an H100."""
    head, *rows = lzma.decompress(MEASURED.read_bytes()).decode().splitlines(keepends=True)
    return "".join([head, *(row for row in rows if row.startswith(KEPT))]).encode()


class _Tuning(Target):
    def tuned(self, rows: Path, facts: Path | None) -> object:
        """What is made of it, and that its file is a GPU if its parameters work together."""
        base = library.loaded("H100_SXM")
        given = read_facts(facts, flatten(base.gpu)) if facts else NONE
        tuned = infer(read_rows(rows), base, given)
        gpu = tuned.gpu("MINE")
        text = to_toml(tuned, "lockstep tune")
        made = library.gpu(self.file(text.encode(), "MINE.toml"))
        assert library.digest(made) == library.digest(gpu)
        return text, outcomes(tuned)


class MicrobenchmarkTable(_Tuning):
    """A table of microbenchmarks."""

    name = "tune-rows"
    mutations = mutations.text(WORDS)

    def seeds(self) -> Sequence[bytes]:
        """Rows of an H100, and the least."""
        return [table(), b"name,parameters,value,unit\nlat.lds32,conflict=1,23,cycles\n"]

    def read(self, data: bytes) -> object:
        """The GPU file."""
        return self.tuned(self.file(data, "rows.csv"), None)


class Facts(_Tuning):
    """A file of facts."""

    name = "tune-facts"
    mutations = mutations.text((*WORDS, "sm", "base", "remove", "[dram]", "channels", '"', "["))

    def seeds(self) -> Sequence[bytes]:
        """A few."""
        return [FACTS, b'[l1]\nlatency = [40, "a book"]\n']

    def prepare(self, folder):
        """Write the rows."""
        super().prepare(folder)
        self.rows = self.file(table(), "rows.csv")

    def read(self, data: bytes) -> object:
        """The GPU file."""
        return self.tuned(self.rows, self.file(data, "facts.toml"))


TARGETS = (MicrobenchmarkTable, Facts)
