"""What a proxy is: launches and copies of a program, over models of its kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from lockstep import notebook
from lockstep.errors import InputError, WorkloadError, unknown
from lockstep.frontend.proxy import container, tables
from lockstep.frontend.proxy.model import METHODS, KernelModel, Launched, kind_of
from lockstep.frontend.proxy.records import Command, ProxyAllocation, ProxyCopy, ProxyLaunch
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.workload import Kernel, MemoryCopy, Workload

LEVELS = ("plain", "hidden", "blurred")
"""How much of the program a proxy tells, most first."""
MOST_SCALE = 1024
L2_BYTES = 1 << 20
"""The L2 that a smaller workload is made for, if nobody says; see :meth:`Proxy.workload`."""


@dataclass
class Proxy:
    """The memory behaviour of a program: commands over models of kernels and allocations."""

    name: str
    method: str
    models: Sequence[KernelModel]
    commands: Sequence[Command]
    allocations: Sequence[ProxyAllocation]
    level: str = LEVELS[0]
    gpu: str = ""  # name of the GPU that the program was recorded on, if that is known
    facts: dict = field(default_factory=dict)  # more that a method tells: JSON

    def _repr_html_(self) -> str:
        """What notebooks show."""
        values = {
            "method": self.method,
            "level": self.level,
            "launches": len(self.launches),
            "models": len(self.models),
            "numbers": self.numbers,
            "recorded on": self.gpu or None,
        }
        return notebook.facts(f"Proxy of {self.name}", values)

    @property
    def launches(self) -> list[ProxyLaunch]:
        """The launches, in order."""
        return [c for c in self.commands if isinstance(c, ProxyLaunch)]

    @property
    def numbers(self) -> int:
        """How many numbers its models consist of."""
        return sum(model.numbers() for model in self.models)

    def workload(
        self, scale: Fraction | float | str = 1, seed: int = 0, l2_bytes: int = L2_BYTES
    ) -> Workload:
        """A workload that accesses memory alike; CTAs are made when they are read.

        ``scale``: the share of accesses that it has, more than 0 and at most 1, such as "1/8"; up
        to MOST_SCALE where all models can grow. The same ``seed`` gives the same. ``l2_bytes``: the
        L2 that a smaller workload is for. Launches over more memory than that found nothing there
        of those before them; a part of each would, and so each takes another part. Raises
        :class:`WorkloadError` for a wrong scale.
        """
        share = _share(scale, MOST_SCALE if all(model.grows for model in self.models) else 1)
        if not 0 <= seed < 1 << 63:
            raise WorkloadError(f"seed {seed}; expected 0 to {(1 << 63) - 1}")
        commands: list[Kernel | MemoryCopy] = []
        number, turns = 0, [0] * len(self.allocations)
        for command in self.commands:
            if isinstance(command, ProxyCopy):
                base = self.allocations[command.allocation].base
                commands.append(MemoryCopy(base + command.offset, command.bytes))
                continue
            turn = self._turn(command, turns, l2_bytes)
            options = {"scale": share, "seed": seed, "turn": turn}
            commands.append(self._kernel(command, self.launched(command, number, **options)))
            number += 1
        return Workload(self.name, commands, gpu=self.gpu)

    def launched(self, launch: ProxyLaunch, number: int = 0, **options: Any) -> Launched:
        """What the model of a launch is to be told; ``options``: of :class:`Launched`."""
        bases = np.array([self.allocations[a].base for a in launch.allocations], np.int64)
        return Launched(launch.grid, launch.block, launch.warp_size, bases, number, **options)

    def _turn(self, launch: ProxyLaunch, turns: list[int], l2_bytes: int) -> int:
        """How often launches took turns before this one at an allocation that it knows; ``turns``
        has that of each, and is changed."""
        known = launch.allocations
        if sum(self.allocations[a].bytes for a in known) <= l2_bytes:
            return 0
        turn = max((turns[a] for a in known), default=0)
        for allocation in known:
            turns[allocation] = turn + 1
        return turn

    def _kernel(self, launch: ProxyLaunch, given: Launched) -> Kernel:
        grid, code, ctas = self.models[launch.model].generate(given)
        return Kernel(
            given.number + 1,
            launch.name,
            grid,
            launch.block,
            launch.registers,
            launch.shared_bytes,
            code,
            ctas,
            stream=launch.stream,
            architecture=launch.architecture,
            shared_base=launch.shared_base,
            local_base=launch.local_base,
            cluster=launch.cluster if grid == launch.grid else (1, 1, 1),
            warp_size=launch.warp_size,
            scalar_registers=launch.scalar_registers,
        )

    def save(self, path: str | Path) -> None:
        """Write it to a file. Raises :class:`~lockstep.errors.LockstepError` if that cannot be."""
        columns, names = tables.encode(self.commands, self.allocations)
        document = {
            "method": self.method,
            "level": self.level,
            "name": self.name,
            "gpu": self.gpu,
            "facts": self.facts,
            "kernels": names,
            "models": [{"method": m.method, "facts": m.facts()} for m in self.models],
        }
        container.write(path, document, [columns, *(m.columns() for m in self.models)])

    @staticmethod
    def load(path: str | Path) -> "Proxy":
        """Read a file. Raises :class:`~lockstep.errors.InputError` if it is damaged."""
        document, groups = container.read(path)
        try:
            return _decode(document, groups)
        except Malformed as problem:
            raise InputError(path, f"byte {container.HEAD.size}", str(problem)) from None


def _decode(document: Mapping[str, Any], groups: Sequence[Mapping[str, np.ndarray]]) -> Proxy:
    texts = {name: _of(document, name, str) for name in ("method", "level", "name", "gpu")}
    for what, name, known in (("method", "method", METHODS), ("level", "level", LEVELS)):
        if texts[name] not in known:
            raise Malformed(f"header: {unknown(what + ' of proxies', texts[name], known)}")
    names, described = _of(document, "kernels", list), _of(document, "models", list)
    if not all(isinstance(name, str) for name in names):
        raise Malformed("header: expected names of kernels")
    if len(groups) != 1 + len(described):
        raise Malformed(f"header: {len(groups)} groups of columns; expected {1 + len(described)}")
    commands, allocations = tables.decode(groups[0], names)
    models = []
    for n, (entry, columns) in enumerate(zip(described, groups[1:])):
        models.append(_model(n, entry, columns))
    facts = _of(document, "facts", dict)
    proxy = Proxy(texts["name"], texts["method"], models, commands, allocations, facts=facts)
    proxy.level, proxy.gpu = texts["level"], texts["gpu"]
    _check(proxy)
    return proxy


def _model(number: int, entry: Any, columns: Mapping[str, np.ndarray]) -> KernelModel:
    if not isinstance(entry, dict):
        raise Malformed(f"header: expected model {number} as an object")
    method, facts = _of(entry, "method", str), _of(entry, "facts", dict)
    if method not in METHODS:
        raise Malformed(f"header: {unknown('method of proxies', method, METHODS)}")
    try:
        return kind_of(method).of(facts, columns)
    except Malformed as problem:
        raise Malformed(f"model {number}: {problem}") from None


def _of(document: Mapping[str, Any], name: str, kind: type) -> Any:
    value = document.get(name)
    if not isinstance(value, kind):
        raise Malformed(f"header: expected {name!r} as {kind.__name__}")
    return value


def _check(proxy: Proxy) -> None:
    """Raise :class:`Malformed` unless every launch can be generated."""
    for number, launch in enumerate(proxy.launches):
        if launch.model >= len(proxy.models):
            raise Malformed(f"launch {number}: model {launch.model} of {len(proxy.models)}")
        model = proxy.models[launch.model]
        if model.allocations != len(launch.allocations):
            known = f"{len(launch.allocations)} allocations; expected {model.allocations}"
            raise Malformed(f"launch {number}: {known}")
        try:
            model.check(proxy.launched(launch, number))
        except Malformed as problem:
            raise Malformed(f"launch {number}: {problem}") from None


def _share(scale: Fraction | float | str, most: int) -> Fraction:
    try:
        share = Fraction(scale)
    except (ValueError, ZeroDivisionError, OverflowError):
        share = Fraction(0)
    if not 0 < share <= most:
        raise WorkloadError(f"scale {scale}; expected more than 0 and at most {most}, such as 1/8")
    return share
