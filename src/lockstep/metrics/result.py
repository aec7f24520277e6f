"""The result of a simulation: tables, totals, a hash, a manifest, and files of them."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import OpClass
from lockstep.metrics import facts, host, manifest, notebook, output, registry, source
from lockstep.metrics.facts import ratio

if TYPE_CHECKING:  # importing the engine imports the compiler: no view of results needs that
    import pandas

    from lockstep.engine.record import KernelRun, Run
    from lockstep.workload import Workload


@dataclass(eq=False)
class Result:
    """What a simulation found. Tables are computed when first asked for.

    ``run`` holds the raw counters and events; everything else here follows from it.
    """

    run: "Run"
    gpu: GPU
    workload: "Workload"
    seed: int = 0
    findings: dict[str, Any] = field(default_factory=dict)  # of checks, for ``to_dict``
    date: str = field(default_factory=manifest.now)
    estimate: dict[str, Any] = field(default_factory=dict)  # of all launches, where some were run
    advice: dict[str, Any] = field(default_factory=dict)  # of ``lockstep.advise``, see there

    def __repr__(self) -> str:
        """One line: the full record is in the tables."""
        n, name = len(self.run.kernels), self.workload.name
        return f"<Result of {name} on {self.gpu.name}: {n} kernels, {self.cycles} cycles>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        kernels = self.kernels if self.run.kernels else None
        name, gpu = self.workload.name, self.gpu.name
        return notebook.html(name, gpu, self.cycles, self.stopped, kernels)

    @property
    def cycles(self) -> int:
        """Core cycles of the whole run, gaps and overheads included."""
        return self.run.cycles

    @property
    def stopped(self) -> str:
        """Why the run ended early; empty where it did not."""
        return self.run.stopped

    @property
    def warp_instructions(self) -> int:
        """Warp instructions that were issued, each once."""
        return int(self.run.sm["warp_instructions"].sum())

    @property
    def thread_instructions(self) -> int:
        """Thread instructions that were issued, each once."""
        return int(self.run.sm["thread_instructions"].sum())

    @property
    def kips(self) -> float:
        """Thousand warp instructions simulated a second."""
        return ratio(self.warp_instructions / 1000, self.run.simulate_seconds)

    @cached_property
    def _columns(self) -> list[registry.MetricColumn]:
        return registry.columns(self.gpu)

    @property
    def parts(self) -> dict[str, float]:
        """Seconds of the run by what went on, each moment once: kernels, copies, host calls ...

        Empty where the host takes no time (``gpu.host.copy``); see :mod:`lockstep.metrics.host`.
        """
        return {name: time * 1e-12 for name, time in host.parts(self.run, self.gpu).items()}

    @cached_property
    def metrics(self) -> list[dict[str, float]]:
        """The metrics of each kernel, by name; NaN where a metric is undefined."""
        return [
            registry.evaluate(self._columns, facts.of_kernel(k, self.gpu)) for k in self.run.kernels
        ]

    @cached_property
    def total(self) -> dict[str, float]:
        """Cycles, instructions and every metric that is not one kernel's, over the whole run."""
        head: dict[str, float] = {
            "cycles": self.cycles,
            "warp_instructions": self.warp_instructions,
            "thread_instructions": self.thread_instructions,
        }
        if not self.run.kernels:
            return head
        return head | registry.evaluate(self._columns, facts.of_run(self.run, self.gpu))

    def metrics_of(self, kernels: "list[KernelRun]") -> dict[str, float]:
        """Every metric that is not one kernel's, over some of the kernels of the run."""
        return registry.evaluate(self._columns, facts.of_kernels(kernels, self.gpu))

    @cached_property
    def intervals(self) -> list[dict[str, float]]:
        """The metrics of each interval, with its ``start`` and ``end`` cycle."""
        rows = []
        for number, sample in enumerate(self.run.samples):
            period = facts.of_interval(self.run, number, self.gpu)
            end = int(sample["cycle"])
            row = {"start": end - period.cycles, "end": end}
            rows.append(row | registry.evaluate(self._columns, period))
        return rows

    @cached_property
    def kernels(self) -> "pandas.DataFrame":
        """One row a kernel: what it was, its cycles, every metric."""
        import pandas

        pairs = zip(self.run.kernels, self.metrics)
        return pandas.DataFrame([_facts_of(k) | metrics for k, metrics in pairs])

    @cached_property
    def series(self) -> "pandas.DataFrame":
        """One row an interval; empty unless the run was asked for an interval."""
        import pandas

        return pandas.DataFrame(self.intervals, columns=None if self.intervals else _SPAN)

    @cached_property
    def source(self) -> "pandas.DataFrame":
        """One row a static instruction of each kernel, see :func:`.source.instructions`."""
        return source.instructions(self.run.kernels)

    @cached_property
    def source_lines(self) -> "pandas.DataFrame":
        """One row a source line of each kernel, see :func:`.source.lines`; none may be known."""
        return source.lines(self.source)

    @property
    def counts_instructions(self) -> bool:
        """Whether the run was asked what each instruction did."""
        return any(run.source is not None for run in self.run.kernels)

    @property
    def opcodes(self) -> dict[str, int]:
        """Warp instructions by operation class, largest first, without classes that are absent."""
        counts = {op.name: int(self.run.sm["issued"][:, op].sum()) for op in OpClass}
        return {name: n for name, n in sorted(counts.items(), key=lambda c: -c[1]) if n}

    @property
    def unknown_opcodes(self) -> dict[str, int]:
        """Opcodes that are in no table, with the warp instructions they made."""
        counts: dict[str, int] = {}
        for kernel in self.run.kernels:
            for opcode, n in kernel.unknown.items():
                counts[opcode] = counts.get(opcode, 0) + n
        return dict(sorted(counts.items(), key=lambda c: -c[1]))

    @cached_property
    def hash(self) -> str:
        """Hash of all cycles and metrics and of nothing else: the same for any thread count.

        What only a run knows that counts instructions is not in it.
        """
        names = [c.name for c in self._columns if not c.counted]
        kernels = [
            (k.launched, k.start, k.end, k.warp_instructions, k.thread_instructions,
             {name: metrics[name] for name in names})
            for k, metrics in zip(self.run.kernels, self.metrics)
        ]  # fmt: skip
        text = json.dumps(output.finite([self.cycles, kernels]), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def manifest(self) -> dict[str, Any]:
        """Where this result comes from, in full: enough to repeat the run."""
        return {
            "version": manifest.version(),
            "date": self.date,
            "gpu": self.gpu.name,
            "gpu_hash": library.digest(self.gpu),
            "gpu_spec": msgspec.to_builtins(self.gpu),
            "trace": self.workload.name,
            "trace_path": self.workload.path,
            "trace_hash": self.workload.digest,
            "seed": self.seed,
            "policies": self.run.policies,
            "dependence": dict(Counter(k.dependence for k in self.run.kernels)),
            "threads": self.run.threads,
            "host": manifest.host(),
            "read_seconds": self.run.read_seconds,
            "simulate_seconds": self.run.simulate_seconds,
            "compile_seconds": self.run.compile_seconds,
            "peak_rss_mb": manifest.peak_rss_mb(),
            "result_hash": self.hash,
            "stopped": self.stopped,
            **({"estimate": brief} if (brief := self._brief_estimate) else {}),
        }

    @property
    def _brief_estimate(self) -> dict[str, Any]:
        """Of what this is a sample, and what it says of all; metrics are in the JSON file."""
        return {name: self.estimate[name] for name in _BRIEF if name in self.estimate}

    def to_dict(self) -> dict[str, Any]:
        """The document of ``--json``; undefined metrics are still NaN here."""
        return {
            "version": manifest.version(),
            "gpu": self.gpu.name,
            **self.findings,
            **host.document(self.run, self.gpu),
            **({"estimate": self.estimate} if self.estimate else {}),
            **({"advice": self.advice} if self.advice else {}),
            "kernels": [_entry(k, m) for k, m in zip(self.run.kernels, self.metrics)],
            "total": {name: self.total[name] for name in _TOTALS},
            "run": {
                "read_seconds": self.run.read_seconds,
                "simulate_seconds": self.run.simulate_seconds,
                "kips": self.kips,
                "peak_rss_mb": manifest.peak_rss_mb(),
                "threads": self.run.threads,
                "result_hash": self.hash,
            },
            "unknown_opcodes": self.unknown_opcodes,
            "stopped": self.stopped,
        }

    def to_json(self, path: str | Path) -> None:
        """Write kernels, totals and the run's figures; undefined metrics are null."""
        output.write_json(path, self.to_dict())

    def to_csv(self, path: str | Path) -> None:
        """Write the kernel table."""
        output.write_csv(path, self.kernels)

    def to_parquet(self, path: str | Path) -> None:
        """Write the kernel table; needs the extra ``lockstep-gpu[parquet]``."""
        output.write_parquet(path, self.kernels)

    def save(self, directory: str | Path, summary: str = "") -> None:
        """Write the tables of kernels and intervals, manifest.json and, if given, summary.txt.

        The tables are kernels.parquet and series.parquet, and source.parquet if instructions were
        counted; without pyarrow, of the extra ``lockstep-gpu[parquet]``, they are CSV.
        """
        directory = Path(directory)
        if output.has_parquet():
            suffix, write = "parquet", output.write_parquet
        else:
            suffix, write = "csv", output.write_csv
        write(directory / f"kernels.{suffix}", self.kernels)
        write(directory / f"series.{suffix}", self.series)
        if self.counts_instructions:
            write(directory / f"source.{suffix}", self.source)
        output.write_json(directory / "manifest.json", self.manifest)
        if summary:
            output.write_text(directory / "summary.txt", summary)


_BRIEF = ("sampler", "parameters", "notes", "confidence", "launches", "simulated", "cycles")
_SPAN = ("start", "end")
_TOTALS = ("cycles", "warp_instructions", "thread_instructions")


def _entry(kernel: "KernelRun", metrics: dict[str, float]) -> dict[str, Any]:
    return {
        "id": kernel.id,
        "name": kernel.name,
        "title": kernel.title,
        "grid": list(kernel.grid),
        "block": list(kernel.block),
        "dependence": kernel.dependence,
        "ctas": kernel.ctas,
        "first_cta": kernel.first_cta,
        "ctas_done": kernel.ctas_done,
        "skipped": kernel.skipped,
        "complete": kernel.complete,
        "stopped": kernel.stopped,
        "launched_by": kernel.launched_by,
        "cycles": kernel.cycles,
        "warp_instructions": kernel.warp_instructions,
        "thread_instructions": kernel.thread_instructions,
        "metrics": metrics,
    }


def _facts_of(kernel: "KernelRun") -> dict[str, Any]:
    """The columns of the kernel table that are not metrics."""
    names = "id name title grid block stream registers shared_bytes architecture dependence"
    names += " ctas_per_sm limiter launched start end cycles warp_instructions"
    names += " thread_instructions complete ctas first_cta ctas_done skipped stopped launched_by"
    return {name: getattr(kernel, name) for name in names.split()}
