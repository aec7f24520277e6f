"""A kernel that runs: what is known of it between its launch and its end."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from lockstep.engine.record import Ended, LeftOut
from lockstep.workload import Cta, Kernel
from lockstep.workload.at_issue import Source


class Running(msgspec.Struct):
    """A kernel that occupies a slot."""

    kernel: Kernel
    slot: int
    order: int  # launch number in the run
    control: bool
    ctas: Iterator[Cta]
    launched: int
    ready: int  # the first cycle at which its CTAs may be dispatched
    first_cta: int = 0  # those before it do not run
    left_out: list[LeftOut] = []  # by a rule
    ended: list[Ended] = []  # CTAs; kept for a rule alone
    told: int = 0  # CTAs that a rule was told of
    seen: set[int] = set()  # linear ids of the CTAs read so far
    done: int = 0
    end: int = 0
    bound: int = 0  # static instructions that the machine knows
    exhausted: bool = False
    failed: bool = False  # the front end ended it early
    looked: int = 0  # static instructions that were searched for unknown opcodes
    unknown_code: list[int] = []
    unknown: Counter = msgspec.field(default_factory=Counter)
    clusters: dict[tuple, dict] = {}  # those not read completely
    source: Source | None = None  # executes it at issue
    stopped: str = ""  # why it gets no more CTAs though it has some
    stopped_at: int = 0  # in that cycle

    @property
    def expected(self) -> int:
        """How many CTAs it will ever have."""
        if self.failed or self.stopped:
            return len(self.seen)
        return self.kernel.n_ctas - self.first_cta - self.skipped

    @property
    def skipped(self) -> int:
        """CTAs that a rule left out."""
        return sum(each.ctas for each in self.left_out)

    @property
    def over(self) -> bool:
        """Whether all CTAs that it will ever have are done."""
        return self.done == self.expected

    def reach(self, end: int) -> None:
        """The kernel ends at ``end`` at the earliest."""
        self.end = max(self.end, end)

    def ask_source(self) -> None:
        """Learn from what executes the kernel at issue whether it failed."""
        if self.source is not None:
            self.failed = self.failed or self.source.failed()


FROZEN = (
    "slot", "order", "control", "launched", "ready", "done", "end", "bound", "exhausted", "failed",
    "looked", "unknown_code", "unknown", "first_cta",
)  # fmt: skip
"""What of a running kernel a checkpoint holds as it is."""
