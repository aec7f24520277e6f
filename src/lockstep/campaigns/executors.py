"""Where points are evaluated: processes of this machine, a Dask cluster, or a Ray cluster."""

import contextlib
import importlib
import os
from types import ModuleType
from typing import Any, Literal, Protocol, get_args

from lockstep.campaigns.attempts import Attempt, Evaluate, attempt
from lockstep.campaigns.pool import LocalPool
from lockstep.errors import LockstepError, suggestion

ExecutorName = Literal["local", "dask", "ray"]
EXECUTORS: tuple[str, ...] = get_args(ExecutorName)
_AHEAD = 2  # points with Ray, for each of its cores: the next one is there already


class PointExecutor(Protocol):
    """Evaluates points in any order."""

    @property
    def room(self) -> int:
        """How many may be with it at a time, as things are."""
        ...

    def submit(self, number: int, point: object) -> None:
        """Take a point, under a number of the caller's."""
        ...

    def next(self) -> tuple[int, Attempt]:
        """Wait until some point has ended: its number, and what came of it."""
        ...

    def close(self, now: bool = False) -> None:
        """End; ``now``: without waiting for points."""
        ...


def executor(
    name: str, run: Evaluate, workers: int | None = None, address: str | None = None
) -> PointExecutor:
    """An executor by name.

    ``workers``: processes; default: the cores that this process may use. ``address``: of a Dask
    scheduler or a Ray cluster; default: one that is started here, and ends with the campaign.
    Raises :class:`LockstepError` for what is not there.
    """
    if name not in EXECUTORS:
        near = suggestion(name, EXECUTORS)
        raise LockstepError(f"no executor is named {name[:80]!r}: {', '.join(EXECUTORS)}{near}")
    if workers is not None and workers < 1:
        raise LockstepError(f"workers is {workers}; expected at least 1")
    if address and name == "local":
        raise LockstepError("an address is for the executors dask and ray")
    if address and workers:
        raise LockstepError("workers is for those that are started here: the address has its own")
    if name == "local":
        return LocalPool(run, workers or cores())
    kind = DaskExecutor if name == "dask" else RayExecutor
    return kind(run, workers or cores(), address)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class DaskExecutor:
    """Workers of ``distributed``, a point each: whoever kills its worker takes no other with it.

    Of a cluster that is started here; elsewhere ``allowed-failures`` of its scheduler says how many
    workers a point may kill.
    """

    def __init__(self, run: Evaluate, workers: int, address: str | None):
        self._dask = _library("distributed", "dask")
        self._cluster: Any = None
        if address is None:
            self._cluster = self._dask.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                scheduler_kwargs={"allowed_failures": 0},
            )
        try:
            self._client = self._dask.Client(self._cluster if address is None else address)
        except OSError as error:
            raise LockstepError(f"no Dask scheduler answers at {address}: {error}") from error
        self._run = run
        self._numbers: dict[str, int] = {}
        # A worker that dies would take results with it that nobody has fetched.
        self._pending = self._dask.as_completed(with_results=True, raise_errors=False)

    @property
    def room(self) -> int:
        """As many as there are workers now: one that begins anew leaves its place empty."""
        return max(1, sum(self._client.nthreads().values()))

    def submit(self, number: int, point: object) -> None:
        """Take a point."""
        future = self._client.submit(attempt, self._run, point, pure=False)
        self._numbers[future.key] = number
        self._pending.add(future)

    def next(self) -> tuple[int, Attempt]:
        """Wait for a point."""
        future, result = next(self._pending)
        number = self._numbers.pop(future.key)
        if future.status == "finished":
            return number, result
        return number, Attempt({}, f"its worker was lost ({future.status})")

    def close(self, now: bool = False) -> None:
        """Leave the cluster, or end it."""
        with contextlib.suppress(OSError, TimeoutError):
            self._client.close()
            if self._cluster is not None:
                self._cluster.close()


class RayExecutor:
    """Tasks of Ray, one core each."""

    def __init__(self, run: Evaluate, workers: int, address: str | None):
        self._ray = _library("ray", "ray")
        self._ours = not self._ray.is_initialized()
        if self._ours:
            options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
            if address is None:
                options |= {"num_cpus": workers, "include_dashboard": False}
            try:
                self._ray.init(address=address, **options)
            except (ConnectionError, ValueError) as error:
                raise LockstepError(f"no Ray cluster answers at {address}: {error}") from error
        # A point that takes its worker with it is tried again by the campaign, not by Ray.
        self._task = self._ray.remote(max_retries=0)(attempt)
        self._run = self._ray.put(run)
        self._numbers: dict[Any, int] = {}
        self.room = _AHEAD * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, number: int, point: object) -> None:
        """Take a point."""
        self._numbers[self._task.remote(self._run, point)] = number

    def next(self) -> tuple[int, Attempt]:
        """Wait for a point."""
        done, _ = self._ray.wait(list(self._numbers), num_returns=1)
        number = self._numbers.pop(done[0])
        try:
            return number, self._ray.get(done[0])
        except self._ray.exceptions.RayError as error:
            return number, Attempt({}, f"its worker was lost ({type(error).__name__})")

    def close(self, now: bool = False) -> None:
        """End the cluster if it was started here."""
        for reference in self._numbers if now else ():
            self._ray.cancel(reference, force=True)
        if self._ours:
            self._ray.shutdown()


def _library(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise LockstepError(
            f"executor {extra} needs {module}: pip install 'lockstep-gpu[{extra}]'"
        ) from None
