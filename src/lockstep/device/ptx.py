"""Modules of PTX, their kernels and variables."""

import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lockstep.device.arguments import Parameter
from lockstep.device.array import DeviceArray
from lockstep.device.cluster import Triple, cluster_of, required_cluster
from lockstep.device.limits import check_directives
from lockstep.device.module import Kernel, Launcher, Module
from lockstep.device.texture import Sampler, Texture
from lockstep.errors import InputError, WorkloadError
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.programs.program import Program, Recording
from lockstep.execution.ptx.callgraph import function_address
from lockstep.execution.ptx.program import check, check_legal, translate
from lockstep.execution.state import function_at
from lockstep.isa.instruction import MOST_THREADS
from lockstep.isa.ptx import syntax
from lockstep.isa.ptx.linking import read

PADDING = 8  # bytes after the parameters, which wide loads may touch
_REFERENCES = ("texref", "surfref", "samplerref")
_DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "pred": "?"}


def load(
    device: Launcher,
    source: str | Path,
    variables: Mapping[str, int] | None,
    lazy: bool,
    legal: bool = False,
) -> "PtxModule":
    """See :meth:`lockstep.Device.load_ptx`."""
    name = "<ptx>"
    if isinstance(source, Path) or "\n" not in source:
        name = str(source)
        try:
            text = Path(source).read_text()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not a text file"
            raise InputError(source, "", f"cannot read: {reason}") from error
    else:
        text = source
    tree = read(text, name)
    key = hashlib.sha256(text.encode()).hexdigest()
    if not lazy:
        check(tree, key, device.gpu.shared.most_cta_bytes)
    elif legal:
        check_legal(tree, key)
    return PtxModule(device, tree, text, variables)


_TARGET = re.compile(r"sm_(\d+)")


