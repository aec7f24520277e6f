"""Kills ranks over MPI at random moments, and goes on from the checkpoint that they leave.

Development only::

    PYTHONPATH=src python scripts/kill_ranks.py --moments 20 [--ranks 3] [--trace TRACE]

Each run loses a rank by SIGKILL. It must end soon, not with exit code 0, say which rank it was and,
where there is a checkpoint, how to go on, and leave no result. The next run, on another number of
ranks, goes on from the checkpoint if there is one, and its document is that of a run that nobody
disturbed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lockstep
from lockstep import KernelBuilder

ROOT = Path(__file__).parents[1]
PATIENCE = 10.0  # seconds in which a run ends that has lost a rank
HOST = ("read_seconds", "simulate_seconds", "kips", "peak_rss_mb", "threads")  # of no result
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PYTHONPATH": str(ROOT / "src"),
}


def gather(folder: Path) -> str:
    """A trace of random loads, in which ranks meet some thousand times."""
    k = KernelBuilder("gather", grid=256, block=256)
    with k.loop(24):
        k("LDG.E R4, [R2]", address=k.random(0x7F0000000000, 1 << 26, seed=1))
        k("FADD R5, R4, R5")
    k("EXIT")
    path = folder / "gather.lst"
    lockstep.save(k.workload(), path)
    return str(path)


def start(ranks: int, trace: str, folder: Path, *options: str) -> subprocess.Popen:
    """Start a run on so many ranks that writes a document and checkpoints."""
    mpiexec = Path(sys.executable).with_name("mpiexec")
    command = [str(mpiexec) if mpiexec.exists() else "mpiexec", "-n", str(ranks)]
    command += [sys.executable, "-m", "lockstep", "simulate", trace, "--gpu", "QV100", "--quiet"]
    command += ["--ranks", "mpi", "--json", str(folder / "result.json"), *options]
    command += ["--checkpoint", "every=0.1s", "--checkpoint-dir", str(folder / "kept")]
    return subprocess.Popen(
        command,
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def document(folder: Path) -> str:
    """What a run found, but for times and memory; "" without a document."""
    path = folder / "result.json"
    if not path.exists():
        return ""
    found = json.loads(path.read_text())
    path.unlink()
    found["run"] = {name: value for name, value in found["run"].items() if name not in HOST}
    return json.dumps(found)


def process_of(rank: int, starter: int) -> int | None:
    """The process of a rank that ``mpiexec`` has started, once it runs."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            names = (folder / "environ").read_bytes().split(b"\0") if parent == starter else ()
        except OSError:  # it has ended meanwhile
            continue
        if {b"OMPI_COMM_WORLD_RANK=%d" % rank, b"PMI_RANK=%d" % rank} & set(names):
            return int(folder.name)
    return None


def faults(run: subprocess.Popen, rank: int, moment: float, folder: Path) -> str:
    """Kill a rank some seconds after its start; what is wrong with how the run ends."""
    while (process := process_of(rank, run.pid)) is None and run.poll() is None:
        time.sleep(0.01)
    time.sleep(moment)
    if process is None or run.poll() is not None:
        return "it was over"
    os.kill(process, signal.SIGKILL)
    try:
        _, said = run.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        run.kill()
        return "it went on"
    if not run.returncode:
        return "exit code 0"
    if document(folder):
        return "it left a result"
    goes_on = (folder / "kept" / "checkpoint").exists()
    told = f"lockstep: rank {rank} of " in said and "is lost: process" in said
    # Before ranks have met they cannot know of each other: then mpiexec says which one died.
    if not told and (goes_on or f"process rank {rank} with PID {process}" not in said):
        return f"it did not say who was lost: {said.strip()[:400]}"
    if goes_on and "--resume" not in said:
        return "it did not say how to go on"
    return ""


def main() -> None:
    """Parse the command line; exit code 1 if anything was wrong, or nothing went on."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--trace", help="default: random loads that take about two seconds")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw, wrong, resumed = random.Random(given.seed), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given.trace = given.trace or gather(folder)
        begin = time.monotonic()
        assert start(given.ranks, given.trace, folder).wait() == 0, "the first run failed"
        seconds, expected = time.monotonic() - begin, document(folder)
        for number in range(given.moments):
            shutil.rmtree(folder / "kept", ignore_errors=True)
            rank, moment = draw.randrange(given.ranks), draw.uniform(0.3, 0.9) * seconds
            run = start(given.ranks, given.trace, folder)
            problem = faults(run, rank, moment, folder)
            goes_on = (folder / "kept" / "checkpoint").exists()
            options = ["--resume", str(folder / "kept")] if goes_on else []
            resumed += goes_on
            after = start(1 + number % 4, given.trace, folder, *options)
            _, said = after.communicate()
            if after.returncode or document(folder) != expected:
                problem += f"; the next run differs: {said.strip()[:200]}"
            if problem:
                wrong += problem != "it was over"
                print(f"rank {rank} after {moment:.2f} s: {problem}", flush=True)
    print(f"{given.moments} moments, {resumed} went on from a checkpoint, {wrong} wrong")
    raise SystemExit(wrong > 0 or not resumed)


if __name__ == "__main__":
    main()
