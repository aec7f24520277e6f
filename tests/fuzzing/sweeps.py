"""Targets: files that describe sweeps, and journals of what is known of their points."""

import json
from collections.abc import Sequence

from fuzzing import gpus, mutations
from fuzzing.target import Target
from lockstep.campaigns.attempts import Attempt
from lockstep.campaigns.description import read_points
from lockstep.campaigns.journal import HEAD, PointJournal

WORDS = (
    *("workloads", "gpus", "changes", "zip", "seeds", "timing", "name", "size", "command", "full"),
    *("sample:3", "sample:error=1%", "plan:x", "plan:", "vecadd", "saxpy", "QV100"),
    *("[[workloads]]", "[[zip]]"),
    *("[changes]", "[", "]", '"', "=", ",", "{", "}", "1979-05-27", "0x7f", "1e400", "..", "/"),
)
LISTED = b"""\
workloads = ["vecadd", "traces/gather.lst"]
gpus = ["QV100", "mine.toml"]
seeds = [0, 1]
timing = "full"
[changes]
"l1.latency" = [28, 34]
"sm.count" = 40
sm.scheduler.policy = ["gto", "lrr"]
[[zip]]
"l2.sets" = [48, 96]
"l2.ways" = [16, 8]
"""
TABLES = b"""\
gpus = ["H100"]
timing = ["full", "sample:10"]
[[workloads]]
name = "saxpy"
size = [1000, 2000]
[[workloads]]
command = ["./app", "1000"]
"""


class SweepFile(Target):
    """A TOML file."""

    name = "sweep-file"
    mutations = mutations.text([*WORDS, *gpus.VALUES, *gpus.names()])

    def seeds(self) -> Sequence[bytes]:
        """Workloads as a list and as tables."""
        return [LISTED, TABLES]

    def read(self, data: bytes) -> object:
        """The points, and their digests where what they are of is there."""
        points = read_points(self.file(data, "sweep.toml"))
        return len(points), repr(points[:20])


class CampaignJournal(Target):
    """A file of outcomes; what its end cut off is dropped."""

    name = "campaign-journal"
    mutations = mutations.text(["digest", "attempts", "values", "error", "seconds", "null", "{}"])

    def seeds(self) -> Sequence[bytes]:
        """Two outcomes, and none."""
        good = {"digest": "a", "attempts": 1, **Attempt({"cycles": 7}, "", 1.5)._asdict()}
        bad = {"digest": "b", "attempts": 3, **Attempt({}, "it broke", 0.5)._asdict()}
        lines = [json.dumps(record) + "\n" for record in (HEAD, good, bad)]
        return ["".join(lines).encode(), lines[0].encode()]

    def read(self, data: bytes) -> object:
        """What is known, before and after an outcome is added."""
        path = self.file(data, "journal")
        with PointJournal(path) as journal:
            found = [repr(journal.get(name)) for name in ("a", "b")]
            journal.add("c", Attempt({"cycles": 1}, "", 0.0), 1)
        with PointJournal(path) as journal:
            assert [repr(journal.get(name)) for name in ("a", "b")] == found
            assert journal.get("c") == Attempt({"cycles": 1}, "", 0.0)
        return found


TARGETS = (SweepFile, CampaignJournal)
