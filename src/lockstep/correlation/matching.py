"""Which launch of a result is which measured one: by program, name of the kernel, and order."""

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lockstep.correlation.kernels import base_name, full_name, same_kernel
from lockstep.correlation.launches import Launch, together
from lockstep.correlation.results import Ours
from lockstep.errors import LockstepError

MOST_NAMES = 5  # in one message


class LaunchPair(NamedTuple):
    """One launch, measured and simulated."""

    hardware: Launch
    ours: Launch


@dataclass(slots=True)
class Matching:
    """Pairs in the order of the measurements, and what is left on both sides."""

    pairs: list[LaunchPair] = field(default_factory=list)
    hardware: int = 0  # measured launches of the programs that were compared
    ours: int = 0
    hardware_cycles: float = 0.0  # of these, where they are known
    remarks: list[str] = field(default_factory=list)


def match(hardware: Sequence[Launch], results: Sequence[Ours]) -> Matching:
    """Pair the launches of results with measured ones.

    Where one program was measured, and none of the results has its name, they are its launches,
    one after the other. Raises :class:`LockstepError` where it is not clear which of several runs
    of a program is meant, and where no launch has a partner.
    """
    _check_once(results)
    measured = _by_program(hardware)
    simulated: dict[str, list[Launch]] = defaultdict(list)
    for result in results:
        simulated[result.program] += result.launches
    if len(measured) == 1 and not measured.keys() & simulated.keys():
        (program,) = measured
        if len(results) > 1:  # the launches of all of them are one run
            every = [launch for result in results for launch in result.launches]
            every = [replace(launch, number=n) for n, launch in enumerate(every, 1)]
            simulated = {program: every}
        else:
            simulated = {program: results[0].launches}
    found = Matching()
    for program, ours in simulated.items():
        if program not in measured:
            known = _listed(measured)
            what = f"{program}: not measured; measured are {known} (NAME=RESULT names a result)"
            found.remarks.append(what)
            found.ours += len(ours)
            continue
        mine = (r for r in results if r.program == program or r.program not in measured)
        if not measured[program][0].number and any(result.sampled for result in mine):
            ours = [replace(launch, complete=False) for launch in ours]  # their sum is not
        _match_program(program, measured[program], ours, found)
    if absent := [program for program in measured if program not in simulated]:
        found.remarks.append(f"measured, but in no result: {_listed(absent)}")
    if not found.pairs:
        raise LockstepError("nothing to compare: " + "; ".join(found.remarks))
    return found


def _check_once(results: Sequence[Ours]) -> None:
    """Results of one program may be parts of a run, and not two of them."""
    first: dict[tuple[str, int], Ours] = {}
    for result in results:
        for launch in result.launches:
            other = first.setdefault((result.program, launch.number), result)
            if other is not result:
                what = f"{result.program}: launch {launch.number} is in {other.origin} and in "
                what += f"{result.origin}; give one run of a program, or names: NAME=RESULT"
                raise LockstepError(what)


