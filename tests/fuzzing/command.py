"""The command line of ``scripts/fuzz.py``."""

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

from fuzzing.minimise import minimised
from fuzzing.outcome import examine
from fuzzing.runner import Inputs, Report, prepared, run_in_parallel
from fuzzing.targets import targets

COLUMNS = "{:<18} {:>9} {:>9} {:>9} {:>8} {:>10}"


def main(arguments: list[str] | None = None) -> int:
    """Fuzz; the exit code is 1 if there are defects."""
    parser = argparse.ArgumentParser(prog="fuzz.py", description="Damage input, and read it.")
    parser.add_argument("targets", metavar="TARGET", nargs="*", help=f"of {', '.join(targets())}")
    parser.add_argument("--inputs", type=int, default=20000, help="of each target [20000]")
    parser.add_argument("--sample", action="store_true", help="only those that the tests read")
    parser.add_argument("--seed", type=int, default=0, help="other seeds, other inputs [0]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes [all cores]")
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-failures"), help="folder for what fails"
    )
    parser.add_argument("--json", type=Path, help="write the counts to this file")
    parser.add_argument("--replay", type=Path, nargs="+", help="read these files instead")
    options = parser.parse_args(arguments)
    chosen = {name: targets().get(name) for name in options.targets or targets()}
    for name in chosen:
        if chosen[name] is None:
            parser.error(f"{name} is no target; there are {', '.join(targets())}")
    if options.replay:
        return max(replay(make(), options.replay) for make in chosen.values())
    print(COLUMNS.format("target", "inputs", "accepted", "refused", "defects", "inputs/s"))
    reports = []
    for make in chosen.values():
        target = make()
        inputs = target.sample if options.sample else options.inputs
        reports.append(run_in_parallel(target, inputs, options.seed, options.jobs))
        print(row(reports[-1]), flush=True)
        keep(make(), reports[-1], options.seed, options.keep / target.name)
    if options.json:
        options.json.write_text(json.dumps([summary(report) for report in reports], indent=1))
    return int(any(report.defects for report in reports))


def row(report: Report) -> str:
    """A line of the table; inputs per second of CPU time."""
    counts, speed = report.counts, report.inputs / max(report.seconds, 1e-9)
    numbers = (report.inputs, counts["accepted"], counts["refused"], report.defects)
    return COLUMNS.format(report.name, *numbers, f"{speed:.0f}")


def summary(report: Report) -> dict:
    """A report for other programs."""
    found = [f"{' '.join(f.outcome.key)}: {f.outcome.detail}" for f in report.findings.values()]
    return {"target": report.name, "counts": dict(report.counts), "findings": found}


def keep(target, report: Report, seed: int, folder: Path) -> None:
    """Write the inputs that failed, made small, and say where they are and what they do."""
    if not report.findings:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with prepared(target):
        inputs = Inputs(target, seed)
        for finding in report.findings.values():
            outcome = finding.outcome
            small = minimised(target, finding.data, inputs[finding.number][1], outcome)
            path = folder / hashlib.sha256("".join(outcome.key).encode()).hexdigest()[:12]
            path.write_bytes(small)
            print(f"  {outcome.kind} {outcome.where}: {path}, {len(small)} bytes")
            print("    " + outcome.detail.strip().replace("\n", "\n    ")[-1500:])


def replay(target, paths: list[Path]) -> int:
    """Read files in this process, where a debugger can follow; 1 if one shows a defect."""
    status = 0
    with prepared(target):
        for path in paths:
            data = path.read_bytes()
            outcome = examine(target, data, data)
            status |= outcome.is_defect
            print(f"{path}: {outcome.kind} {outcome.where}\n{outcome.detail}")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
