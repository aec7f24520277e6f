"""Try the coherence protocols: all orders of events, random steps, litmus tests.

``python scripts/coherence.py search`` goes through all states that two L1s and one line can be in;
operations begin while fewer than ``--in-flight`` messages are under way. ``random`` takes random
steps until ``--operations`` are done, ``litmus`` runs each litmus test with ``--seeds`` seeds; with
``--timed`` those of scopes, in the model of time. A protocol's name behind it tries that one alone.
Exit code 1 if anything is wrong. The machines are in ``tests/coherence_twin``.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from coherence_twin import numbers, runner, search_runner, timed
from coherence_twin.litmus import shows
from coherence_twin.litmus_tests import TESTS
from coherence_twin.scope_tests import TIMED, verdict
from coherence_twin.search import coverage, search
from lockstep.model.coherence.library import load, names
from lockstep.model.coherence.table import Protocol

LENGTH = 100_000  # steps of an episode
TOLD = 1_000_000  # states from which on a search says how far it is
SHAPES = ((2, 64), (3, 4), (4, 64), (2, 16), (3, 64), (4, 1))  # L1s and bytes of the line


def try_all(protocol: Protocol, arguments: argparse.Namespace) -> bool:
    """All orders; without values to ``--in-flight``, with values to ``--with-values``."""
    visited: set[tuple[str, str, str]] = set()
    two = 0 if protocol.name == "nmoesi" else arguments.two_bytes  # its table knows no masks
    for far in (False, True) if protocol.name == "vi" else (False,):
        rows = [(1, arguments.in_flight, False), (2, two, False), (1, arguments.with_values, True)]
        for size, limit, values in rows:
            if not limit:
                continue
            if values:
                found = search(protocol, 2, size, limit, far=far, values=True)
            else:
                found = search_runner.search(protocol, 2, size, limit, far=far, tell=_progress)
            visited |= found.visited
            what = "with values" if values else "L1s have no names"
            print(
                f"{protocol.name}: {found.states} states, {found.steps} steps; {size} bytes, "
                f"{limit} messages, {what}{', far' if far else ''}",
                flush=True,
            )
    unreached, marked = coverage(protocol, visited)
    for entry in unreached:
        print(f"{protocol.name}, {', '.join(entry)}: not reached; mark it, or call it impossible")
    for entry in marked:
        print(f"{protocol.name}, {', '.join(entry)}: reached; leave its mark out")
    return not unreached and not marked


def _progress(done: int, waiting: int) -> None:
    """A line on stderr for each round of a long search."""
    if done > TOLD:
        print(f"  {done} states, and {waiting} to go on from", file=sys.stderr, flush=True)


def try_random(protocol: Protocol, arguments: argparse.Namespace) -> bool:
    """Random steps by compiled code."""
    program = numbers.program(protocol)
    done, seed, none = 0, arguments.seed, np.zeros(0, np.int64)
    while done < arguments.operations:
        l1s, size = SHAPES[seed % len(SHAPES)]
        far = protocol.name == "vi" and seed % 4 == 3
        kinds = np.array([k for k in range(7) if not far or k != numbers.ATOMIC_OP])
        state = numbers.state(protocol, l1s, size, LENGTH)
        runner.run(program, state, seed, LENGTH, kinds, numbers.FAR if far else 0, none)
        if state.one[numbers.FAILURE]:
            text = numbers.FAILURES[state.one[numbers.FAILURE]]
            print(f"{protocol.name}: {text}; seed {seed}, {l1s} L1s, {size} bytes, far {far}")
            return False
        done += int(state.one[numbers.OPERATIONS_DONE])
        seed += 1
    print(f"{protocol.name}: {done} operations in {seed - arguments.seed} episodes, no violation")
    return True


def try_litmus(protocol: Protocol, arguments: argparse.Namespace) -> bool:
    """Every litmus test of the protocol."""
    good = True
    first, end = arguments.seed, arguments.seed + arguments.seeds
    for test in TIMED if arguments.timed else TESTS:
        if test.protocol == protocol.name and (arguments.test or "") in test.name:
            if arguments.timed:
                count = timed.count(test, range(first, end), stress=arguments.stress)
            else:
                count = sum(shows(protocol, test, seed) for seed in range(first, end))
            wanted = verdict(test, arguments.timed and arguments.stress)
            right = (count > 0) == (wanted == "seen")
            good &= right
            mark = "" if right else "  WRONG"
            print(f"{test.protocol:7}{test.name:28}{wanted:10}{count:6}{mark}", flush=True)
    return good


def main() -> int:
    """Run what was asked for; returns the exit code."""
    ways = {"search": try_all, "random": try_random, "litmus": try_litmus}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=ways)
    parser.add_argument("protocol", nargs="*", help="all if none is named")
    parser.add_argument("--in-flight", type=int, default=6, help="messages under way")
    parser.add_argument("--two-bytes", type=int, default=4, help="the same, with lines of two")
    parser.add_argument("--with-values", type=int, default=1, help="the same, with values")
    parser.add_argument("--operations", type=int, default=10_000_000)
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timed", action="store_true", help="litmus: in the model of time")
    parser.add_argument(
        "--stress", action="store_true", help="... whose partitions are flooded, each on its own"
    )
    parser.add_argument("--test", help="litmus: those with this in their names")
    arguments = parser.parse_args()
    return (
        0
        if all([ways[arguments.what](load(n), arguments) for n in arguments.protocol or names()])
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
