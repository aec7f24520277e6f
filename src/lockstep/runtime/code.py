"""The modules and kernels of one program, on each device that it uses them on.

A program loads a module once, and launches its kernels on whichever device it has set: the first
time on another one, the module is loaded there as well.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lockstep.device import Device, Module
from lockstep.errors import InputError, LockstepError, WorkloadError
from lockstep.runtime.answers import CallAnswer, Handles, Refused
from lockstep.runtime.images import (
    Entry,
    NoImage,
    check_text,
    find_entry,
    is_ptx,
    load_image,
)
from lockstep.runtime.simulator import Simulator
from lockstep.runtime.status import Status


class ManagedVariable(NamedTuple):
    """A variable that the host and the kernels of all devices have in one place."""

    module: int
    name: str
    bytes: int


class ProgramCode:
    """Modules by their handles and kernels by theirs, and what they are on each device."""

    def __init__(
        self, simulator: Simulator, new_handle: Callable[[], int], current: Callable[[], Device]
    ):
        """``current``: the device that the program has set."""
        self.simulator, self._new_handle, self._current = simulator, new_handle, current
        self._images: dict[int, bytes] = Handles()  # of the modules
        self._modules: dict[tuple[int, Device], Module] = {}
        self._kernels: dict[int, tuple[int, str]] = Handles()  # module and name
        self._entries: dict[tuple[int, Device], Entry] = {}
        self.managed: dict[int, ManagedVariable] = {}  # by address
        self._problem = ""  # with the code that came last

    @property
    def device(self) -> Device:
        """That the program has set."""
        return self._current()

    def clear(self) -> None:
        """Forget all of it."""
        for table in (self._entries, self._kernels, self._modules, self._images, self.managed):
            table.clear()

    def entry(self, handle: int) -> Entry:
        """A kernel on the device that is set."""
        module, name = self._kernels[handle]
        if (handle, self.device) not in self._entries:
            self._entries[handle, self.device] = self._find(module, name)
        return self._entries[handle, self.device]

    def _module(self, handle: int) -> Module:
        """A module on the device that is set. Raises :class:`Refused`."""
        data = self._images[handle]
        if (handle, self.device) not in self._modules:
            try:
                self._modules[handle, self.device] = self._load(data, self._managed_of(handle))
            except NoImage as error:
                raise Refused(Status.NO_BINARY, error) from error
            except WorkloadError:
                raise
            except LockstepError as error:
                status = Status.INVALID_PTX if is_ptx(data) else Status.INVALID_IMAGE
                raise Refused(status, error) from error
        return self._modules[handle, self.device]

    def load_module(self, fields: dict, data: bytes) -> CallAnswer:
        """Load the best image of a binary."""
        handle = self._new_handle()
        self._images[handle] = data
        try:
            with self._noting_problem():
                self._module(handle)
        except (Refused, LockstepError):
            del self._images[handle]
            raise
        return CallAnswer((handle,))

    def check_ptx(self, fields: dict, data: bytes) -> CallAnswer:
        """Refuse what is no PTX."""
        with self._noting_problem():
            try:
                check_text(data)
            except LockstepError as error:
                raise Refused(Status.INVALID_PTX, error) from error
        return CallAnswer()

    def code_problem(self, fields: dict, data: bytes) -> CallAnswer:
        """Why the last code that was to be loaded or checked was refused."""
        return CallAnswer(data=self._problem.encode())

    @contextlib.contextmanager
    def _noting_problem(self) -> Iterator[None]:
        self._problem = ""
        try:
            yield
        except Refused as refused:
            self._problem = " ".join(str(refused.problem).splitlines())
            raise
        except LockstepError as error:
            self._problem = " ".join(str(error).splitlines())
            raise

    def list_kernels(self, fields: dict, data: bytes) -> CallAnswer:
        """The names of a module's kernels."""
        names = self._module(fields["module"]).entries
        return CallAnswer(data=b"".join(name.encode() + b"\0" for name in names))

    def _load(self, data: bytes, variables: Mapping[str, int]) -> Module:
        """The best image of a binary, or its PTX if the best one cannot be loaded."""
        try:
            return load_image(self.device, data, self.simulator.ptx, variables)
        except NoImage:
            raise
        except LockstepError as problem:
            try:
                module = load_image(self.device, data, True, variables)
            except LockstepError:
                raise problem from None
            self.simulator.report(f"{problem}; the module's PTX is executed instead")
            return module

    def unload_module(self, fields: dict, data: bytes) -> CallAnswer:
        """Forget a module."""
        del self._images[fields["module"]]
        for address in self._managed_of(fields["module"]).values():
            del self.managed[address]
        for place in [place for place in self._modules if place[0] == fields["module"]]:
            del self._modules[place]
        return CallAnswer()

    def _managed_of(self, handle: int) -> dict[str, int]:
        """Addresses of a module's managed variables that are known, by name."""
        return {v.name: address for address, v in self.managed.items() if v.module == handle}

    def find_kernel(self, fields: dict, data: bytes) -> CallAnswer:
        """A kernel's handle, needs and parameters."""
        name = data.decode("utf-8", "replace")
        entry = self._find(fields["module"], name)
        handle = self._new_handle()
        self._kernels[handle] = fields["module"], name
        self._entries[handle, self.device] = entry
        facts = (handle, entry.registers, entry.shared_bytes, entry.local_bytes, 0)
        counts = (entry.most_threads, len(entry.places), entry.parameter_bytes)
        module = entry.kernel.module
        versions = module.target, module.architecture
        cluster = entry.kernel.required_cluster or (0, 0, 0)
        return CallAnswer(
            (*facts, *counts, *versions, *cluster), np.array(entry.places, "<u8").tobytes()
        )

    def _find(self, handle: int, name: str) -> Entry:
        try:
            return find_entry(self._module(handle), name)
        except WorkloadError as error:
            raise Refused(Status.NOT_FOUND, error) from error
        except LockstepError as error:
            return self._turn_to_ptx(handle, name, error)

    def _turn_to_ptx(self, handle: int, name: str, problem: LockstepError) -> Entry:
        """A kernel whose machine code cannot be executed, from its module's PTX.

        The whole module is PTX from now on, kernels that were handed out before included, as far as
        theirs can be executed. Its variables stay where they are.
        """
        machine_code = self._modules[handle, self.device]
        try:
            module = load_image(self.device, self._images[handle], True, machine_code.addresses)
            entry = find_entry(module, name)
        except NoImage as error:
            why = f"{problem}; the program has no PTX of it (nvcc -gencode code=compute_XX adds it)"
            raise Refused(Status.NOT_SUPPORTED, why) from error
        except LockstepError as error:
            same = isinstance(error, InputError) and str(problem).endswith(error.message)
            why = "" if same else f"; nor can its PTX: {error}"
            raise Refused(Status.NOT_SUPPORTED, f"{problem}{why}") from error
        self._modules[handle, self.device] = module
        for place, before in self._entries.items():
            if before.kernel.module is machine_code:
                with contextlib.suppress(LockstepError):
                    self._entries[place] = find_entry(module, before.kernel.name)
        self.simulator.report(f"{problem}; the module's PTX is executed instead")
        return entry

    def find_variable(self, fields: dict, data: bytes) -> CallAnswer:
        """Where a variable is."""
        module = self._module(fields["module"])
        name = data.decode("utf-8", "replace")
        try:
            variable = module.symbol(name)
        except WorkloadError as error:
            raise Refused(Status.INVALID_SYMBOL, error) from error
        if fields["managed"]:
            place, memory = variable.pointer, self.simulator.home(variable.pointer).memory
            self.managed[place] = ManagedVariable(fields["module"], name, variable.nbytes)
            if (allocation := memory.find(place)) is not None:
                memory.open_to_all(allocation[0])
        return CallAnswer((variable.pointer, variable.nbytes))
