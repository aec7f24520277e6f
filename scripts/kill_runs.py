"""Ends runs at random moments by signals, and looks at what they leave.

Development only::

    PYTHONPATH=src python scripts/kill_runs.py --moments 20 [--job compile] [--signal SIGKILL]

Each run gets a signal at a moment that is drawn from the CPU time that it takes undisturbed, so
that what else a machine does changes nothing, but for the time that Python takes to start: what it
answers to Ctrl-C until then is not ours. After it nothing of it may run any more, its exit
code says which signal it was, its outputs are whole or absent, and the next run gives the right
result and has nothing to say. The jobs ``first`` and ``compile`` begin without machine code, of
what executes and of the model; each signal finds what the runs before it had kept. The jobs
``resume-...`` write checkpoints, and the next run goes on from the last one: its documents and
tables are those of a run that nobody ended.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PATIENCE = 10.0  # seconds in which what a run started must have ended
TICKS = os.sysconf("SC_CLK_TCK")  # of CPU time in a second
PROGRAM = f"""
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
module, kernel, context, memory = (ctypes.c_void_p() for _ in range(4))
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
cubin = open({str(ROOT / "tests/device/cubins/recorded.sm_80.cubin")!r}, "rb").read()
driver.cuModuleLoadData(ctypes.byref(module), cubin)
driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"add")
driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 22))
values = [memory, memory, memory, ctypes.c_int(1 << 20)]
arguments = (ctypes.c_void_p * 4)(
    *(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values)
)
for _ in range(4):
    shape = [ctypes.c_uint(n) for n in (512, 1, 1, 128, 1, 1, 0)]
    driver.cuLaunchKernel(kernel, *shape, None, arguments, None)
    driver.cuCtxSynchronize()