class PtxModule(Module):
    """A loaded PTX module; its variables are in device memory.

    ``variables``: addresses of those that exist already, in another form of the same module. They
    keep their content, but for tables of functions, whose addresses are other ones here.
    """

    def __init__(
        self,
        device: Launcher,
        tree: syntax.Module,
        text: str,
        variables: Mapping[str, int] | None = None,
    ):
        super().__init__(device, tree.name, text.encode())
        self.tree = tree
        self._bound: dict[str, Texture | Sampler] = {}
        known = variables or {}
        ours = [v for v in tree.variables.values() if v.space in ("global", "const")]
        for variable in ours:
            size, alignment = max(variable.bytes, 1), max(variable.alignment, 256)
            self.addresses[variable.name] = known.get(variable.name) or device.memory.allocate(
                size, alignment
            )
        for variable in ours:
            if variable.name not in known or self._names_functions(variable):
                self._initialise(variable)

    @property
    def code(self) -> str:
        """What its code is, for people."""
        return "PTX"

    @property
    def target(self) -> int:
        """As of its base."""
        found = _TARGET.match(self.tree.target[0])
        return int(found[1]) if found else 0

    @property
    def entries(self) -> list[str]:
        """Names of its kernels."""
        return list(self.tree.entries)

    def _names_functions(self, variable: syntax.Variable) -> bool:
        symbols = (v for v in variable.initial if isinstance(v, syntax.Symbol))
        return any(symbol.name not in self.addresses for symbol in symbols)

    def _initialise(self, variable: syntax.Variable) -> None:
        content = bytearray()
        size = syntax.type_bytes(variable.type)
        for value in () if variable.type in _REFERENCES else variable.initial:
            if isinstance(value, syntax.Symbol):
                number = (self._address(value.name) + value.offset) & (value.mask or -1)
                number >>= max(value.mask.bit_length() - 8, 0)
            else:
                number = _pattern(value, variable.type)
            content += (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        memory = self.device.memory.view(self.addresses[variable.name], max(variable.bytes, 1))
        memory[:] = 0
        memory[: len(content)] = np.frombuffer(bytes(content), np.uint8)

    def _address(self, name: str) -> int:
        """The address of a variable, or what programs take for that of a function."""
        if name in self.addresses:
            return self.addresses[name]
        return function_address(self.tree, name)

    def kernel_at(self, address: int) -> Kernel | None:
        """The kernel of an address that ``mov`` gives."""
        name = function_at(list(self.tree.functions), address)
        return self[name] if name in self.tree.entries else None

    def kernel(self, name: str) -> "PtxKernel":
        """A new kernel object for an entry."""
        return PtxKernel(self, self.tree.functions[name])

    def variable(self, name: str) -> DeviceArray:
        """A variable as an array of its declared type; :class:`WorkloadError` of a reference."""
        variable = self.tree.variables[name]
        if variable.type in _REFERENCES:
            raise WorkloadError(f"{name} is a reference: bind a texture to it")
        dtype = _DTYPES.get(variable.type) or variable.type.replace("b", "u").replace("s", "i")
        dtype = dtype if variable.type in _DTYPES else dtype[0] + str(int(dtype[1:]) // 8)
        shape = variable.shape or (1,)
        shape = shape if variable.vector == 1 else (*shape, variable.vector)
        return DeviceArray(self.device, self.addresses[name], shape, dtype, owner=self)

    def bind(self, name: str, texture: Texture | Sampler) -> None:
        """Give a reference of the module the texture or sampler that kernels shall see there.

        Raises :class:`WorkloadError` if the module has no reference of that name.
        """
        variable = self.tree.variables.get(name)
        if variable is None or variable.type not in _REFERENCES:
            raise WorkloadError(f"{self.name} has no texture or surface reference {name}")
        self._bound[name] = texture  # lives as long as the reference
        address = self.addresses[name]
        handle = np.array([texture.handle], np.int64)
        DeviceArray(self.device, address, (1,), np.int64, owner=self).copy_from(handle)


class PtxKernel(Kernel):
    """A kernel of a PTX module."""

    module: PtxModule

    def __init__(self, module: PtxModule, function: syntax.Function):
        super().__init__(module, function.name, parameters_of(function))
        self.function = function

    def translate(self, recording: Recording) -> Program:
        """The kernel as machine code of this host."""
        return translate(self.module.tree, self.name, self.module.key, recording)

    @property
    def most_threads(self) -> int:
        """In the largest block that its directives allow."""
        directives = self.function.directives
        sizes = directives.get("maxntid") or directives.get("reqntid") or (MOST_THREADS,)
        return math.prod(sizes)

    def check_block(self, block: tuple[int, int, int]) -> None:
        """Refuse blocks that its directives exclude."""
        check_directives(self.function, block)

    @property
    def counts_clusters(self) -> bool:
        """Whether the grid of a launch is one of clusters."""
        return "blocksareclusters" in self.function.directives

    @property
    def required_cluster(self) -> Triple | None:
        """The clusters that it was compiled for, if it says so."""
        return required_cluster(self.function.directives)

    def cluster(self, asked: Triple | None) -> Triple | None:
        """What its directives require or allow."""
        return cluster_of(self.name, self.function.directives, asked)

    def block(self, parameters: bytes, geometry: Geometry) -> np.ndarray:
        """The parameters alone: geometry is in special registers."""
        return np.frombuffer(parameters + bytes(PADDING), np.uint8).copy()


def parameters_of(function: syntax.Function) -> list[Parameter]:
    """The parameters that a function declares, at their offsets in the block."""
    parameters, end = [], 0
    for variable in function.parameters:
        alignment = variable.alignment or variable.element_bytes
        start = -(-end // alignment) * alignment
        end = start + variable.bytes
        parameters.append(Parameter(variable.type, start, variable.bytes, variable.shape))
    return parameters


def _pattern(value: syntax.Immediate, kind: str) -> int:
    """The bits of an initialiser; decimal floating-point ones are doubles."""
    if value.bits == 64 and kind == "f32":
        return int(np.uint64(value.value).view(np.float64).astype(np.float32).view(np.uint32))
    return value.value
