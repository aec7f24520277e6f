"""Where a result comes from: versions, inputs and their hashes, the host, the time it took."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

DISTRIBUTION = "lockstep-gpu"  # what is installed; what is imported is `lockstep`


def version() -> str:
    """The version of this package, from its metadata."""
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        return "0+source"


def now() -> str:
    """The date and time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def host() -> dict[str, str | int | None]:
    """The machine and the versions that a run's speed depends on."""
    from importlib import metadata

    return {
        "name": platform.node(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "numba": metadata.version("numba"),
    }


def peak_rss_mb() -> float | None:
    """Most memory that this process ever held, in MiB; None where the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent held before the fork, too
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if platform.system() == "Darwin" else 1 << 10)