def _listed(names: Iterable[str]) -> str:
    every = [name or '""' for name in names]
    more = len(every) - MOST_NAMES
    return ", ".join(every[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _by_program(launches: Sequence[Launch]) -> dict[str, list[Launch]]:
    found: dict[str, list[Launch]] = {}
    for launch in launches:
        found.setdefault(launch.program, []).append(launch)
    return found


def _match_program(
    program: str, hardware: list[Launch], ours: list[Launch], found: Matching
) -> None:
    _check_sections(program, hardware)
    if not hardware[0].number:
        if len(hardware) > 1:
            raise LockstepError(f"{program}: {len(hardware)} rows, and no column tells them apart")
        ours = [whole(ours)]
    found.hardware += len(hardware)
    found.ours += len(ours)
    found.hardware_cycles += sum(h.cycles for h in hardware if h.cycles > 0)
    pairs = _pairs(hardware, ours)
    unlike = [pair for pair in pairs if _differ(pair)]
    alike = [pair for pair in pairs if not _differ(pair)]
    found.pairs += [pair for pair in alike if pair.ours.complete]
    of_program = f"{program}: " if program else ""
    if cut := Counter(full_name(pair.ours.kernel) for pair in alike if not pair.ours.complete):
        names = _listed(
            f"{name} ({times})" if name else "all launches" for name, times in cut.items()
        )
        found.remarks.append(f"{of_program}simulated in part, and not compared: {names}")
    if hardware[0].kernel and _has_gaps(hardware) and not (_has_gaps(ours) or _fit(hardware, ours)):
        what = "not all launches were measured, and their numbers are of other kernels here: "
        found.remarks.append(f"{of_program}{what}the n-th of a kernel is compared with the n-th")
    for pair in unlike[:MOST_NAMES]:
        h, o = pair
        what = f"launch {h.number} of {h.kernel} has grid {h.grid} and block {h.block} there, "
        what += f"{o.grid} and {o.block} here: not compared"
        found.remarks.append(of_program + what)
    if len(unlike) > MOST_NAMES:
        found.remarks.append(f"{of_program}{len(unlike) - MOST_NAMES} more launches of other sizes")
    for side, every, place in (("measured", hardware, 0), ("simulated", ours, 1)):
        paired = {id(pair[place]) for pair in pairs}
        if alone := Counter(full_name(x.kernel) for x in every if id(x) not in paired):
            names = _listed(f"{name} ({times})" for name, times in alone.most_common())
            found.remarks.append(f"{of_program}only {side}: {names}")


def whole(launches: Sequence[Launch]) -> Launch:
    """A program's launches as one."""
    names = launches[0].metrics
    complete = all(launch.complete for launch in launches)
    return Launch(launches[0].program, "", 0, together(launches, names), complete=complete)


def _check_sections(program: str, launches: list[Launch]) -> None:
    sections = {launch.section for launch in launches}
    if len(sections) < 2:
        return
    values: dict[str, set[str]] = defaultdict(set)
    for column, value in (cell for section in sections for cell in section):
        values[column].add(value)
    differing = {c: sorted(v) for c, v in values.items() if len(v) > 1}
    said = " and ".join(f"{c} ({_listed(v)})" for c, v in differing.items())
    column, chosen = next(iter(differing.items()))
    example = f"--where {column}={chosen[0]}"
    raise LockstepError(f"{program}: measured several times, with another {said}: {example}")


def _pairs(hardware: list[Launch], ours: list[Launch]) -> list[LaunchPair]:
    if not any(launch.kernel for launch in hardware):  # nothing but the order says which is which
        if _has_gaps(hardware):
            return _pairs_by_number(hardware, ours)
        return [LaunchPair(h, o) for h, o in zip(hardware, ours)]
    if _has_gaps(ours) or (_has_gaps(hardware) and _fit(hardware, ours)):
        return _pairs_by_number(hardware, ours)
    theirs, mine = _by_name(hardware), _by_name(ours)
    found: dict[int, LaunchPair] = {}
    for base, launches in theirs.items():
        for same, other in _alike(launches, mine.get(base, [])):
            found |= {id(h): LaunchPair(h, o) for h, o in zip(same, other)}
    return [found[id(h)] for h in hardware if id(h) in found]


def _has_gaps(launches: list[Launch]) -> bool:
    """Whether these are some launches of a run, by their numbers."""
    return [launch.number for launch in launches] != list(range(1, len(launches) + 1))


def _fit(hardware: list[Launch], ours: list[Launch]) -> bool:
    """Whether measured launches have the numbers that they have here: all names are the same."""
    numbered = {launch.number: launch for launch in ours}
    if len({launch.number for launch in hardware}) < len(hardware):
        return False
    return all(
        h.number in numbered and same_kernel(h.kernel, numbered[h.number].kernel) for h in hardware
    )


def _pairs_by_number(hardware: list[Launch], ours: list[Launch]) -> list[LaunchPair]:
    """Of a run some of whose launches alone are there: the n-th one is the n-th."""
    numbered = {launch.number: launch for launch in ours}
    pairs = [LaunchPair(h, numbered[h.number]) for h in hardware if h.number in numbered]
    return [
        p for p in pairs if not p.hardware.kernel or same_kernel(p.hardware.kernel, p.ours.kernel)
    ]


def _base(launch: Launch) -> str:
    return base_name(full_name(launch.kernel))


def _by_name(launches: list[Launch]) -> dict[str, list[Launch]]:
    found: dict[str, list[Launch]] = defaultdict(list)
    for launch in launches:
        found[_base(launch)].append(launch)
    return found


def _alike(a: list[Launch], b: list[Launch]) -> list[tuple[list[Launch], list[Launch]]]:
    """Launches of one name in groups of one instance of its template.

    One group where a side has names without the arguments of templates.
    """
    names = [[full_name(launch.kernel) for launch in side] for side in (a, b)]
    if not all("<" in name for side in names for name in side):
        return [(a, b)]
    groups: dict[str, tuple[list[Launch], list[Launch]]] = {}
    for place, side in enumerate((a, b)):
        for name, launch in zip(names[place], side):
            groups.setdefault(name, ([], []))[place].append(launch)
    return list(groups.values())


def _differ(pair: LaunchPair) -> bool:
    """Whether the two launches are of different sizes, as far as that is known."""
    sides = ((pair.hardware.grid, pair.ours.grid), (pair.hardware.block, pair.ours.block))
    return any(a and b and a != b for a, b in sides)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at what may have been meant; "" if nothing is near."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""
