"""The device: memory, modules and launches of one modelled GPU."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from lockstep import notebook
from lockstep.api import gpu as find_gpu
from lockstep.device import allocation, copies, launching, ptx
from lockstep.device import image as images
from lockstep.device import tensor_map as tensor_maps
from lockstep.device.array import DeviceArray
from lockstep.device.beginning import timing_alone
from lockstep.device.families import Families
from lockstep.device.launch import Launch, LaunchedKernel
from lockstep.device.limits import check_stack
from lockstep.device.module import Kernel, Module, read
from lockstep.device.options import DeviceOptions
from lockstep.device.patience import Patience
from lockstep.device.peers import PeerTable, Seat
from lockstep.device.properties import attributes
from lockstep.device.recording import Recorder, check_recording
from lockstep.device.streams import Event, Stream, StreamTable
from lockstep.device.texture import Sampler, Texture
from lockstep.device.timing import JointTiming, Timing
from lockstep.device.treatment import Treatment
from lockstep.device.watching import Watcher
from lockstep.errors import LockstepError
from lockstep.execution.checks.findings import Findings
from lockstep.execution.checks.kinds import checks_of
from lockstep.execution.launches.geometry import Geometry, Limits
from lockstep.execution.launches.launch import announce_compilation
from lockstep.execution.launches.services import Services
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.memory.storage import Storage
from lockstep.execution.programs.program import Recording
from lockstep.gpus.spec import GPU
from lockstep.host_calls import HostCommand, Synchronize
from lockstep.metrics.result import Result
from lockstep.workload import MemoryCopy, Workload

R = TypeVar("R", bound=Recorder)


class Device:
    """A modelled GPU that executes kernels.

    The options are the fields of :class:`.DeviceOptions`, which says what they mean, and policies
    by their names: ``Device("H100", timing=True, threads=2)``.

    ``launches`` lists what was launched, if there is more to know of it: with timing or profile,
    and unless somebody watches.
    A context manager: closes at its end. Devices of a :class:`lockstep.System` are made by that;
    ``index`` is the number of such a one, and ``peers`` says whose memory it may access.
    """

    index = 0
    peers: PeerTable | None = None
    timing: Timing | None = None

    def __init__(self, gpu: GPU | str | Path = "QV100", **options: Any):
        made = DeviceOptions.of(options)
        self.gpu = gpu if isinstance(gpu, GPU) else find_gpu(gpu)
        size, checks = made.memory_of(self.gpu), checks_of(made.check)
        self._furnish(made, DeviceMemory(size, made.shared_memory, checks), count(1))
        if made.timing:
            self.timing = timing_alone(self, made)

    @classmethod
    def seated(
        cls, gpu: GPU, options: DeviceOptions, place: Seat, joint: JointTiming | None
    ) -> Self:
        """A device of a system; ``joint`` simulates all of them."""
        device = cls.__new__(cls)
        device.gpu, device.index, device.peers = gpu, place.index, place.peers
        device._furnish(options, place.memory, place.events)
        if joint is not None:
            device.timing = Timing(gpu, place.memory, joint, place.index)
        return device

    def _furnish(self, options: DeviceOptions, memory: DeviceMemory, events: Iterator[int]) -> None:
        """All but the timing; ``events``: their numbers."""
        self.name, self.profiling, self.at_issue = options.name, options.profile, options.at_issue
        self.memory, checks = memory, checks_of(options.check)
        self.findings = Findings(checks, memory)
        self.services = Services(memory, options.heap_bytes)
        self.services.cuda.attributes = attributes(self.gpu)
        self.limits = Limits(options.limit_instructions, self.gpu.sm.count)
        self.stack_bytes = check_stack(options.stack_bytes, self.gpu, memory.capacity)
        self.storage = Storage()
        self.recorder: Recorder | None = None
        self.watcher: Watcher | None = None
        self._streams = StreamTable(self)
        self.default_stream = self._streams.find(None)
        if options.notice:
            announce_compilation(options.notice)
        self.patience = Patience(options.notice)
        self._families = Families(self)
        self.tell_child: Callable[[Launch], None] | None = None  # of a launch by a kernel
        self._events = events
        self._choose, self.stop = options.choose, options.stop
        self.launches: list[Launch] = []
        self._launched = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        try:
            if kind is None:
                self.drain()
        except BaseException as problem:
            error = problem
            raise
        finally:
            if error is not None and self.timing is not None:
                self.timing.fail(error)
            self.close()

    def __repr__(self) -> str:
        how = "timed" if self.timing else "functional"
        return f"<Device {self.gpu.name}, {how}, {self._launched} launches>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        values = {"timing": bool(self.timing), "launches": self._launched}
        return notebook.facts(f"Device {self.gpu.name}", values)

    @property
    def recording(self) -> Recording:
        """What launches tell of what they do."""
        return launching.recording_of(self)

    def check_open(self) -> None:
        """Raise if the device is closed."""
        if not self.memory.base:
            raise LockstepError("the device is closed")

    # Memory

    def array(self, values: Any) -> DeviceArray:
        """Copy an array-like to the device; raises :class:`LockstepError` if it has no numbers."""
        return allocation.array(self, values)

    def sampler(self, *arguments: Any, **options: Any) -> Sampler:
        """A sampler for textures that kernels name apart from it: :class:`Sampler`."""
        self.check_open()
        return Sampler(self, *arguments, **options)

    def texture(self, values: Any, *arguments: Any, **options: Any) -> Texture:
        """A texture, or surface, of an array-like; the arguments are those of :class:`Texture`."""
        self.check_open()
        return Texture(self, values, *arguments, **options)

    def image(self, values: Any, normalized: bool = False) -> images.ImageArray:
        """An image of an array-like, for OpenCL kernels: (depth,) height, width, channels.

        ``normalized``: integers are read and written as numbers from 0 (or -1) to 1.
        """
        return images.image(self, values, normalized)

    def tensor_map(self, array: DeviceArray, box: Any, **options: Any) -> tensor_maps.TensorMap:
        """A tensor map of an array, for bulk tensor copies: see :func:`.tensor_map.tensor_map`."""
        return tensor_maps.tensor_map(array, box, **options)

    def im2col_map(
        self, array: DeviceArray, channels: int, pixels: int, **options: Any
    ) -> tensor_maps.TensorMap:
        """A tensor map for copies in im2col mode: see :func:`.tensor_map.im2col_map`."""
        return tensor_maps.im2col_map(array, channels, pixels, **options)

    def managed(self, values: Any) -> DeviceArray:
        """An array of an array-like in managed memory, which the host has at first.

        Where ``gpu.host.memory`` is "migrating" its pages come to the GPU when kernels access them,
        and back when the host reads or writes the array; elsewhere it is as :meth:`array`.
        """
        return allocation.managed(self, values)

    def allocate_managed(self, size: int) -> int:
        """Address of managed memory: where pages migrate, no other memory shares one of them."""
        return allocation.allocate_managed(self, size)

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float32) -> DeviceArray:
        """An array without defined content."""
        return allocation.empty(self, shape, dtype)

    def zeros(self, shape: int | tuple[int, ...], dtype: Any = np.float32) -> DeviceArray:
        """An array of zeros, written by the device: no copy from the host."""
        return allocation.zeros(self, shape, dtype)

    @property
    def host_takes_time(self) -> bool:
        """Whether launches are simulated, and calls and copies of the host as well."""
        return self.timing is not None and self.timing.host_takes_time

    def asks(self, command: HostCommand | MemoryCopy) -> None:
        """Note a call of the host, or a copy that is not from it; of effect if it takes time."""
        if self.timing and self.timing.host_takes_time:
            self.timing.asked(command)

    def copied(self, pointer: int, size: int, stream: int = 0, blocking: bool = True) -> None:
        """Note that the host wrote device memory, and whether it waits for that."""
        copies.wrote(self, MemoryCopy(pointer, size, stream=stream, blocking=blocking))

    def will_copy(self, copy: MemoryCopy, content: memoryview) -> None:
        """Note a copy from the host; if it was not done yet, that is done in its turn."""
        copies.tell(self, copy, content)

    # Code

    def load_ptx(
        self,
        source: str | Path,
        variables: Mapping[str, int] | None = None,
        *,
        lazy: bool = False,
        legal: bool = False,
    ) -> ptx.PtxModule:
        """A module from PTX text, or from the file that a path names; several in it are linked.

        ``variables``: device addresses of variables that are not to be made, by name, as of a
        module of machine code that was compiled from the same source. Raises :class:`InputError`
        if it is no PTX, or if anything in it cannot be executed; with ``lazy``, what cannot be
        executed is refused when a kernel that needs it is first launched; with ``legal``, too,
        instructions that PTX does not have are refused at once.
        """
        self.check_open()
        return ptx.load(self, source, variables, lazy, legal)

    def load_cubin(
        self, source: str | Path | bytes, variables: Mapping[str, int] | None = None
    ) -> Module:
        """A module of machine code from the bytes of a cubin, or from the file that a path names.

        Architectures are sm_70, sm_75, sm_80, sm_86, sm_89 and sm_90, whatever the modelled GPU.
        A cubin does not say which parameters of ``extern "C"`` kernels are floating-point: pass
        Python floats or NumPy scalars where they are. ``variables``: as of :meth:`load_ptx`.
        """
        from lockstep.device import cubin

        self.check_open()
        return cubin.CubinModule(self, *read(source, "<cubin>"), variables or {})

    def load_gcn(self, source: str | Path | bytes) -> Module:
        """A module of OpenCL kernels that were compiled for Southern Islands (Tahiti), whatever
        the modelled GPU: from the bytes of a binary, or from the file that a path names.

        ``module[name][global_size, local_size](*arguments)`` launches a kernel;
        :func:`lockstep.local` stands for local memory.
        """
        from lockstep.device import gcn

        self.check_open()
        return gcn.GcnModule(self, *read(source, "<binary>"))

    def compile(self, source: str, arch: str = "sm_70", options: tuple[str, ...] = ()) -> Module:
        """A module from CUDA C++ text, compiled by NVRTC (``pip install 'lockstep-gpu[cuda]'``).

        Kernels without ``extern "C"`` have mangled names; ``module[name]`` finds them by their
        plain name if it is unique. Raises :class:`LockstepError` with the compiler's log.
        """
        from lockstep.device.cuda import compile_cuda

        return self.load_ptx(compile_cuda(source, arch, options))

    def load_triton(
        self,
        kernel: Any,
        signature: dict[str, str],
        constants: dict[str, Any] | None = None,
        **options: Any,
    ) -> Kernel:
        """A kernel from a ``triton.jit`` function, see :func:`lockstep.device.triton.load`."""
        from lockstep.device import triton

        return triton.load(self, kernel, signature, constants, **options)

    def load_numba(self, kernel: Any, signature: Any, **options: Any) -> Kernel:
        """A kernel from a ``numba.cuda`` function, see :func:`lockstep.device.numba.load`."""
        from lockstep.device import numba

        return numba.load(self, kernel, signature, **options)

    # Launches

    def launch(
        self,
        kernel: Kernel,
        geometry: Geometry,
        parameters: bytes,
        stream: Stream,
        arguments: tuple,
        treatment: Treatment | None = None,
    ) -> Launch:
        """Execute a kernel; when its results are asked for, if it is to be simulated or warmed.

        What is only executed is executed at once, after those before it. Without ``treatment`` the
        device's ``choose`` says which. Kernels that it launches are executed, and simulated, before
        this returns.
        """
        self.check_open()
        self._families.check(kernel)
        launch = Launch(kernel, geometry, parameters, stream.number, arguments)
        self._begin(launch, treatment)
        if launch.treatment is Treatment.SIMULATE:
            stream.last = launch
        if kernel.program.launches:
            self._families.follow(launch, stream)
        return launch

    def begin(
        self,
        kernel: LaunchedKernel,
        geometry: Geometry,
        parameters: bytes,
        stream: Stream,
        parent: Launch,
    ) -> Launch:
        """The same of a kernel that another one launched, without what follows from it."""
        launch = Launch(kernel, geometry, parameters, stream.number, (), launched_by=parent.id)
        self._begin(launch, None)
        if self.tell_child is not None:
            self.tell_child(launch)
        return launch

    def _begin(self, launch: Launch, treatment: Treatment | None) -> None:
        self._launched += 1
        launch.id = self._launched
        if treatment is None and self._choose:
            treatment = self._choose(launch)
        launch.treatment = treatment or Treatment.SIMULATE
        launching.begin(self, launch)

    def synchronize(self) -> None:
        """Wait for all launches; raises the first error of one that failed since the last time."""
        if self.timing and self.timing.waits:
            self.asks(Synchronize())
        self.drain()

    def drain(self) -> None:
        """Do what waits, so that its results are there; the modelled host waits for nothing."""
        if self.recorder:
            self.recorder.waited()
        if self.timing:
            self.timing.synchronize()

    def stream(self, blocking: bool = True) -> Stream:
        """A new stream: its launches may run at the same time as those of others.

        Where the host takes time the rules of CUDA's default stream hold, unless ``blocking`` is
        false: stream 0 waits for the others, and they wait for it.
        """
        return self._streams.open(blocking)

    def find_stream(self, stream: "Stream | int | None") -> Stream:
        """A stream by itself or its number; the default one for None."""
        return self._streams.find(stream)

    def event(self) -> Event:
        """An event, to be placed in a stream by its ``record``."""
        return Event(self)

    def next_event(self) -> int:
        """The number of the next event that is recorded."""
        return next(self._events)

    # Results

    @property
    def clock(self) -> int:
        """The core cycle up to which everything is simulated."""
        return self._timed().clock

    @property
    def result(self) -> Result:
        """Cycles and counters of everything so far; waits for all launches."""
        self._timed()
        self.drain()
        return self.partial_result()

    def partial_result(self) -> Result:
        """Cycles and counters of what was simulated so far, without waiting for more."""
        timing = self._timed()
        workload = Workload(self.name, [])
        workload.digest = timing.digest
        return Result(timing.result(), self.gpu, workload, findings=self.findings.document())

    def record(self, path: str | Path, tracer: int = 6) -> Recorder:
        """Write what runs from now on as a trace; a context manager, or stopped by ``stop()``.

        A name that ends in .lst makes a file of lockstep's format, any other a directory that
        Accel-Sim reads (``tracer`` as of :func:`lockstep.save`). Simulating a trace of everything
        since the device was made gives the cycles that the device itself counts, unless ``tracer``
        leaves registers out.
        """
        return self.attach(lambda: Recorder(self, path, tracer))

    def attach(self, make: Callable[[], R]) -> R:
        """As :meth:`record`, with the recorder that ``make`` makes, after all launches so far."""
        check_recording(self)
        self.synchronize()
        self.recorder = recorder = make()
        return recorder

    def watch(self, watcher: Watcher) -> None:
        """Tell somebody of each launch from now on, instead of keeping all in ``launches``.

        So a program of any number of launches needs no more memory than what the watcher keeps.
        """
        launching.check_watcher(self, watcher)
        self.synchronize()
        self.watcher = watcher
        if self.timing:
            self.timing.ended = watcher.ended

    def close(self) -> None:
        """Free everything; arrays and modules of the device cannot be used any more."""
        if self.recorder:
            self.recorder.cancel()
        if self.timing:
            self.timing.close()
        self.memory.close()

    def _timed(self) -> Timing:
        if self.timing is None:
            raise LockstepError("nothing was simulated: create the device with timing=True")
        return self.timing
