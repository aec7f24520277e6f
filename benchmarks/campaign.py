"""The rate of a campaign: points that wait for a second, in two processes, and one that is killed.

``python benchmarks/campaign.py --points 1000`` takes eight minutes. Points wait and do not compute,
so that the rate is the campaign's own, whatever else the machine does: each process then evaluates
a point a second at best. A process is killed halfway; what that costs is a part of the rate.
"""

import argparse
import os
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time, sleep

from lockstep.campaigns import campaign


@dataclass(frozen=True)
class Wait:
    """A point that takes ``seconds``; ``log``: a folder in which each attempt leaves a file."""

    number: int
    seconds: float
    killed: bool
    log: str

    @property
    def digest(self) -> str:
        """One for each number."""
        return f"wait {self.number}"

    @property
    def facts(self) -> dict[str, int]:
        """Its number."""
        return {"number": self.number}


def wait(point: Wait) -> dict[str, float]:
    """Wait; who is to be killed is killed halfway, the first time."""
    tried = len(list(Path(point.log).glob(f"{point.number}-*")))
    Path(point.log, f"{point.number}-{tried}").touch()
    if point.killed and not tried:
        sleep(point.seconds / 2)
        os.kill(os.getpid(), signal.SIGKILL)
    sleep(point.seconds)
    return {"waited": point.seconds}


def main() -> None:
    """Run the campaign; print its rate, and how many points were evaluated twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--executor", default="local")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        points = [
            Wait(n, given.seconds, n == given.points // 2, folder) for n in range(given.points)
        ]
        began, used = monotonic(), process_time()
        table = campaign(
            points,
            wait,
            executor=given.executor,
            workers=given.workers,
            journal=Path(folder, "journal"),
        )
        took, used = monotonic() - began, process_time() - used
        tries = len(list(Path(folder).glob("*-*")))
    ideal = given.points * given.seconds / given.workers
    assert (table["error"] == "").all(), "a point failed"
    print(f"{given.points} points of {given.seconds} s, {given.workers} {given.executor} workers")
    print(f"{took:.1f} s; ideal {ideal:.1f} s: {100 * ideal / took:.1f} % of the ideal rate")
    print(
        f"{tries - given.points} point evaluated again; {1000 * used / tries:.2f} ms a point here"
    )


if __name__ == "__main__":
    main()