"""
JOBS = {
    "simulate": ["simulate", str(ROOT / "examples/gather.lst"), "--gpu", "QV100"],
    "run": ["run", "gemm_tiled"],
    "program": ["run", "--gpu", "A100", sys.executable, "-c", PROGRAM],
    "first": ["run", "vecadd", "--size", "1000", "--timing", "none"],
    "compile": ["simulate", str(ROOT / "examples/vecadd"), "--gpu", "QV100"],
}
MANY = PROGRAM.replace("in range(4):", "in range(60):")
JOBS |= {
    "resume-simulate": JOBS["simulate"],
    "resume-run": ["run", "gemm_tiled", "--set", "sm.count=16"],
    "resume-program": ["run", "--gpu", "A100", sys.executable, "-c", MANY],
    "resume-at-issue": ["run", "bfs", "--at-issue"],
}
COMPILING = ("first", "compile")
EVERY = "every=0.1s"  # between two checkpoints
HOST = ("read_seconds", "simulate_seconds", "kips", "peak_rss_mb", "threads")  # of no result


@dataclass
class Job:
    """A command that is run again and again, in a folder of its own."""

    name: str
    folder: Path
    expected: str = ""  # the right result
    seconds: float = 0.0  # of CPU time that it takes undisturbed
    took: float = 0.0  # that the last complete run took

    def __post_init__(self):
        self.json, self.out = self.folder / "result.json", self.folder / "out"
        self.cache = self.folder / "cache"
        verb, *rest = JOBS[self.name]
        options = ["--json", str(self.json), "--quiet"]
        options += [] if "none" in rest else ["--out", str(self.out)]
        self.checkpoints = self.folder / "checkpoints"
        self.resumes = self.name.startswith("resume-")
        if self.resumes:
            options += ["--checkpoint", EVERY, "--checkpoint-dir", str(self.checkpoints)]
        self.command = [sys.executable, "-m", "lockstep", verb, *options]
        self.program = rest
        self.compiles = self.name in COMPILING

    @property
    def environment(self) -> dict[str, str]:
        """The caller's, but for the cache where the compilation is what is ended."""
        own = {"LOCKSTEP_CACHE_DIR": str(self.cache)} if self.compiles else {}
        return os.environ | {"PYTHONPATH": str(ROOT / "src")} | own

    def start(self, resume: bool = False) -> subprocess.Popen:
        """Start it as the leader of a session, so that all that it starts can be found."""
        goes_on = ["--resume", str(self.checkpoints)] if resume else []
        return subprocess.Popen(
            [*self.command, *goes_on, *self.program],
            env=self.environment,
            start_new_session=True,
            preexec_fn=_ignore_nothing,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def clear(self) -> None:
        """Remove the outputs of the last run."""
        self.json.unlink(missing_ok=True)
        shutil.rmtree(self.out, ignore_errors=True)

    def measure(self) -> None:
        """Run undisturbed, twice where the first run compiles what the others load."""
        if not self.compiles:
            assert self.complete() == "", "the first run failed"
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        problem = self.complete()
        assert problem == "", problem
        self.seconds = self.took
        self.forget()

    def forget(self) -> None:
        """Remove the machine code."""
        shutil.rmtree(self.cache, ignore_errors=True)

    def complete(self) -> str:
        """Run to the end, from where the last run was if that left a checkpoint; what is wrong."""
        self.clear()
        with self.start((self.checkpoints / "checkpoint").exists()) as process:
            said = process.stderr.read()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            self.took = cpu_seconds(process.pid)
        if process.returncode or said:
            return f"exit code {process.returncode}: {said.strip()[-300:]}"
        found = outcome(self.document()) + self.tables()
        self.expected = self.expected or found
        return "" if found == self.expected else f"another result: {found[:100]}"

    def document(self) -> dict:
        """The document of the run; without the file nothing."""
        return json.loads(self.json.read_text()) if self.json.exists() else {}

    def tables(self) -> str:
        """A digest of the tables that there are."""
        tables = sorted([*self.out.glob("*.parquet"), *self.out.glob("*.csv")])
        return "".join(hashlib.sha256(table.read_bytes()).hexdigest() for table in tables)

    def end(self, number: signal.Signals, moment: float) -> str:
        """Run and send a signal after so many CPU seconds; what is wrong with what it leaves."""
        self.clear()
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        with self.start() as process:
            while process.poll() is None and cpu_seconds(process.pid) < moment:
                time.sleep(random.random() / TICKS)
            process.send_signal(number)
            _, said = process.communicate()
        return "; ".join(filter(None, self._faults(process, number, said)))

    def _faults(self, process: subprocess.Popen, number: signal.Signals, said: str):
        code = process.returncode
        interpreter = code == -number  # before lockstep had a say, or SIGKILL
        if not (interpreter or code == 128 + number or (code == 0 and self._is_done())):
            yield f"exit code {code}"
        if "Traceback" in said and not interpreter:
            yield f"a traceback: {said.strip()[-300:]}"
        if left := _left_in_session(process.pid):
            yield f"still running: {left}"
        yield self._damage()

    def _is_done(self) -> bool:
        document = self.document()
        return bool(document) and self.expected.startswith(outcome(document))

    def _damage(self) -> str:
        try:
            document = self.document()
            if document and not document.get("stopped") and not self._is_done():
                return "a wrong result without a word"
            for table in self.out.glob("*.parquet"):
                content = table.read_bytes()
                if content[:4] != b"PAR1" or content[-4:] != b"PAR1":
                    return f"half a file: {table.name}"
        except (ValueError, KeyError) as error:
            return f"half a file: {error}"
        return ""


def outcome(document: dict) -> str:
    """All that a document says but for times and memory of the host."""
    run = {name: value for name, value in document.get("run", {}).items() if name not in HOST}
    return json.dumps(document | {"run": run})


def cpu_seconds(process: int) -> float:
    """CPU time of a process that nobody has waited for, in steps of a tick."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    return 0.0


def _ignore_nothing() -> None:
    """As in a terminal: what runs in the background inherits that it ignores signals."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def _left_in_session(session: int) -> list[str]:
    """The processes of a session that do not end in time."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        left = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = status.read_text().rpartition(")")
            except OSError:  # it has ended meanwhile
                continue
            fields = rest.split()
            if int(fields[3]) == session and fields[0] != "Z":
                left.append(name.partition("(")[2])
        if not left:
            return []
        time.sleep(0.05)
    return left


def start_up() -> float:
    """CPU seconds that Python takes before it runs anything, the most of five times."""
    took = []
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-m", "platform"], stdout=subprocess.DEVNULL) as p:
            os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT)
            took.append(cpu_seconds(p.pid))
    return max(took)


def check(name: str, moments: int, seed: int, signals=SIGNALS, show=print) -> int:
    """End a job ``moments`` times by each signal; how many of these were not as they should be."""
    wrong: dict[signal.Signals, list[str]] = {number: [] for number in signals}
    draw = random.Random(f"{name} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        job = Job(name, Path(folder))
        job.measure()
        begin = start_up()
        for _ in range(moments):
            for number in signals:
                moment = draw.uniform(begin, 1.1 * job.seconds)
                problem = job.end(number, moment)
                if not job.compiles or number == signals[-1]:
                    problem = problem or job.complete()
                if problem:
                    wrong[number].append(f"after {moment:.3f} s: {problem}")
            job.forget()
    for number, problems in wrong.items():
        lines = [f"{name}, {number.name}: {moments} moments, {len(problems)} wrong", *problems]
        show("\n  ".join(lines), flush=True)
    return sum(map(len, wrong.values()))


def main() -> None:
    """Parse the command line; exit code 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", choices=JOBS, action="append", help="default: all")
    parser.add_argument(
        "--signal",
        choices=[number.name for number in SIGNALS],
        action="append",
        help="default: all",
    )
    parser.add_argument("--moments", type=int, default=20, help="of each job and signal")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signals = [signal.Signals[name] for name in given.signal] if given.signal else SIGNALS
    jobs = given.job or JOBS
    faults = sum(check(name, given.moments, given.seed, signals) for name in jobs)
    raise SystemExit(faults > 0)


if __name__ == "__main__":
    main()
