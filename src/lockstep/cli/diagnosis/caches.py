"""What is kept on disk: whose it is, whether it can grow, and whether a start finds all in it."""

import os
import pwd
from collections.abc import Iterator

from lockstep import store
from lockstep.cli.diagnosis.symptom import Severity, Symptom
from lockstep.report.figures import scaled
from lockstep.store.places import places

BUILD = "lockstep cache build"


def caches() -> Iterator[Symptom]:
    """Each folder, then whether what a first run would compile is there."""
    found = places()
    for place in found:
        yield _place(place)
    if not any(place.writable for place in found):
        advice = f"name a folder of yours with {store.VARIABLE}: each run compiles again"
        yield Symptom("writable", "no folder takes new entries", Severity.PROBLEM, advice)
    yield from _complete()


def _place(place: store.Place) -> Symptom:
    owner = _owner(place)
    facts = {"path": str(place.path), "owner": owner, "writable": place.writable}
    if place.refused:
        return Symptom("folder", f"{place.path} is not used", Severity.PROBLEM, place.refused,
                       facts)  # fmt: skip
    kinds = {kind: store.survey(place, kind) for kind in store.KINDS}
    size = sum(found.size for found in kinds.values())
    damaged = [str(path) for found in kinds.values() for path in found.damaged]
    facts |= {
        "bytes": size,
        "entries": {kind: found.entries for kind, found in kinds.items()},
        "damaged": damaged,
    }
    entries = sum(found.entries for found in kinds.values())
    state = "writable" if place.writable else "read only"
    text = f"{place.path}: {entries} entries, {scaled(size, 'B')}, {state}, of {owner}"
    if damaged:
        advice = f"{len(damaged)} entries are damaged, and made again when needed: {damaged[0]}"
        return Symptom("folder", text, Severity.PROBLEM, advice, facts)
    return Symptom("folder", text, facts=facts)


def _owner(place: store.Place) -> str:
    try:
        user = os.stat(place.path).st_uid
        return pwd.getpwuid(user).pw_name
    except OSError:
        return "nobody"
    except KeyError:  # a user without a name, as in containers
        return str(user)


def _complete() -> Iterator[Symptom]:
    """What takes long to make, by whether it is there."""
    from lockstep.engine.compilation import is_model_compiled
    from lockstep.frontend.cuda import build

    states = {
        "model": (is_model_compiled(), "a first run compiles it, for a minute"),
        "CUDA runtime": (build.is_built(), "a first CUDA program builds it"),
    }
    for name, (there, then) in states.items():
        facts = {"complete": there}
        if there:
            yield Symptom(name, "compiled, for this version and processor", facts=facts)
        else:
            advice = f"{BUILD} makes all of it ahead of time"
            yield Symptom(name, f"not there yet: {then}", Severity.NOTE, advice, facts)
