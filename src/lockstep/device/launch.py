"""A kernel launch and what is known of it."""

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from lockstep import notebook
from lockstep.device.arguments import Parameter
from lockstep.device.owner import OwningDevice
from lockstep.device.treatment import Treatment
from lockstep.errors import LockstepError
from lockstep.execution.device_runtime.tasks import GridTasks
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.launches.launch import Executor
from lockstep.execution.launches.resident import Resident
from lockstep.execution.programs.profile import Profile
from lockstep.execution.programs.program import Program, Recording
from lockstep.names import short_name

if TYPE_CHECKING:
    from lockstep.engine.record import KernelRun


class LaunchedModule(Protocol):
    """What a launch knows of the module of its kernel."""

    key: str

    @property
    def device(self) -> OwningDevice:
        """To which it belongs."""
        ...

    @property
    def architecture(self) -> int:
        """Version of its code: 70, 75 ..."""
        ...

    @property
    def code(self) -> str:
        """What its code is, for people."""
        ...


class LaunchedKernel(Protocol):
    """What a launch knows of its kernel."""

    name: str
    parameters: list[Parameter]

    @property
    def module(self) -> LaunchedModule:
        """What it was loaded with."""
        ...

    @property
    def program(self) -> Program:
        """The kernel as launches execute it now."""
        ...

    def executor(self, recording: Recording) -> Executor:
        """The kernel loaded into this process, translated when first asked for."""
        ...

    def block(self, parameters: bytes, geometry: Geometry) -> np.ndarray:
        """What the kernel's code finds where its parameters are (uint8)."""
        ...


class Launch(msgspec.Struct):
    """One launch, executed in order with the others of its stream."""

    kernel: LaunchedKernel
    geometry: Geometry
    parameters: bytes
    stream: int
    arguments: tuple  # kept, so that their memory lives until the launch ends
    id: int = 0  # among the device's launches, from 1
    treatment: Treatment = Treatment.SIMULATE
    run: "KernelRun | None" = None  # what the timing model counted
    error: LockstepError | None = None  # why it failed
    counters: Profile | None = None
    forced: int = 0  # times that lanes went on without others that could not come
    launched_by: int = 0  # the id of the launch whose kernel launched it; 0 = the host did
    tasks: GridTasks | None = None  # what it left to be done after it

    def __repr__(self) -> str:
        """What was launched and what is known of it by now: nothing is waited for."""
        shape, timing = self.geometry, self.device.timing
        if self.error is not None:
            state = "failed"
        elif self.run is not None:
            state = f"{self.run.cycles:,} cycles"
        else:
            state = "queued" if timing and timing.queues(self) else "executed"
        stream = f" in stream {self.stream}" if self.stream else ""
        name = short_name(self.kernel.name)
        return f"<Launch {self.id}: {name}[{shape.grid}, {shape.block}]{stream}, {state}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        shape, run = self.geometry, self.run
        values = {"grid": shape.grid, "block": shape.block, "stream": self.stream}
        known = None if run is None else run.cycles
        error = None if self.error is None else str(self.error)
        title = f"Launch {self.id} of {short_name(self.kernel.name)}"
        return notebook.facts(title, {**values, "cycles": known, "failed": error})

    @property
    def device(self) -> OwningDevice:
        """On which it runs."""
        return self.kernel.module.device

    @property
    def cycles(self) -> int:
        """Core cycles from the launch to the end of its last CTA; waits for it."""
        return self.timed().cycles

    @property
    def seconds(self) -> float:
        """The same as simulated time."""
        return self.cycles / (self.device.gpu.clock_mhz * 1e6)

    @property
    def code(self) -> str:
        """16 hexadecimal digits that stand for its code: its module's content and its name."""
        kernel = self.kernel
        return hashlib.sha256(f"{kernel.module.key} {kernel.name}".encode()).hexdigest()[:16]

    @property
    def registers(self) -> int:
        """Of a thread."""
        return self._executor.program.registers

    @property
    def shared_bytes(self) -> int:
        """Of a CTA, static and dynamic."""
        return self._executor.program.shared_bytes + self.geometry.dynamic_shared

    @property
    def _executor(self) -> Executor:
        return self.kernel.executor(self.device.recording)

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of the launch by name; NaN where one is undefined."""
        from lockstep.metrics import facts, registry

        gpu = self.device.gpu
        return registry.evaluate(registry.columns(gpu), facts.of_kernel(self.timed(), gpu))

    @property
    def profile(self) -> dict[str, float]:
        """What it executed, whatever the GPU: instructions, accesses, sectors."""
        self.wait()
        return self.profiled().metrics()

    def profiled(self) -> Profile:
        """What was counted of its execution, which has ended.

        Raises :class:`LockstepError` if the device has no ``profile``.
        """
        if self.counters is None:
            raise LockstepError("this launch was not profiled: create the device with profile=True")
        return self.counters

    def ended(self, resident: Resident) -> None:
        """Take what its execution counted."""
        self.forced, self.tasks = resident.forced, resident.tasks

    def fail(self, error: LockstepError) -> None:
        """Note why it ended early."""
        self.error = error

    def wait(self) -> None:
        """Wait for the launch; raises what it failed of."""
        self.device.synchronize()
        if self.error is not None:
            raise self.error

    def timed(self) -> "KernelRun":
        """What the timing model counted; waits for it.

        Raises :class:`LockstepError` if it was not simulated, and what it failed of.
        """
        self.wait()
        if self.run is None:
            raise LockstepError(self._why_untimed())
        return self.run

    def _why_untimed(self) -> str:
        if not self.device.timing:
            return "this launch was not simulated: create the device with timing=True"
        if self.treatment is not Treatment.SIMULATE:
            return f"this launch was not simulated: its treatment is {self.treatment.name}"
        return "the simulation ended before this launch"


Choose = Callable[[Launch], Treatment]
"""Asked for each launch, in order, before it is queued. It may look at everything of the launch
but what comes of it."""
