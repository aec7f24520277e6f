"""Modules of machine code: kernels of a cubin, constant banks, variables."""

import hashlib
import math
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lockstep.device.arguments import Parameter
from lockstep.device.array import DeviceArray
from lockstep.device.cluster import ClusterError, Triple
from lockstep.device.driver_calls import needs_driver
from lockstep.device.module import Kernel, Launcher, Module
from lockstep.errors import InputError, WorkloadError
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.programs.program import Program, Recording
from lockstep.execution.programs.services import CUDA, SERVICES
from lockstep.execution.sass.image import ModuleImage, Section, jump_table
from lockstep.execution.sass.program import translate
from lockstep.execution.sass.source import Decoded, Source, reserved_places
from lockstep.execution.state import (
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    address_of,
    function_at,
)
from lockstep.isa.instruction import MOST_THREADS
from lockstep.isa.sass.binary import (
    CODE,
    DESCRIPTORS,
    Cubin,
    Function,
    Relocation,
    lines,
    read_cubin,
    relocated,
    relocated_functions,
    span,
)

PADDING = 16  # bytes behind a constant bank or a variable, which wide loads may touch
# Where constant bank 0 holds the block, the grid, the address of local memory in the generic
# space, the end of a thread's stack, the bytes of dynamic shared memory, the number of SMs and the
# bytes of shared memory that are the system's, on all of Volta to Hopper; of shared memory up to
# Ada, which has a special register for it later; and of constant bank 3, as seen in code for it.
# Up to Ada code adds a parameter's place in bank 0 to the generic address of the bank.
_BLOCK, _GRID, _LOCAL, _SMS, _RESERVED = 0x0, 0xC, 0x20, 0x10C, 0x114
_SHARED, _CONSTANTS, _HOPPER_CONSTANTS, HOPPER = 0x18, 0x50, 0xD0, 90
_BANK = 0x40
# The halves of the cooperative grid's workspace, high and low, up to Ada and on Hopper: what
# %envreg1 and %envreg2 become in the code that ptxas makes.
_WORKSPACE, _HOPPER_WORKSPACE = (0x8C, 0x90), (0x44, 0x48)
# On Hopper: whether the launch has clusters, how many CTAs along each axis and together, the
# inverses of these (f32), and how many clusters along each axis: what %cluster_nctaid and so on
# become.
_CLUSTER, _PER_CLUSTER, _CLUSTERS, _CLUSTER_CTAS = 0x140, 0x150, 0x15C, 0x188
_PARAMETERS = 0x198  # on Hopper: their generic address
_ZERO = ("__UFT_OFFSET", "__UDT_OFFSET")  # of a module's tables among those of all modules
_TYPES = {"float": "f32", "double": "f64"}
# CUDA's runtime for device code, whose functions are not executed but served, and what only
# programs have that are linked with it: others have functions of these names that refuse.
_RUNTIME = frozenset(name for name in SERVICES if name.startswith(CUDA))
_LINKED = "__CNPRT_VERSION_NUMBER__"


