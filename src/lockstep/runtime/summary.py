"""The summary at the end of a run."""

from lockstep.names import demangled
from lockstep.report.figures import dependences, kernel_name
from lockstep.runtime.simulator import KernelCount, Simulator


def summary(simulator: Simulator) -> str:
    """Kernels, launches, cycles, simulated time, copies, unsupported calls; several lines."""
    lines = [_headline(simulator)]
    lines += [_kernel(simulator, name, count) for name, count in simulator.kernels.items()]
    copies = ", ".join(
        f"{traffic.count} {name} ({_bytes(traffic.bytes)})"
        for name, traffic in simulator.copies.items()
        if traffic.count
    )
    if copies:
        lines.append(f"  copies: {copies}")
    lines += [f"  executed: {text}" for text in _codes(simulator)]
    if runs := [run for count in simulator.kernels.values() for run in count.runs]:
        lines.append(f"  dependences: {dependences(run.dependence for run in runs)}")
    lines += [
        f"  not supported: {name} ({times} calls)"
        for name, times in simulator.unsupported.most_common()
    ]
    return "\n".join(lines)


def document(simulator: Simulator) -> dict:
    """The same of a run without timing, for a JSON file."""
    return {
        "gpu": simulator.device.gpu.name,
        "kernels": [
            {
                "name": name,
                "title": demangled(name),
                "launches": count.launches,
                "code": count.code,
                "forced": count.forced,
            }
            for name, count in simulator.kernels.items()
        ],
        "copies": {
            name: {"count": traffic.count, "bytes": traffic.bytes}
            for name, traffic in simulator.copies.items()
        },
        "unsupported": dict(simulator.unsupported),
        "problems": simulator.problems,
        **simulator.device.findings.document(),
    }


def _headline(simulator: Simulator) -> str:
    kernels, launches = len(simulator.kernels), simulator.launches
    line = f"lockstep: {simulator.name}, {kernels} kernels, {launches} launches"
    if not simulator.timed:
        return f"{line}; executed without timing"
    runs = [run for count in simulator.kernels.values() for run in count.runs]
    if len(runs) < launches:
        return f"{line}, {len(runs)} of them simulated"
    cycles = sum(run.cycles for run in runs)
    return f"{line}; {cycles:,.0f} cycles, {_time(simulator, cycles)} of GPU time"


def _codes(simulator: Simulator) -> list[str]:
    """Which code was executed, one line if it was the same of all kernels."""
    kernels: dict[str, list[str]] = {}
    for name, count in simulator.kernels.items():
        kernels.setdefault(count.code, []).append(kernel_name(name))
    if len(kernels) < 2:
        return list(kernels)
    return [f"{code} of {', '.join(names)}" for code, names in kernels.items()]


def _kernel(simulator: Simulator, name: str, count: KernelCount) -> str:
    line = f"  {kernel_name(name)}: {count.launches} launches"
    known = count.cycles
    if not known:
        return line
    mean = sum(known) / len(known)
    timed = "" if len(known) == count.launches else f", {len(known)} of them timed"
    return f"{line}{timed}, {mean:,.0f} cycles each ({_time(simulator, mean)})"


def _time(simulator: Simulator, cycles: float) -> str:
    seconds = cycles / (simulator.device.gpu.clock_mhz * 1e6)
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3f} {unit}"
    return ""


def _bytes(count: int) -> str:
    size, units = float(count), ("B", "KB", "MB", "GB", "TB")
    for unit in units:
        if size < 1000 or unit == units[-1]:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return ""