class CubinModule(Module):
    """A loaded cubin. Constant banks and variables are in device memory."""

    def __init__(
        self, device: Launcher, data: bytes, path: Path, variables: Mapping[str, int] | None = None
    ):
        """``variables``: addresses of those that lie elsewhere, by name."""
        super().__init__(device, str(path), data)
        self.cubin: Cubin = read_cubin(data, path)
        self.architecture = self.cubin.architecture
        defined = {symbol.name for symbol in self.cubin.symbols}
        self._runtime = _RUNTIME if _LINKED in defined else frozenset[str]()
        called = {relocation.symbol for relocation in self.cubin.relocations}
        self.services = tuple(n for n, name in enumerate(SERVICES) if name in called)
        self._refused = needs_driver(self.cubin, self._runtime)
        left_out = self._runtime | self._refused.keys()
        own = [f for f in self.cubin.functions if f.is_kernel or f.name not in left_out]
        self.image = ModuleImage(own)
        self._names = [f.name for f in own if f.is_kernel]
        self.lines = lines(self.cubin)
        self._sections = self._place_sections()
        self._sizes: dict[str, int] = {}
        for symbol in self.cubin.symbols:
            if symbol.kind == "object" and symbol.section in self._sections:
                place = self._sections[symbol.section] + symbol.offset
                self.addresses[symbol.name] = (variables or {}).get(symbol.name, place)
                self._sizes[symbol.name] = symbol.size
        for relocation in self.cubin.relocations:
            self._relocate_data(relocation)
        executed = [
            r for r in self.cubin.relocations if r.section.removeprefix(CODE) not in self._refused
        ]
        functions = relocated_functions(own, executed, self._relocated)
        self.image = ModuleImage(functions)
        self.code_key = hashlib.sha256(b"".join(f.code for f in functions)).hexdigest() + self.key
        self._functions = {f.name: f for f in functions if f.is_kernel}
        self.decoded: dict[Section, Decoded] = {}

    @property
    def code(self) -> str:
        """What its code is, for people."""
        return f"machine code of sm_{self.architecture}"

    @property
    def entries(self) -> list[str]:
        """Names of its kernels."""
        return list(self._functions)

    def kernel(self, name: str) -> "CubinKernel":
        """A new kernel object for an entry. Raises :class:`InputError` if it needs a driver."""
        if name in self._refused:
            raise InputError(self.name, f"kernel {name}", self._refused[name])
        return CubinKernel(self, self._functions[name])

    def kernel_at(self, address: int) -> Kernel | None:
        """The kernel of an address that code, or a table of functions, has of it."""
        name = function_at(self._names, address)
        return self[name] if name else None

    def variable(self, name: str) -> DeviceArray:
        """A variable as bytes: a cubin does not tell its type."""
        return DeviceArray(
            self.device, self.addresses[name], (self._sizes[name],), np.uint8, owner=self
        )

    def bank(self, number: int) -> int:
        """Device address of a constant bank that all kernels share; 0 if it is empty."""
        return self._sections.get(f".nv.constant{number}", 0)

    def _place_sections(self) -> dict[str, int]:
        cubin = self.cubin
        # Machine code reads several words at once, and past a variable that is the last.
        contents = {
            ".nv.global.init": cubin.initial + bytes(-len(cubin.initial) % PADDING),
            **{f".nv.constant{n}": data + bytes(PADDING) for n, data in cubin.constants.items()},
        }
        places = {name: self.place(content) for name, content in contents.items() if content}
        if size := -(-cubin.global_bytes // PADDING) * PADDING:
            places[".nv.global"] = self.device.memory.allocate(size, hidden=True)
            self.device.memory.view(places[".nv.global"], size)[:] = 0
        return places

    def place(self, content: bytes) -> int:
        """Device address of a copy of some bytes, for as long as the device lives."""
        memory = self.device.memory
        address = memory.allocate(len(content), hidden=True)
        memory.view(address, len(content))[:] = np.frombuffer(content, np.uint8)
        return address

    def _relocate_data(self, relocation: Relocation) -> None:
        """Write a symbol's address into memory; debugging information keeps its own."""
        section = relocation.section
        if section.startswith((CODE, ".debug_", ".nv_debug_", ".nv.info")):
            return
        if section not in self._sections:
            raise InputError(self.name, f"section {section}", "it cannot have relocations")
        start = self._sections[section] + relocation.offset
        place = self.device.memory.view(start, span(relocation.kind))
        place[:] = np.frombuffer(self._relocated(relocation, place.tobytes()), np.uint8)

    def _relocated(self, relocation: Relocation, old: bytes) -> bytes:
        """Bytes of the cubin with the address of the symbol that a relocation names.

        Where a kernel is to be launched, it has another one than in its own code.
        """
        name = relocation.symbol
        launched = relocation.kind in DESCRIPTORS and name in self._names
        address = address_of(self._names, name) if launched else self._address(name)
        try:
            return relocated(relocation, old, address)
        except KeyError:
            message = f"relocation {relocation.kind} of {name} is not supported"
            raise InputError(self.name, f"section {relocation.section}", message) from None

    def _address(self, name: str) -> int:
        """The address of a variable, or of a function in the code of a kernel that calls it."""
        if name in self.addresses:
            return self.addresses[name]
        if name in _ZERO or name in self._refused:
            return 0
        symbols = () if name in self._runtime else self.cubin.symbols
        for symbol in symbols:
            if symbol.name == name and symbol.section.startswith(".text."):
                return self.image.start(symbol.section.removeprefix(".text.")) + symbol.offset
        service = self.image.service(name)
        if service is None:
            raise InputError(self.name, f"symbol {name}", "it is not defined in the cubin")
        return service


class CubinKernel(Kernel):
    """A kernel of a cubin."""

    module: CubinModule

    def __init__(self, module: CubinModule, function: Function):
        super().__init__(module, function.name, _parameters(function))
        self.function = function
        self._banks = {
            n: module.place(data + bytes(PADDING)) for n, data in function.constants.items() if n
        }
        self._program: Program | None = None

    def translate(self, recording: Recording) -> Program:
        """The kernel as machine code of this host."""
        module, function = self.module, self.function
        local = max(function.local_bytes, function.stack_bytes)
        source = Source(
            name=self.name,
            file=module.name,
            architecture=module.architecture,
            sections=module.image.sections(function),
            entries=module.image.entries(function, module.cubin.symbols),
            jumps=jump_table(function),
            services=module.services,
            local_bytes=-(-local // 16) * 16,
            shared_bytes=function.shared_bytes,
            reserved_shared=function.reserved_shared,
            lines=module.lines,
            for_debuggers=module.cubin.for_debuggers,
            decoded=module.decoded,
        )
        self._program = translate(source, module.code_key, recording)
        return self._program

    @property
    def most_threads(self) -> int:
        """In the largest block that it was compiled for."""
        return self.function.most_threads or MOST_THREADS

    def check_block(self, block: tuple[int, int, int]) -> None:
        """Refuse blocks that are larger than it was compiled for."""
        most = self.function.most_threads
        if most and math.prod(block) > most:
            raise WorkloadError(
                f"kernel {self.name}: a block of {math.prod(block)} threads; it was compiled for "
                f"{most} (__launch_bounds__)"
            )

    @property
    def required_cluster(self) -> Triple | None:
        """The clusters that it was compiled for, if it says so."""
        return self.function.cluster

    def cluster(self, asked: Triple | None) -> Triple | None:
        """What it was compiled for, or what the launch asks for."""
        required = self.function.cluster
        if required is not None and asked not in (None, required):
            raise ClusterError(
                f"kernel {self.name}: clusters of {asked} CTAs; it was compiled for {required}"
            )
        if asked is not None and math.prod(asked) > 1 and self.module.architecture < HOPPER:
            raise ClusterError(f"kernel {self.name}: {self.module.code} has no clusters")
        return asked or required

    def address(self, symbol: str) -> int:
        """Where a constant bank is, by its name in programs: ``bank3``."""
        number = int(symbol.removeprefix("bank"))
        return self._banks[number] if number in self._banks else self.module.bank(number)

    def block(self, parameters: bytes, geometry: Geometry) -> np.ndarray:
        """Constant bank 0: geometry, stack, parameters."""
        base = self.function.parameter_base
        bank = bytearray(max(base + len(parameters), len(self.function.constants.get(0, b""))))
        struct.pack_into("<3I", bank, _BLOCK, *geometry.block)
        struct.pack_into("<3I", bank, _GRID, *geometry.grid)
        assert self._program is not None, "a launch has translated it"
        stack = self._program.thread_bytes(geometry.stack_bytes)
        struct.pack_into("<QII", bank, _LOCAL, LOCAL_WINDOW, stack, geometry.dynamic_shared)
        struct.pack_into("<I", bank, _SMS, self.module.device.limits.sms)
        reserved = self._program.reserved_shared
        places = reserved_places(self.module.architecture)
        struct.pack_into("<I", bank, _RESERVED, reserved)
        workspace = _HOPPER_WORKSPACE
        if self.module.architecture < HOPPER:
            workspace = _WORKSPACE
            struct.pack_into("<Q", bank, _SHARED, SHARED_WINDOW)
            struct.pack_into("<Q", bank, _CONSTANTS, self.module.bank(3))
            struct.pack_into("<Q", bank, _BANK, PARAMETER_WINDOW)
        else:
            struct.pack_into("<Q", bank, _HOPPER_CONSTANTS, self.module.bank(3))
            struct.pack_into("<Q", bank, _PARAMETERS, PARAMETER_WINDOW + base)
            _describe_clusters(bank, geometry)
        if places and reserved:
            own = self._program.shared_bytes + geometry.dynamic_shared
            first = own if self._program.reserved_last else 0
            for place, offset in zip(places, (first + reserved, -(-first // 16) * 16)):
                struct.pack_into("<I", bank, place, offset)
        for place, half in zip(workspace, divmod(geometry.workspace, 1 << 32)):
            struct.pack_into("<I", bank, place, half)
        bank[base : base + len(parameters)] = parameters
        return np.frombuffer(bytes(bank) + bytes(PADDING), np.uint8).copy()


def _describe_clusters(bank: bytearray, geometry: Geometry) -> None:
    """What code for Hopper reads of its launch's clusters."""
    clusters = [blocks // ctas for blocks, ctas in zip(geometry.grid, geometry.cluster)]
    struct.pack_into("<4I", bank, _CLUSTER, geometry.explicit, *geometry.cluster)
    struct.pack_into("<3f", bank, _PER_CLUSTER, *(1 / ctas for ctas in geometry.cluster))
    struct.pack_into("<3I", bank, _CLUSTERS, *clusters)
    struct.pack_into("<I", bank, _CLUSTER_CTAS, geometry.cluster_ctas)


def _parameters(function: Function) -> list[Parameter]:
    """Offsets and sizes are in the cubin; types only in a mangled name."""
    titles = function.title.partition("(")[2].removesuffix(")").split(", ")
    known = titles if len(titles) == len(function.parameters) else [""] * len(function.parameters)
    return [
        Parameter(*_type(title, p.size, p.offset)) for title, p in zip(known, function.parameters)
    ]


def _type(title: str, size: int, offset: int) -> tuple[str, int, int, tuple[int, ...]]:
    if title in _TYPES:
        return _TYPES[title], offset, size, ()
    if size in (1, 2, 4, 8):
        return f"b{8 * size}", offset, size, ()
    return "b8", offset, size, (size,)
